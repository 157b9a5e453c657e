//! `topopt run` with the density filter, the projection, and settings that change on the way.

use serde_json::json;

use crate::Folder;

/// Keys of a run in which everything changes once, by a method that meets the volume in every design.
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

/// The sharpness grows at iteration 21, the next stage is not reached, and the design is still grey.
#[test]
fn a_crisp_run_goes_by_stages_and_says_how_grey_it_is() {
    let folder = Folder::new();
    let set = ["design.style=crisp", "optimizer.max_iterations=22"];
    let out = folder.run_well(&set).out;
    let stages = folder.history("stage");
    assert_eq!((stages.len(), stages[19], stages[20]), (22, 0.0, 1.0));
    let summary = folder.summary();
    let stays = "and the projection stays at sharpness 2 where 64 is planned";
    let late = format!(
        "the stages from iteration 33 on are never reached: `optimizer.max_iterations` is 22, \
         {stays}; raise it to more than 81, or let the stages begin earlier"
    );
    let cut = format!(
        "the run ended before its stage of iteration 33, {stays}; raise \
         `optimizer.max_iterations` and go on with `--resume`"
    );
    assert_eq!((&summary["warnings"][0], &summary["warnings"][2]), (&json!(late), &json!(cut)));
    let settings = &summary["settings"];
    assert_eq!((&settings["style"], &settings["density_min"]), (&json!("crisp"), &json!(0.001)));
    let grey = out.lines().find(|line| line.starts_with("grey level ")).unwrap();
    assert!(grey.ends_with(": run `topopt verify` to see by how much"), "{out}");
    assert_eq!(summary["warnings"][1], grey);
    assert_eq!(out.lines().last().unwrap(), format!("warning: {cut}"));
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
