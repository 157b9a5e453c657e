//! Results are in the user's numbering, though the mesh is renumbered for the computation.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use topopt_cli::args::Cli;
use topopt_cli::commands::execute;
use topopt_fem::Material;
use topopt_fem::stiffness::element_stiffness;
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_tests::text;

/// Size of the mesh, in elements.
const ELEMENTS: usize = 1500;

/// On the generator's own mesh each strain energy follows from the density and the displacements
/// of its element: W_e = rho_e^3 u_e^T K_e u_e / 2. Any other numbering of a field breaks that.
#[test]
fn fields_belong_to_the_elements_and_nodes_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    run_michell(folder.path());
    let file = folder.path().join("design.vtu");
    let (density, energy) = (array(&file, "density"), array(&file, "strain_energy"));
    let displacement = array(&file, "displacement");
    let mesh = Benchmark::Michell.generate(Resolution::Elements(ELEMENTS)).unwrap();
    let material = Material::new(1.0, 0.3).unwrap();
    let largest = energy.iter().copied().fold(0.0, f64::max);
    for (e, hex) in mesh.hexes().iter().enumerate() {
        let ke = element_stiffness(&mesh.element_coordinates(e), &material);
        let u = |i: usize| displacement[3 * hex[i / 3] as usize + i % 3];
        let row = |i: usize| u(i) * (0..24).map(|j| ke[i][j] * u(j)).sum::<f64>();
        let expected = 0.5 * density[e].powi(3) * (0..24).map(row).sum::<f64>();
        assert!((energy[e] - expected).abs() < 1e-10 * largest, "{e}: {} | {expected}", energy[e]);
    }
    assert!(largest > 0.0 && energy.len() == mesh.n_elements());
}

/// Three iterations of the case in `benchmarks/`, on a small mesh.
fn run_michell(folder: &Path) {
    let case = text("benchmarks/michell.toml");
    let case = case.replacen("size = 1", &format!("elements = {ELEMENTS}"), 1);
    let path = folder.join("michell.toml");
    std::fs::write(&path, case).unwrap();
    let settings = [
        "optimizer.max_iterations=3",
        "solver.tolerance=1e-11",
        "solver.device=cpu",
        "output.compression=none",
    ];
    let mut arguments = vec!["topopt", "run", path.to_str().unwrap(), "--output"];
    arguments.push(folder.to_str().unwrap());
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    let cli = Cli::try_parse_from(arguments).unwrap();
    execute(&cli.command, &mut Vec::new(), &AtomicBool::new(false)).unwrap();
}

/// The values of an array of 64-bit numbers in a VTU file without compression: in the appended
/// section at the array's offset, their length in bytes and then they.
fn array(file: &Path, name: &str) -> Vec<f64> {
    let bytes = std::fs::read(file).unwrap();
    let mark = b"encoding=\"raw\">\n_";
    let start = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
    let header = std::str::from_utf8(&bytes[..start]).unwrap();
    let tag = header.split('<').find(|tag| tag.contains(&format!("Name=\"{name}\""))).unwrap();
    let offset = tag.split("offset=\"").nth(1).unwrap().split('"').next().unwrap();
    let data = &bytes[start + offset.parse::<usize>().unwrap()..];
    let (length, values) = data.split_first_chunk().unwrap();
    let values = &values[..u64::from_le_bytes(*length) as usize];
    values.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value)).collect()
}
