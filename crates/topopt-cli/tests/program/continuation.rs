//! `topopt run` with the density filter, the projection, and settings that change on the way.

use serde_json::json;

use crate::Folder;

/// Keys of a run in which everything changes once.
pub const PROJECTED: &[&str] = &[
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
    folder.run_well(&[PROJECTED, &["output.compression=none"]].concat());
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

#[test]
fn a_stage_that_never_begins_is_noted() {
    let folder = Folder::new();
    folder.run_well(&["continuation=[{ from = 9, penalty = 4 }]"]);
    let note =
        "the stage that starts at iteration 9 is never reached: `optimizer.max_iterations` is 3";
    assert_eq!(folder.summary()["notes"], json!([note]));
}
