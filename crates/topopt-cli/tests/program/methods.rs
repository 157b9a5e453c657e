//! `topopt run` by other methods than optimality criteria.

use crate::Folder;
use crate::continuation::PROJECTED;

/// Compliance and volume fraction of the last of 60 iterations with the density filter.
fn last(method: &str) -> [f64; 2] {
    let folder = Folder::new();
    let method = format!("optimizer.method={method}");
    let keys = [
        "filter.kind=density",
        "optimizer.max_iterations=150",
        "solver.tolerance=1e-8",
        "design.keep_loaded=free",
    ];
    folder.run_well(&[&keys[..], &[&method]].concat());
    ["compliance", "volume_fraction"].map(|column| *folder.history(column).last().unwrap())
}

/// On this small cantilever MMA comes to the design of optimality criteria, GCMMA, whose steps are
/// shorter, and SiMPL, whose steps are longer, to other local optima.
#[test]
fn every_method_meets_the_volume_and_lowers_the_compliance() {
    let [least, _] = last("oc");
    for (method, most) in [("oc_anderson", 1.05), ("mma", 1.01), ("gcmma", 1.3), ("simpl", 1.3)] {
        let [compliance, volume] = last(method);
        // Convex approximations of a linear volume leave some of it until designs settle.
        assert!((0.297..0.3 + 1e-6).contains(&volume), "{method}: {volume}");
        assert!(compliance < most * least, "{method}: {compliance} for {least}");
    }
}

/// Except for the first designs, which meet the volume little by little.
#[test]
fn the_compliance_falls_in_every_iteration_of_gcmma() {
    let folder = Folder::new();
    folder.run_well(&[
        "optimizer.method=gcmma",
        "filter.kind=density",
        "optimizer.max_iterations=25",
        "optimizer.move_limit=1.0",
        "solver.tolerance=1e-8",
    ]);
    let (compliance, volume) = (folder.history("compliance"), folder.history("volume_fraction"));
    let at_limit =
        |k: &usize| (volume[*k] - 0.3).abs() < 1e-3 && (volume[k - 1] - 0.3).abs() < 1e-3;
    for k in (1..compliance.len()).filter(at_limit) {
        assert!(compliance[k] < 1.002 * compliance[k - 1], "{k}: {compliance:?}");
    }
}

/// A trial that is taken costs its solve and no other: the next one starts from its states.
#[test]
fn the_compliance_falls_in_every_iteration_of_simpl() {
    let folder = Folder::new();
    folder.run_well(&[
        "optimizer.method=simpl",
        "filter.kind=density",
        "optimizer.max_iterations=25",
        "solver.tolerance=1e-8",
    ]);
    let compliance = folder.history("compliance");
    assert!(compliance.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-6)), "{compliance:?}");
    let sum = |column: &str| folder.history(column)[1..].iter().sum::<f64>();
    assert!(sum("pcg_seconds") < 0.5 * sum("update_seconds"));
}

#[test]
fn stages_change_what_a_method_works_on() {
    for method in ["oc_anderson", "mma", "gcmma", "simpl"] {
        let folder = Folder::new();
        folder.run_well(&[PROJECTED, &[&format!("optimizer.method={method}")]].concat());
        assert_eq!(folder.history("stage"), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
        let grey = folder.history("grey_level");
        assert!(grey[2] < 0.9 * grey[1], "{method}: {grey:?}");
    }
}

#[test]
fn filtered_sensitivities_are_no_gradients_for_some_methods() {
    for method in ["gcmma", "simpl"] {
        let folder = Folder::new();
        let finished = folder.run(&[&format!("optimizer.method={method}")], &[]);
        assert_eq!(finished.status, 1);
        let words = [method, "filtered sensitivities are none", "set `filter.kind` to \"density\""];
        assert!(words.iter().all(|words| finished.err.contains(words)), "{}", finished.err);
        assert_eq!(folder.files(), ["case.toml"]);
    }
}
