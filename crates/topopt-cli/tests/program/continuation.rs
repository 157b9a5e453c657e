//! `topopt run` with the density filter, the projection, and settings that change on the way.

use serde_json::json;

use crate::Folder;

/// Keys of a run in which everything changes once, by a method that meets the volume in every
/// design.
pub const PROJECTED: &[&str] = &[
    "optimizer.method=oc",
    "filter.kind=density",
    "projection={ sharpness = 2 }",
    "optimizer.max_iterations=6",
    "solver.tolerance=1e-10",
    "continuation=[{ from = 3, sharpness = 8, penalty = 2 }, \
     { from = 5, filter_radius_in_elements = 2, tolerance = 1e-3 }]",
];

#[test]
fn history_and_summary_show_the_stages() {
    let folder = Folder::new();
    folder.run_well(&[PROJECTED, &["output.compression=none", "design.keep_loaded=free"]].concat());
    assert_eq!(folder.history("stage"), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
    let is_loose: Vec<bool> = folder.history("pcg_residual").iter().map(|&r| r > 1e-9).collect();
    assert_eq!(is_loose, [false, false, false, false, true, true]);
    for volume in folder.history("volume_fraction") {
        assert!((volume - 0.3).abs() < 1e-9, "{volume}");
    }
    let grey = folder.history("grey_level");
    assert!(grey[2] < 0.8 * grey[1], "sharper from the third design on: {grey:?}");
    let summary = folder.summary();
    assert_eq!(summary["grey_level"].as_f64(), Some(grey[5]));
    let settings = &summary["settings"];
    assert_eq!(settings["projection"], json!({ "sharpness": 2.0, "threshold": 0.5 }));
    assert_eq!(settings["continuation"][1]["filter_radius_in_elements"], 2.0);
    let density = folder.array("out/design.vtu", "density");
    let mean = density.iter().sum::<f64>() / density.len() as f64;
    assert!((mean - 0.3).abs() < 1e-9, "what is written is what has the volume: {mean}");
}

/// A surface that becomes narrow from iteration 3 on, and is made final from 5 on, of a design that
/// loses material before.
pub const NARROWING: [&str; 2] = [
    "projection={ sharpness = 1 }",
    "continuation=[{ from = 1, excess = { start = 1.5, end = 1, over = 2 } }, \
     { from = 3, penalty = 2, half_width = { start = 3, end = 1, over = 2 }, method = \"mma\" }, \
     { from = 5, half_width = 0.5, method = \"oc_adaptive\", move_limit = 0.03 }]",
];

/// Material falls to its limit, then the surface narrows; the last stage is not reached.
#[test]
fn a_crisp_run_goes_by_stages_and_says_what_it_did_not_come_to() {
    let folder = Folder::new();
    folder.run_well(&["design.style=crisp", "optimizer.max_iterations=27"]);
    let (stages, volumes) = (folder.history("stage"), folder.history("volume_fraction"));
    assert_eq!((stages.len(), stages[0], stages[24], stages[25]), (27, 1.0, 1.0, 2.0));
    assert!(volumes[0] > 0.9 && volumes[..22].is_sorted_by(|a, b| a > b), "{volumes:?}");
    assert!((volumes[22] - 0.3).abs() < 1e-9 && (volumes[24] - 0.3).abs() < 1e-9, "{volumes:?}");

    let summary = folder.summary();
    let late = "the stages from iteration 51 on are never reached: `optimizer.max_iterations` is 27; \
                raise it to more than 51, or let the stages begin earlier";
    let cut = "the run ended before its stage of iteration 51; raise `optimizer.max_iterations` and \
               go on with `--resume`";
    let warnings = summary["warnings"].as_array().unwrap();
    assert!(warnings.contains(&json!(late)) && warnings.contains(&json!(cut)), "{warnings:?}");
    let settings = &summary["settings"];
    assert_eq!((&settings["style"], &settings["density_min"]), (&json!("crisp"), &json!(0.001)));
}

/// The last stage is reached, and its surface would still become narrower.
#[test]
fn a_crisp_run_says_that_it_ended_within_its_last_stage() {
    let folder = Folder::new();
    folder.run_well(&["design.style=crisp", "optimizer.max_iterations=55"]);
    let cut = "the run ended within its stage of iterations 51 to 59; raise \
               `optimizer.max_iterations` and go on with `--resume`";
    let summary = folder.summary();
    assert!(summary["warnings"].as_array().unwrap().contains(&json!(cut)), "{summary}");
}

/// Nearly no grey is left after 60 iterations, and volume and compliance are those of a good
/// design: within 1 % of the sharpness that doubles over 120 iterations.
#[test]
fn a_crisp_design_is_nearly_solid_or_empty_everywhere() {
    let folder = Folder::new();
    let finer = "mesh.elements=2000";
    folder.run_well(&[finer, "design.style=crisp", "optimizer.max_iterations=60"]);
    let last = |column| *folder.history(column).last().unwrap();
    assert_eq!(last("iteration"), 60.0);
    assert!(last("grey_level") < 0.05, "{}", last("grey_level"));
    assert!((last("volume_fraction") - 0.3).abs() < 1e-4, "{}", last("volume_fraction"));

    let doubling = Folder::new();
    let method = ["optimizer.method=mma", "optimizer.max_iterations=120"];
    doubling.run_well(&[finer, "design.style=crisp", method[0], method[1]]);
    let slow = *doubling.history("compliance").last().unwrap();
    assert!(last("compliance") < 1.01 * slow, "{} and {slow}", last("compliance"));
}

#[test]
fn a_run_with_little_grey_says_the_level_alone() {
    let folder = Folder::new();
    let sharp = "projection={ sharpness = 64 }";
    let set = ["design.style=crisp", sharp, "optimizer.max_iterations=40"];
    let out = folder.run_well(&set).out;
    let grey = folder.history("grey_level")[39];
    assert!(grey < 0.1, "{grey}");
    assert!(out.ends_with(&format!("\ngrey level {:.1} %\n", 100.0 * grey)), "{out}");
}

#[test]
fn a_stage_that_never_begins_is_noted() {
    let folder = Folder::new();
    folder.run_well(&["continuation=[{ from = 9, penalty = 4 }]"]);
    let late = "the stages from iteration 9 on are never reached: `optimizer.max_iterations` is 3; \
                raise it to more than 9, or let the stages begin earlier";
    assert_eq!(folder.summary()["warnings"][0], late);
}
