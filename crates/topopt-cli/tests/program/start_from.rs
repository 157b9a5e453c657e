//! `topopt run --start-from`: a run that begins with the design of another mesh.

use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_mesh::HexMesh;
use topopt_mesh::generate::{Benchmark, Resolution};

use crate::meshes::{FROM_FILE, GENERATED, write};
use crate::{CASE, Folder};

const PLAIN: &str = "output.compression=none";

/// Writes the cantilever of length 2, which the generator makes longer with more elements.
fn write_cantilever(folder: &Folder, elements: usize) -> HexMesh {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(elements)).unwrap();
    let length = mesh.bounding_box().extent()[0];
    let coordinates = mesh.coordinates().iter().map(|x| x.map(|v| 2.0 * v / length)).collect();
    let mesh = HexMesh::new(coordinates, mesh.hexes().into(), mesh.sets().clone()).unwrap();
    write(&folder.path("part.msh"), &mesh);
    mesh
}

/// A folder with the results of 20 iterations on a coarse mesh in `coarse`, and the case of a fine
/// one.
fn coarse_run() -> Folder {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE));
    write_cantilever(&folder, 500);
    folder.run_well(&["optimizer.max_iterations=20", PLAIN]);
    std::fs::rename(folder.path("out"), folder.path("coarse")).unwrap();
    folder
}

/// The fraction of the volume is met on the fine mesh, the start is stiffer, and the run shorter.
#[test]
fn a_fine_mesh_starts_from_a_coarse_design() {
    let folder = coarse_run();
    write_cantilever(&folder, 2000);

    let set = ["optimizer.max_iterations=60", "optimizer.compliance_tolerance=1e-3"];
    folder.run_well(&set);
    let uniform = folder.history("compliance");

    let finished = folder.run(&set, &["--start-from", "coarse"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""));
    let out = finished.out;
    let note = "started from the density in coarse/design.vtu, interpolated";
    assert!(out.contains(note), "{out}");
    assert_eq!(folder.summary()["started_from"], "coarse/design.vtu");
    assert_eq!(folder.summary()["stopped_by"], "compliance_tolerance");

    let started = folder.history("compliance");
    assert!(started[0] < 0.7 * uniform[0], "{} {}", started[0], uniform[0]);
    assert!(started.len() < uniform.len(), "{} {}", started.len(), uniform.len());
    let [last, uniform] = [&started, &uniform].map(|c| *c.last().unwrap());
    assert!(last < 1.01 * uniform, "{last} {uniform}");

    for volume in folder.history("volume_fraction") {
        assert!((volume - 0.3).abs() < 1e-9, "{volume}");
    }
}

/// On the same mesh and at the same volume nothing changes: the coarse run goes on.
#[test]
fn on_the_same_mesh_the_design_is_kept() {
    let folder = coarse_run();
    let before = folder.array("coarse/design.vtu", "density");
    let set = ["optimizer.max_iterations=1", PLAIN];
    assert_eq!(folder.run(&set, &["--start-from", "coarse/design.vtu"]).err, "");
    let after = folder.array("out/design.vtu", "density");
    let difference = before.iter().zip(&after).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(difference < 1e-12, "{difference:e}");
}

/// With a projection the volume is that of the projected density, from the first design on; passive
/// elements keep their values; a checkpoint knows where the run began.
#[test]
fn projection_passive_elements_and_checkpoints() {
    let folder = coarse_run();
    write_cantilever(&folder, 1000);
    let case = folder.read("case.toml")
        + "[projection]\nsharpness = 4.0\n\n[[select]]\nname = \"hole\"\nkind = \"elements\"\n\
           sphere = { center = [1, 0.5, 0.5], radius = 0.3 }\n";
    folder.write("case.toml", &case);

    let set = [
        "optimizer.method=oc", // meets the volume in every design
        "filter.kind=density",
        "design.void=[\"hole\"]",
        "output.checkpoint_every=1",
        PLAIN,
    ];
    let run = |iterations: &str, args: &[&str]| {
        let finished = folder.run(&[&set[..], &[iterations]].concat(), args);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    };

    run("optimizer.max_iterations=2", &["--start-from", "coarse"]);
    run("optimizer.max_iterations=3", &["--resume"]);
    assert_eq!(folder.summary()["started_from"], "coarse/design.vtu");
    for volume in folder.history("volume_fraction") {
        assert!((volume - 0.3).abs() < 1e-9, "{volume}");
    }

    let void = folder.summary()["void_elements"].as_u64().unwrap() as usize;
    let density = folder.array("out/design.vtu", "density");
    assert!(void > 10 && density.iter().filter(|&&rho| rho == 0.01).count() >= void);
}

