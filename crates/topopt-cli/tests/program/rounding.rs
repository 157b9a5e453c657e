//! Solves that rounding stops before the tolerance of an analysis.

use serde_json::Value;
use topopt_mesh::HexMesh;
use topopt_testing::{kuhn, mapped_box};

use crate::heat::part;
use crate::solve::numbers;
use crate::{Folder, meshes, topopt};

/// Length of the bars.
const LENGTH: f64 = 200.0;

/// Steel that is held at its end and bent by a force of 10 at the other one.
const BENT: &str = r#"[mesh]
file = "bar.msh"
[[select]]
name = "wall"
kind = "nodes"
plane = { point = [0, 0, 0], normal = [1, 0, 0] }
[[select]]
name = "end"
kind = "faces"
plane = { point = [200, 0, 0], normal = [1, 0, 0] }
[[supports]]
set = "wall"
[[loads]]
set = "end"
total_force = [0, 0, 10]
[material]
youngs_modulus = 210000
poissons_ratio = 0.3
[solver]
device = "cpu"
"#;

/// The compliance of a bar with a section of 1 x 1 by Timoshenko.
const COMPLIANCE: f64 = 100.0 * (4.0 * LENGTH * LENGTH * LENGTH + 2.4 * 1.3 * LENGTH) / 210_000.0;

/// A bar with a section of 1 x 1 in tetrahedra.
fn tetrahedra() -> Folder {
    bar(&kuhn([150, 1, 1], |[x, y, z]| [LENGTH * x, y, z], false))
}

fn bar(mesh: &HexMesh) -> Folder {
    let folder = Folder::new();
    meshes::write(&folder.path("bar.msh"), mesh);
    folder.write("case.toml", BENT);
    folder
}

/// The sentence on a solve that rounding has stopped in `found`.
fn sentence(found: &Value) -> String {
    let residual = found["pcg_residual"].as_f64().unwrap();
    assert!(residual > 1e-8 && residual <= 1e-6, "{residual:e}");
    let number = format!("{residual:.1e}");
    format!("olved to a relative residual of {number}: rounding allows no less on this mesh")
}

/// Solves `case` to the folder `again`; exit status, output and messages.
fn again(folder: &Folder, case: &str, set: &[&str]) -> (i32, String, String) {
    topopt(&folder.path(""), &[&["solve", case, "-o", "again"], set].concat())
}

#[test]
fn slender_parts_are_solved_as_well_as_rounding_allows() {
    let hexahedra = bar(&mapped_box([300, 1, 1], |[x, y, z]| [LENGTH * x, y, z]));
    for folder in [tetrahedra(), hexahedra] {
        let found = numbers(&folder, &[]);
        let sentence = sentence(&found);
        assert_eq!(found["rounding"], format!("s{sentence}"));
        assert!(folder.read("solved/analysis.html").contains(&format!("S{sentence}.")));
        let case = &found["load_cases"][0];
        let share = case["compliance"].as_f64().unwrap() / COMPLIANCE;
        assert!((share - 1.0).abs() < 2e-3, "{share}");
        assert!(case["sum"].as_array().unwrap().iter().all(|f| f.as_f64().unwrap().abs() < 1e-7));

        // The case that is written repeats the analysis.
        let (status, out, err) = again(&folder, "solved/case.toml", &[]);
        assert_eq!((status, err.as_str()), (0, ""));
        assert!(out.contains(&format!("  note: s{sentence}\n")), "{out}");
    }
}

#[test]
fn a_tolerance_that_is_asked_for_is_kept() {
    let folder = tetrahedra();
    let (status, out, err) = again(&folder, "case.toml", &["--set", "solver.tolerance=1e-8"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("rounding stopped the solver after "), "{err}");
    let remedy = "help: loosen `solver.tolerance`: rounding allows no less on this mesh";
    assert!(err.contains(remedy), "{err}");

    let (status, out, err) = again(&folder, "case.toml", &["--set", "solver.tolerance=1e-6"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(!out.contains("rounding"), "{out}");
}

/// A block that a film hardly cools, in a steady state and in time: its temperatures are far larger
/// than they differ.
#[test]
fn heat_is_solved_as_well_as_rounding_allows() {
    let folder = part(
        [8, 4, 4],
        |[x, y, z]| [8.0 * x, 4.0 * y, 4.0 * z],
        "[[convection]]\nset = \"low\"\nfilm_coefficient = 1e-8\n\
        [[loads]]\nset = \"high\"\nheat_flux = 1\n\
        [material]\nconductivity = 3\nmass_density = 2\nheat_capacity = 1\n",
    );
    let in_time = "transient={end=1e12,steps=[[1e12,2.5e11]]}";
    for set in [&[][..], &["--set", in_time]] {
        let found = numbers(&folder, &[set, &["--overwrite"]].concat());
        assert_eq!(found["rounding"], format!("s{}", sentence(&found)));
        let tight = [set, &["--set", "solver.tolerance=1e-8"]].concat();
        let (status, _, err) = again(&folder, "case.toml", &tight);
        assert_eq!(status, 2);
        assert!(err.contains("rounding stopped the solver after "), "{err}");
        assert!(err.contains("help: loosen `solver.tolerance`"), "{err}");
    }
}
