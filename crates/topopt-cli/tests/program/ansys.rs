//! A sector of a rotor from Ansys, without names: selections by place, a pressure, a held bore.

use std::path::Path;

use serde_json::Value;

use crate::{Folder, topopt};

/// Volume, force and compliance of the first design by an independent program with a direct solver.
#[test]
fn a_rotor_sector_with_a_pressure_and_a_fixed_bore() {
    let folder = Folder::new();
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/rotor_sector.toml");
    let case = case.display().to_string();
    let (status, out, err) = topopt(&folder.path(""), &["check", &case, "--json"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let check: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&check["solid_elements"], &check["held_nodes"]), (&36.into(), &66.into()));
    let number = |value: &Value| value.as_f64().unwrap();
    let volume = number(&check["design_volume"]);
    assert!((volume / 1.6272601252013255 - 1.0).abs() < 1e-12, "{volume}");
    let force = number(&check["loads"][0]["sum_of_forces"][2]);
    assert!((force / -0.529455123708983 - 1.0).abs() < 1e-10, "{force}");
    let args = ["run", &case, "--output", "out", "--set", "solver.tolerance=1e-10"];
    let args = [&args[..], &["--set", "optimizer.max_iterations=12"]].concat();
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let compliance = folder.history("compliance");
    assert!((compliance[0] / 0.0073205503914013205 - 1.0).abs() < 1e-8, "{compliance:?}");
    assert!(compliance.is_sorted_by(|a, b| a > b), "{compliance:?}");
    assert!(compliance.last().unwrap() < &(0.5 * compliance[0]), "{compliance:?}");
}
