//! Several materials and rotations through the whole program.

use topopt_cuda::{Probe, probe};
use topopt_io::vtk::vtu;
use topopt_mesh::generate::{Benchmark, Resolution};

use crate::support_loads::{BAR, folder, verify_bar};
use crate::verify::{assert_near, numbers, write_design};
use crate::vtk::{array, number, read};
use crate::{difference, topopt};

/// Up to x = 4 [material], beyond it a material of 3.5 times the modulus and twice the mass of the
/// bar.
const SECOND: &str = "[[select]]\nname = \"far\"\nkind = \"elements\"\n\
    box = { min = [4, 0, 0], max = [10, 5, 5] }\n\
    [[materials]]\nset = \"far\"\nyoungs_modulus = 70\nmass_density = 1\n\
    [[supports]]\nset = \"wall\"\n";
const MODULUS: f64 = 20.0;
const JOINT: f64 = 4.0;

const PULLED: &str = "[[loads]]\nset = \"end\"\npressure = -0.5\n";

/// Elongation under the traction 0.5 up to x.
fn pulled(x: f64) -> f64 {
    0.5 * (x.min(JOINT) / MODULUS + (x - JOINT).max(0.0) / 70.0)
}

#[test]
fn a_bar_in_series_by_every_strategy() {
    let folder = folder(&format!("{SECOND}{PULLED}"));
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let expected: Vec<f64> =
        mesh.coordinates().iter().flat_map(|x| [pulled(x[0]), 0.0, 0.0]).collect();
    for strategy in ["mf", "ebe", "nbn"] {
        let strategy = format!("solver.strategy={strategy}");
        folder.run_well(&[&BAR[..], &[strategy.as_str()]].concat());
        let found = folder.array("out/design.vtu", "displacement");
        assert!(difference(&found, &expected) < 1e-10, "{}", difference(&found, &expected));
        let compliance = folder.summary()["compliance"].as_f64().unwrap();
        assert!((compliance / (0.5 * 25.0 * pulled(10.0)) - 1.0).abs() < 1e-10, "{compliance}");
    }
    let materials = &folder.summary()["materials"];
    assert_eq!((&materials[0]["set"], &materials[0]["elements"]), (&().into(), &100.into()));
    assert_eq!((&materials[1]["set"], &materials[1]["elements"]), (&"far".into(), &150.into()));
}

#[test]
fn a_bar_in_series_is_verified() {
    verify_bar(
        &format!("{SECOND}{PULLED}"),
        (|_| true, 25.0),
        |_| 0.5,
        pulled(10.0),
        0.5 * pulled(10.0),
    );
}

/// The bar turns about z at x = 0, on rails along x.
const ROTATING: &str = "[[supports]]\nset = \"design\"\nfix = [\"y\", \"z\"]\n\
    [[loads]]\nangular_velocity = [0, 0, 0.3]\ncenter = [0, 7, 1]\n";

/// The stress w^2 times the integral of the mass beyond x times its radius.
fn stress(x: f64) -> f64 {
    let half_squares = |a: f64, b: f64| 0.5 * (b * b - a * a);
    let near = half_squares(x.min(JOINT), JOINT);
    let far = half_squares(x.max(JOINT), 10.0);
    0.09 * (0.5 * near + 1.0 * far)
}

/// Integral of the stress from a to b on one side of the joint, by Simpson's rule, which is exact.
fn integral(a: f64, b: f64) -> f64 {
    (b - a) / 6.0 * (stress(a) + 4.0 * stress(0.5 * (a + b)) + stress(b))
}

fn turned(x: f64) -> f64 {
    integral(0.0, x.min(JOINT)) / MODULUS + integral(JOINT, x.max(JOINT)) / 70.0
}

