//! Sectors of rotors from Ansys: selections by place, a pressure, a held bore, and wedges.

use std::path::Path;

use serde_json::Value;

use crate::{Folder, topopt};

/// Output of `topopt check` for a case of the project, which finds no fault.
fn check(folder: &Folder, case: &str) -> Value {
    let (status, out, err) = topopt(&folder.path(""), &["check", case, "--json"]);
    assert_eq!((status, err.as_str()), (0, ""));
    serde_json::from_str(&out).unwrap()
}

fn project_case(name: &str) -> String {
    let benchmarks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
    benchmarks.join(name).display().to_string()
}

/// The compliance of every design of a run of so many iterations.
fn compliance(folder: &Folder, case: &str, iterations: usize) -> Vec<f64> {
    let iterations = format!("optimizer.max_iterations={iterations}");
    let args = ["run", case, "--output", "out", "--set", "solver.tolerance=1e-10"];
    let args = [&args[..], &["--set", &iterations]].concat();
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    folder.history("compliance")
}

#[track_caller]
fn assert_near(found: &Value, expected: f64, tolerance: f64) {
    let found = found.as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < tolerance, "{found} {expected}");
}

/// Volume, force and compliance of the first design by an independent program with a direct solver.
#[test]
fn a_rotor_sector_with_a_pressure_and_a_fixed_bore() {
    let (folder, case) = (Folder::new(), project_case("rotor_sector.toml"));
    let check = check(&folder, &case);
    assert_eq!((&check["solid_elements"], &check["held_nodes"]), (&36.into(), &66.into()));
    assert_near(&check["design_volume"], 1.6272601252013255, 1e-12);
    assert_near(&check["loads"][0]["sum_of_forces"][2], -0.529455123708983, 1e-10);
    let compliance = compliance(&folder, &case, 12);
    assert!((compliance[0] / 0.0073205503914013205 - 1.0).abs() < 1e-8, "{compliance:?}");
    assert!(compliance.is_sorted_by(|a, b| a > b), "{compliance:?}");
    assert!(compliance.last().unwrap() < &(0.5 * compliance[0]), "{compliance:?}");
}

/// Volume, force and compliance of a mesh with four wedges, by an assembled matrix over what
/// mapdl-archive reads and linear forces on the triangles of VTK's wedges.
#[test]
fn a_blade_sector_with_wedges() {
    let (folder, case) = (Folder::new(), project_case("blade_sector.toml"));
    let check = check(&folder, &case);
    assert_eq!(check["held_nodes"], 22);
    assert_near(&check["design_volume"], 0.06855882966412952, 1e-12);
    let forces = [0.44399477013180083, -0.26329607270254374, -0.6207032613884149];
    for (i, force) in forces.into_iter().enumerate() {
        assert_near(&check["loads"][0]["sum_of_forces"][i], force, 1e-10);
    }
    let compliance = compliance(&folder, &case, 8);
    let solid = 0.00546889561584058;
    assert!((compliance[0] * 0.3_f64.powi(3) / solid - 1.0).abs() < 1e-8, "{compliance:?}");
    assert!(compliance.is_sorted_by(|a, b| a > b), "{compliance:?}");
    assert!(compliance.last().unwrap() < &(0.7 * compliance[0]), "{compliance:?}");
    let stl = ["export", "out", "--output", "part.stl"];
    let (status, _, err) = topopt(&folder.path(""), &stl);
    assert_eq!((status, err.as_str()), (0, ""));
}
