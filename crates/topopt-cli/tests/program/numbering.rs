//! Results are in the user's numbering, though the mesh is renumbered for the computation.

use topopt_fem::Material;
use topopt_fem::stiffness::element_stiffness;
use topopt_mesh::generate::{Benchmark, Resolution};

use super::{CASE, Folder};

/// On the generator's own mesh each strain energy follows from the density and the displacements
/// of its element: W_e = rho_e^3 u_e^T K_e u_e / 2. Any other numbering of a field breaks that.
#[test]
fn fields_belong_to_the_elements_and_nodes_of_the_user() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace("cantilever", "michell"));
    folder.run_well(&[
        "mesh.elements=1500",
        "solver.tolerance=1e-11",
        "output.compression=none",
        "elements.kind=full",
    ]);
    let array = |name| folder.array("out/design.vtu", name);
    let [density, energy, displacement] = ["density", "strain_energy", "displacement"].map(array);
    let mesh = Benchmark::Michell.generate(Resolution::Elements(1500)).unwrap();
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
