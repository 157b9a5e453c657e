//! Warnings about a case and a design: given by every command that starts work, and at its end.

use serde_json::Value;

use crate::objectives::unlimited;
use crate::{CASE, Folder, topopt};

fn warnings(folder: &Folder) -> Vec<String> {
    let summary = folder.summary();
    let texts = summary["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

#[test]
fn a_load_on_void_and_a_narrow_filter_are_said_by_run_check_and_solve() {
    let folder = Folder::new();
    let near = "{set=\"load\",distance=3.0}";
    let tip = format!("select=[{{name=\"tip\",kind=\"elements\",near={near}}}]");
    let keys = [tip.as_str(), "design.void=[\"tip\"]", "filter.radius_in_elements=0.5"];
    let set: Vec<&str> = keys.iter().flat_map(|key| ["--set", key]).collect();
    let said = folder.run_well(&keys).out;
    let (_, checked, _) = topopt(folder.0.path(), &[&["check", "case.toml"], &set[..]].concat());
    let solve = ["solve", "case.toml", "-o", "solved"];
    let (_, solved, _) = topopt(folder.0.path(), &[&solve, &set[..]].concat());
    for out in [&said, &checked, &solved] {
        assert!(out.contains("warning: load case `default` acts on void elements"), "{out}");
    }
    for out in [&said, &checked] {
        assert!(
            out.contains("warning: the filter radius 0.5 is not larger than an element"),
            "{out}"
        );
    }
    let of_void =
        warnings(&folder).iter().filter(|text| text.contains("acts on void elements")).count();
    assert_eq!(of_void, 1, "{:?}", warnings(&folder));
}

const LIMIT: &str = "constraints=[{response=\"displacement\",set=\"load\",at_most=";

#[test]
fn a_limit_that_the_full_part_misses_is_said_before_and_after_the_run() {
    let folder = unlimited();
    let limit = format!("{LIMIT}1.0}}]");
    let out = folder.run_well(&["objective={minimize=\"volume\"}", &limit]).out;
    let before = "warning: even the full part does not keep the limit largest displacement of load \
                  at most 1: it has ";
    assert!(out.find(before).unwrap() < out.find("iteration ").unwrap(), "{out}");
    assert!(out.contains("limit violated (at most 1): even the full part has "), "{out}");
    let full = folder.summary()["constraints"][0]["full_part"].as_f64().unwrap();
    assert!(full > 1.0 && warnings(&folder).len() >= 2, "{:?}", warnings(&folder));

    // One that it keeps is not spoken of, and leaves no trace in the run.
    let limit = format!("{LIMIT}1e6}}]");
    folder.run_well(&[&limit, "design.volume_fraction=0.3", "optimizer.method=mma"]);
    assert_eq!(folder.summary()["constraints"][1]["full_part"], Value::Null);
    let compliance = folder.history("compliance");
    let plain = Folder::new();
    plain.run_well(&["optimizer.method=mma", "filter.kind=density"]);
    assert_eq!(compliance[0], plain.history("compliance")[0]);
}

#[test]
fn a_compliance_that_no_design_has_is_refused_before_anything_is_written() {
    let folder = unlimited();
    let limit = "constraints=[{response=\"compliance\",at_most=1.0}]";
    for more in [&[][..], &["--ranks", "2"]] {
        let finished = folder.run(&["objective={minimize=\"volume\"}", limit], more);
        assert_eq!(finished.status, 1, "{}", finished.err);
        let message = "no design keeps this limit: even the full part has a compliance of ";
        assert!(finished.err.contains(message), "{}", finished.err);
        assert_eq!(finished.err.matches(message).count(), 1, "{}", finished.err);
        assert!(!folder.path("out/history.csv").exists());
    }
}

#[test]
fn what_supports_hold_is_no_objective_and_a_limit_of_it_is_said() {
    let folder = Folder::new();
    let held = "objective={minimize=\"displacement\",set=\"fixed\"}";
    for command in ["check", "run"] {
        let (status, _, err) = topopt(folder.0.path(), &[command, "case.toml", "--set", held]);
        assert_eq!(status, 1);
        let message =
            "the largest displacement of fixed is that of [[supports]]: no design changes it";
        assert!(err.contains(message), "{err}");
    }
    let limit =
        "constraints=[{response=\"displacement\",set=\"fixed\",direction=[0,0,1],at_most=0}]";
    let keys = [limit, "optimizer.method=gcmma", "optimizer.max_iterations=25"];
    let out = folder.run_well(&keys).out;
    let warning =
        "warning: the displacement of fixed is that of [[supports]]: its limit has no effect";
    assert!(out.contains(warning), "{out}");
    // A limit that is met with equality and has no gradient stops nothing.
    let compliance = folder.history("compliance");
    assert!(compliance.len() > 10 && compliance.last().unwrap() < &(0.5 * compliance[0]));
}

#[test]
fn a_weight_that_squares_cannot_hold_changes_no_design() {
    let designs = ["1.0", "1e200", "1e-200"].map(|weight| {
        let folder = Folder::new();
        let weight = format!("load_cases=[{{name=\"default\",weight={weight}}}]");
        folder.run_well(&[&weight, "optimizer.max_iterations=12"]);
        assert_eq!(folder.history("change").len(), 12);
        assert!(folder.history("kkt_residual").iter().all(|residual| *residual > 0.0));
        folder.array("out/design.vtu", "density")
    });
    for design in &designs[1..] {
        let differences = design.iter().zip(&designs[0]).map(|(a, b)| (a - b).abs());
        assert!(differences.fold(0.0, f64::max) < 1e-9);
    }
}

/// [`CASE`] under its own weight.
fn with_weight() -> Folder {
    let folder = Folder::new();
    let load = "set = \"load\"\nforce = [0, -1, 0]";
    let case = CASE.replace(load, "gravity = [0, -10, 0]");
    folder.write(
        "case.toml",
        &case.replace("[design]", "[material]\nmass_density = 0.1\n\n[design]"),
    );
    folder
}

#[test]
fn material_with_weight_has_a_law_and_a_method_that_suit_it() {
    let folder = with_weight();
    folder.run_well(&["optimizer.max_iterations=60", "optimizer.compliance_tolerance=1e-4"]);
    let settings = &folder.summary()["settings"];
    assert_eq!(settings["interpolation"], "ramp");
    assert_eq!(
        (&settings["optimizer"]["method"], &settings["filter"]["kind"]),
        (&"mma".into(), &"density".into())
    );
    assert_eq!(warnings(&folder).iter().filter(|text| text.contains("weight here")).count(), 0);
    let found = *folder.history("compliance").last().unwrap();

    let simp = ["optimizer.method=oc", "design.interpolation=simp", "filter.kind=sensitivity"];
    let out = folder.run_well(&[&simp[..], &["optimizer.max_iterations=60"]].concat()).out;
    assert!(out.contains("optimality criteria take it that more of it never does harm"), "{out}");
    assert!(out.contains("warning: designs swing to and fro between two: the "), "{out}");
    assert!(*folder.history("compliance").last().unwrap() > 5.0 * found);
}

#[test]
fn a_penalty_is_meant_for_simp() {
    let folder = with_weight();
    folder.run_well(&["design.penalty=3"]);
    assert_eq!(folder.summary()["settings"]["interpolation"], "simp");
}

#[test]
fn grey_material_of_a_least_mass_is_said_to_be_heavy() {
    let folder = unlimited();
    let limit = format!("{LIMIT}1000.0}}]");
    let keys = ["objective={minimize=\"mass\"}", &limit, "material.mass_density=1.0"];
    let out = folder.run_well(&keys).out;
    let text = "%: grey material has all of its weight and little of its stiffness, so the built part will have \
                another mass and stiffness: run `topopt verify` to see by how much, or use \
                `design.style = \"crisp\"`";
    assert!(out.contains(text), "{out}");
    assert!(warnings(&folder).iter().any(|warning| warning.ends_with(text)));
}