/// The stages of a crisp design begin at the limit of the volume, in the resumed run too.
#[test]
fn a_crisp_run_that_began_with_a_design_resumes_with_its_case() {
    let folder = coarse_run();
    let set = ["design.style=crisp", "output.checkpoint_every=1", PLAIN];
    let run = |iterations: &str, args: &[&str]| {
        let finished = folder.run(&[&set[..], &[iterations]].concat(), args);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    };

    run("optimizer.max_iterations=4", &["--start-from", "coarse"]);
    let whole = folder.history("compliance");
    std::fs::remove_dir_all(folder.path("out")).unwrap();
    run("optimizer.max_iterations=2", &["--start-from", "coarse"]);
    run("optimizer.max_iterations=4", &["--resume"]);
    assert_eq!(folder.history("compliance"), whole);
    assert!((folder.history("volume_fraction")[0] - 0.3).abs() < 1e-4);
}

#[test]
fn another_part_no_result_and_resume_are_refused() {
    let folder = coarse_run();
    let refused = |args: &[&str]| {
        let finished = folder.run(&[], args);
        assert_eq!((finished.status, finished.out.as_str()), (1, ""));
        assert!(!folder.path("out").exists());
        finished.err
    };

    insta::assert_snapshot!(refused(&["--start-from", "none"]), @r"
    x none is not a results folder: there is no such folder
    help: give the folder that `topopt run` prints at the end
    ");

    let err = refused(&["--start-from", "coarse", "--resume"]);
    assert!(err.contains("'--start-from <RESULT>' cannot be used with '--resume'"), "{err}");

    folder.write("case.toml", CASE);
    insta::assert_snapshot!(refused(&["--start-from", "coarse"]), @"
    x the design in coarse/design.vtu belongs to another part: 99.2 % of the volume of the case lies
    | more than an element's width outside of that part, and 0.0 % of that part outside of the case
    | that part: x = 0.0000 to 2.0000, y = 0.0000 to 1.0000, z = 0.0000 to 1.0000
    | the case: x = 0.0000 to 10.0000, y = 0.0000 to 5.0000, z = 0.0000 to 5.0000
    help: give a result of the same part, in the same place and unit of length
    ");

    std::fs::copy(folder.path("part.msh"), folder.path("part.vtu")).unwrap();
    let err = refused(&["--start-from", "part.vtu"]);
    assert!(err.contains("part.vtu: not a VTK XML file"), "{err}");
}

/// A block in the air, beside a beam that carries the load, is left out at the end; its material
/// goes to the elements of the beam that are not full.
#[test]
fn a_crisp_design_leaves_its_islands_out() {
    let folder = Folder::new();
    let generated = Benchmark::Cantilever.generate(Resolution::Elements(2000)).unwrap();
    let mesh = &generated;
    let density = |corners: &[u32]| {
        let sum = |axis: usize| -> f64 {
            corners.iter().map(|&n| mesh.coordinates()[n as usize][axis]).sum()
        };
        let [x, y, z] = [0, 1, 2].map(|axis| sum(axis) / corners.len() as f64);
        match () {
            () if y < 3.0 => 0.95,
            () if y > 7.0 && x < 4.0 && (z - 5.0).abs() < 2.0 && x > 1.0 => 1.0,
            () => 0.0,
        }
    };
    let densities: Vec<f64> = mesh.elements().map(density).collect();
    let is_island = |density: &f64| *density == 1.0;
    let n_island = densities.iter().filter(|density| is_island(density)).count();
    let array = Array { name: "density", components: 1, values: Values::F64(&densities) };
    let path = folder.path("start.vtu");
    vtu::write(&path, mesh.coordinates(), mesh.hexes(), &[], &[array], Compression::None).unwrap();

    let set = [
        "mesh.elements=2000",
        "design.style=crisp",
        "design.keep_loaded=free",
        "projection={ sharpness = 64 }",
        "filter.radius_in_elements=0.5",
        "optimizer.max_iterations=1",
        PLAIN,
    ];
    let finished = folder.run(&set, &["--start-from", "start.vtu"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""));
    assert!(finished.out.contains("note: 1 piece that carries nothing is left out"));
    let islands = &folder.summary()["islands"];
    assert_eq!(islands["pieces"], 1);
    assert!(islands["dropped"].as_f64().unwrap() > 0.9 * n_island as f64 / 600.0);
    let written = folder.array("out/design.vtu", "density");
    let island = densities.iter().zip(&written).filter(|(start, _)| is_island(start));
    assert!(n_island == 36 && island.map(|(_, found)| *found).all(|found| found < 2e-3));
    let before = folder.history("compliance")[0];
    assert!(folder.summary()["compliance"].as_f64().unwrap() <= before * 1.001);
}
