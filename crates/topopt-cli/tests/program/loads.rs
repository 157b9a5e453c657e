//! Selections, loads on surfaces and void regions through the whole program.

use topopt_mesh::generate::{Benchmark, Resolution};

use crate::{CASE, Folder, difference};

const SELECT: &str = "[[select]]\nname = \"end\"\nkind = \"faces\"\n\
    plane = { point = [10, 0, 0], normal = [1, 0, 0] }\n\
    [[select]]\nname = \"hole\"\nkind = \"elements\"\n\
    cylinder = { point = [5, 2.5, 0], axis = [0, 0, 1], radius = 1.2 }\n\n[[supports]]";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace("[[supports]]", SELECT));
    folder
}

/// A bar that is full of material, pulled at its end: u_x = t x / E.
#[test]
fn a_bar_under_suction() {
    let load = "loads.0={ set = \"end\", pressure = -0.5 }";
    let folder = folder();
    folder.run_well(&[
        load,
        "material.poissons_ratio=0",
        "material.youngs_modulus=20",
        "design.volume_fraction=1",
        "optimizer.max_iterations=1",
        "solver.tolerance=1e-12",
        "output.compression=none",
    ]);
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let expected: Vec<f64> =
        mesh.coordinates().iter().flat_map(|x| [0.5 * x[0] / 20.0, 0.0, 0.0]).collect();
    let found = folder.array("out/design.vtu", "displacement");
    assert!(difference(&found, &expected) < 1e-9, "{}", difference(&found, &expected));
    // Force times displacement at the end.
    let compliance = folder.summary()["compliance"].as_f64().unwrap();
    assert!((compliance / (0.5 * 25.0 * 0.25) - 1.0).abs() < 1e-9, "{compliance}");
}

#[test]
fn void_elements_stay_void_and_the_others_share_the_material() {
    let folder = folder();
    let set = ["design.void=[\"hole\"]", "output.compression=none", "design.keep_loaded=free"];
    folder.run_well(&set);
    let density = folder.array("out/design.vtu", "density");
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let in_hole = |x: &[f64; 3]| (x[0] - 5.0).hypot(x[1] - 2.5) < 1.2;
    let (mut void, mut material) = (0, 0.0);
    for (center, density) in mesh.centers().iter().zip(&density) {
        if in_hole(center) {
            assert_eq!(*density, 0.01);
            void += 1;
        } else {
            material += density;
        }
    }
    assert_eq!((void, folder.summary()["void_elements"].as_u64()), (30, Some(30)));
    assert!((material / 220.0 - 0.3).abs() < 1e-12, "{material}");
    assert!((folder.history("volume_fraction")[2] - 0.3).abs() < 1e-12);
}
