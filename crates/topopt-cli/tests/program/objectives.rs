//! `topopt run` for other problems than the least compliance of a volume.

use crate::verify::assert_near;
use crate::{CASE, Folder};

/// Keys of runs that come close to an optimum.
const LONG: [&str; 4] = [
    "design.keep_loaded=free",
    "filter.kind=density",
    "optimizer.max_iterations=150",
    "solver.tolerance=1e-8",
];

/// [`CASE`] without a limit of the volume.
pub fn unlimited() -> Folder {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace("volume_fraction = 0.3", ""));
    folder
}

fn last(folder: &Folder, column: &str) -> f64 {
    *folder.history(column).last().unwrap()
}

#[test]
fn the_least_volume_for_a_compliance_is_that_with_this_compliance() {
    let folder = Folder::new();
    folder.run_well(&LONG);
    let compliance = last(&folder, "compliance");

    let folder = unlimited();
    let limit = format!("constraints=[{{response=\"compliance\",at_most={compliance}}}]");
    let finished =
        folder.run_well(&[&LONG[..], &["objective={minimize=\"volume\"}", &limit]].concat());
    let volume = last(&folder, "volume_fraction");
    assert!((volume / 0.3 - 1.0).abs() < 5e-3, "{volume}");
    assert!(finished.out.contains(" allowed"), "{}", finished.out);
    assert_near(&folder.summary()["objective"]["value"], volume);
    assert_eq!(folder.summary()["constraints"][0]["met"], true);
    assert!(last(&folder, "kkt_residual") < 0.02);
}

#[test]
fn a_volume_as_a_constraint_is_the_volume_fraction() {
    let plain = Folder::new();
    plain.run_well(&[]);
    let folder = unlimited();
    folder.run_well(&["constraints=[{response=\"volume\",at_most=0.3}]"]);
    for column in ["compliance", "volume_fraction", "change", "kkt_residual"] {
        assert_eq!(folder.history(column), plain.history(column));
    }
    let columns =
        |folder: &Folder| folder.read("out/history.csv").lines().next().map(str::to_owned);
    assert_eq!(columns(&folder), columns(&plain));
}

/// Two displacements, one along a direction and one of a p-norm, in two load cases.
pub const LIMITS: &str = r#"
[objective]
minimize = "mass"

[[constraints]]
response = "displacement"
set = "load"
direction = [0, -2, 0]
case = "default"
at_most = 150

[[constraints]]
response = "displacement"
set = "load"
at_most = 170

[[constraints]]
response = "volume"
set = "design"
at_least = 0.05

[[loads]]
set = "load"
force = [0, 0, 1]
case = "aside"
"#;

#[test]
fn the_least_mass_keeps_limits_of_displacements() {
    let folder = unlimited();
    folder.write("case.toml", &format!("{}{LIMITS}", folder.read("case.toml")));
    let finished = folder.run_well(&[&LONG[..], &["material.mass_density=2"]].concat());
    let columns = [
        "displacement_of_load_in_default",
        "largest_displacement_of_load_in_default",
        "largest_displacement_of_load_in_aside",
        "volume_of_design",
    ];
    let [mean, down, aside, volume] = columns.map(|column| last(&folder, column));
    assert!(mean < 150.15 && down < 170.17 && aside < 170.17, "{mean} {down} {aside}");
    // Some limit is used up.
    assert!(mean > 149.8 || down > 169.8 || aside > 169.8, "{mean} {down} {aside}");
    assert!((volume - last(&folder, "volume_fraction")).abs() < 1e-9);
    let size: f64 = 250.0;
    assert!((last(&folder, "objective") - 2.0 * size * volume).abs() < 1e-6);
    assert!(finished.out.contains("mass "), "{}", finished.out);
}

/// A worst case is better than the sum where the sum prefers one load case.
#[test]
fn a_worst_case_makes_the_load_cases_alike() {
    let folder = Folder::new();
    let loads = "loads=[{set=\"load\",force=[0, -1, 0]},\
                 {set=\"load\",force=[0, 0, 1.2],case=\"aside\"}]";
    let worst = "objective={minimize=\"compliance\",worst_case=true}";
    let keys = [&LONG[..], &[loads, worst]].concat();
    let finished = folder.run_well(&keys);
    assert!(finished.out.contains("worst of compliance in default, compliance in aside"));
    let found = last(&folder, "objective");
    let whole = last(&folder, "compliance");
    assert!((found / (0.5 * whole) - 1.0).abs() < 1e-3, "{found} of {whole}");

    // Limits that bind nothing show the load cases of the least sum.
    let sum = Folder::new();
    let shown = "constraints=[{response=\"compliance\",case=\"default\",at_most=1e9},\
                 {response=\"compliance\",case=\"aside\",at_most=1e9}]";
    sum.run_well(&[&LONG[..], &[loads, shown]].concat());
    let cases = ["compliance_in_default", "compliance_in_aside"].map(|case| last(&sum, case));
    assert!(cases[0].max(cases[1]) > 1.02 * found, "{cases:?} {found}");
}

/// With multipliers, asymptotes, an adjoint state and a worst case: the same bits.
#[test]
fn a_resumed_run_goes_on_to_the_same_bits() {
    let worst =
        LIMITS.replace("minimize = \"mass\"", "minimize = \"compliance\"\nworst_case = true");
    let of_limits = ["objective", "kkt_residual", "largest_displacement_of_load_in_aside"];
    for tables in [LIMITS, &worst] {
        let run = |folder: &Folder, iterations: &str, args: &[&str]| {
            folder.write("case.toml", &format!("{}{tables}", unlimited().read("case.toml")));
            let keys = ["material.mass_density=1", "output.checkpoint_every=1", iterations];
            let finished = folder.run(&keys, args);
            assert_eq!(finished.status, 0, "{}", finished.err);
        };

        let (whole, folder) = (Folder::new(), Folder::new());
        run(&whole, "optimizer.max_iterations=6", &[]);
        run(&folder, "optimizer.max_iterations=3", &[]);
        run(&folder, "optimizer.max_iterations=6", &["--resume"]);
        for column in of_limits {
            assert_eq!(folder.history(column), whole.history(column), "{column}");
        }
    }
}

#[test]
fn a_limit_that_is_not_kept_is_said() {
    let folder = unlimited();
    // What the full part keeps, and three iterations from less material do not come to.
    let limit = "constraints=[{response=\"compliance\",at_most=295}]";
    let finished = folder.run(&["objective={minimize=\"volume\"}", limit], &[]);
    assert_eq!(finished.status, 0, "{}", finished.err);
    assert!(finished.out.contains("warning: compliance "), "{}", finished.out);
    assert!(finished.out.contains(", limit violated (at most 295): "), "{}", finished.out);
    assert_eq!(folder.summary()["constraints"][0]["met"], false);
}

#[test]
fn the_kkt_residual_ends_a_run() {
    let folder = Folder::new();
    folder.run_well(&[&LONG[..], &["optimizer.kkt_tolerance=0.03"]].concat());
    assert_eq!(folder.summary()["stopped_by"], "kkt_tolerance");
    let residuals = folder.history("kkt_residual");
    let (end, before) = residuals.split_last().unwrap();
    assert!(*end < 0.03 && before.iter().all(|residual| *residual >= 0.03), "{residuals:?}");
}