#[test]
fn a_rotating_bar_of_two_materials_is_run_and_verified() {
    let folder = folder(&format!("{SECOND}{ROTATING}"));
    folder.run_well(&BAR);
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let expected: Vec<f64> =
        mesh.coordinates().iter().flat_map(|x| [turned(x[0]), 0.0, 0.0]).collect();
    let found = folder.array("out/design.vtu", "displacement");
    assert!(difference(&found, &expected) < 1e-9, "{}", difference(&found, &expected));

    write_design(&folder, |_| true);
    let found = numbers(&folder, &["--threshold", "0.5"]);
    assert_near(&found["largest_displacement"]["value"], turned(10.0));
    let (file, stresses) =
        vtu::read_with_cell_data(&folder.path("out/verify.vtu"), &["von_mises"]).unwrap();
    // The stress of an element is the mean over its length; the rails take what is across.
    let expected: Vec<f64> =
        file.mesh.centers().iter().map(|x| integral(x[0] - 0.5, x[0] + 0.5)).collect();
    assert!(difference(&stresses[0], &expected) < 1e-9);
}

/// Weight, a rotation, a force at a point, a moment and a bearing on two materials.
const ALL: &str = "[[loads]]\ngravity = [0, 0, -0.02]\n\
    [[loads]]\nset = \"end\"\ntotal_force = [0, 0.1, 0]\nat = [12, 0, 0]\n\
    [[loads]]\nangular_velocity = [0, 0, 0.1]\ncase = \"turn\"\n\
    [[loads]]\nset = \"end\"\nmoment = [0.2, 0, 0]\ncase = \"turn\"\n\
    [[loads]]\nset = \"end\"\nbearing = [-0.3, 0, 0]\ncase = \"turn\"\n";

#[test]
fn check_tells_of_all_and_the_preview_shows_them() {
    let folder = folder(&format!("{SECOND}{ALL}"));
    let args = ["check", "case.toml", "--set", "material.mass_density=0.5", "--preview", "a.vtu"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    for line in [
        "made of          [material]: 100 elements, Young's modulus 1, mass density 0.5",
        "made of          set `far`: 150 elements, Young's modulus 70, mass density 1",
        // 0.4 of the volume has the mass density 0.5, the rest 1.
        "load case        default: 36 nodes, forces add up to (0, 0.1, 0), gravity of (0, 0, \
         -0.016) per volume, weight 1",
        "load case        turn: 36 nodes, forces add up to (-0.3, 0, 0), moments add up to (0.2, 0, 0), \
         rotation at (0, 0, 0.1) about (0, 0, 0), weight 1",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }

    let Some(found) = read(&folder.path("a.vtu")) else { return };
    let points = &found["point_data"];
    let sum = |name: &str| [0, 1, 2].map(|i| number(&array(points, name)["sum"][i]));
    let near = |found: [f64; 3], expected: [f64; 3]| {
        let near = (0..3).all(|i| (found[i] - expected[i]).abs() < 1e-12);
        assert!(near, "{found:?} {expected:?}");
    };
    near(sum("force"), [0.0, 0.1, 0.0]);
    near(sum("force_turn"), [-0.3, 0.0, 0.0]);
    // Mass 50 around x = 2 and mass 150 around x = 7, all around y = 2.5.
    near(sum("body_force"), [0.0, 0.0, -4.0]);
    near(sum("body_force_turn"), [0.01 * (50.0 * 2.0 + 150.0 * 7.0), 0.01 * 200.0 * 2.5, 0.0]);
}

#[test]
fn two_materials_on_a_gpu_give_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = folder(&format!("{SECOND}{ALL}"));
    let set = [
        "material.mass_density=0.5",
        "material.youngs_modulus=20",
        "design.interpolation=ramp",
        "solver.tolerance=1e-11",
        "solver.preconditioner=jacobi",
    ];
    folder.run_well(&set);
    let expected = folder.history("compliance");
    let finished = folder.run(&set, &["--device", "gpu", "--strategy", "mf"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    assert!(difference(&folder.history("compliance"), &expected) < 1e-9);
}
