//! `topopt verify`: every load case by itself, and the forces on the part.

use serde_json::{Value, json};

use crate::support_loads::{BAR, folder};
use crate::verify::{assert_near, numbers, write_design};
use crate::{CASE, Folder, program};

/// A folder with the results of a bar of 10 x 5 x 5 under `conditions`, E = 20 and density 0.5,
/// without lateral contraction. All densities are 0.3, so that a verification makes it solid.
fn bar(conditions: &str) -> Folder {
    let folder = folder(conditions);
    folder.run_well(&[&BAR[..], &["design.volume_fraction=0.3"]].concat());
    folder
}

/// The applied force of load case `case` of `found`, and the reactions to it by kind, set and
/// force; all of it must add up to zero.
fn assert_balance(
    found: &Value,
    case: usize,
    applied: [f64; 3],
    reactions: &[(&str, &str, [f64; 3])],
) {
    let case = &found["load_cases"][case];
    let forces = [&applied].into_iter().chain(reactions.iter().map(|(_, _, force)| force));
    let size = forces.flatten().fold(0.0, |size: f64, f| size.max(f.abs()));
    let assert_force = |found: &Value, expected: [f64; 3]| {
        for (i, expected) in expected.into_iter().enumerate() {
            let off = (found[i].as_f64().unwrap() - expected).abs();
            assert!(off < 1e-7 * size, "{found} {expected}");
        }
    };

    assert_force(&case["applied"], applied);
    assert_force(&case["sum"], [0.0; 3]);
    let rows = case["reactions"].as_array().unwrap();
    assert_eq!(rows.len(), reactions.len(), "{rows:?}");
    for (row, (kind, set, force)) in rows.iter().zip(reactions) {
        assert_eq!((&row["kind"], &row["set"]), (&json!(kind), &json!(set)));
        assert_force(&row["force"], *force);
    }
}

const PULLED: &str = "[[supports]]\nset = \"wall\"\n\
    [[loads]]\nset = \"end\"\ntraction = [2, 0, 0]\ncase = \"pull\"\n";

const PUSHED: &str = "[[loads]]\nset = \"end\"\ntraction = [-4, 0, 0]\ncase = \"push\"\n\
    [[load_cases]]\nname = \"push\"\nweight = 0.5\n";

/// C = t^2 A L / E, u = t L / E, and the stress t, for t = 2 and -4.
#[test]
fn two_load_cases_have_their_own_numbers() {
    let folder = bar(&format!("{PULLED}{PUSHED}"));
    let found = numbers(&folder, &[]);
    assert_near(&found["compliance"]["verified"], 50.0 + 0.5 * 200.0);
    assert_near(&found["mass"], 0.5 * 250.0);

    let expected = [("pull", 1.0, 50.0, 1.0, 2.0), ("push", 0.5, 200.0, 2.0, 4.0)];
    for (case, (name, weight, compliance, elongation, stress)) in expected.into_iter().enumerate() {
        let case = &found["load_cases"][case];
        assert_eq!((&case["name"], &case["weight"]), (&json!(name), &json!(weight)));
        assert_near(&case["compliance"], compliance);
        assert_near(&case["largest_displacement"]["value"], elongation);
        assert_eq!(case["largest_displacement"]["at"][0], 10.0);
        for key in ["percentile_95", "percentile_99", "maximum"] {
            assert_near(&case["von_mises"][key], stress);
        }
    }
    assert_eq!(found["largest_displacement"], found["load_cases"][1]["largest_displacement"]);
    assert_eq!(found["von_mises"]["load_case"], "push");
    assert_balance(&found, 0, [50.0, 0.0, 0.0], &[("support", "wall", [-50.0, 0.0, 0.0])]);
    assert_balance(&found, 1, [-100.0, 0.0, 0.0], &[("support", "wall", [100.0, 0.0, 0.0])]);
}

#[test]
fn numbers_of_a_single_load_case_are_printed_once() {
    let lines_with = |conditions: &str, word: &str| {
        let folder = bar(conditions);
        let out = program(&folder.path("")).args(["verify", "out"]).output().unwrap().stdout;
        let out = String::from_utf8(out).unwrap();
        let is_here = |line: &&str| line.trim_start().starts_with(word);
        out.lines().filter(is_here).map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    for word in ["compliance ", "largest displacement ", "von Mises stress "] {
        assert_eq!(lines_with(PULLED, word).len(), 1, "{word}");
    }
    assert_eq!(lines_with(PULLED, "support wall "), ["support wall         (-50, 0, 0)"]);

    let both = format!("{PULLED}{PUSHED}");
    let compliances = lines_with(&both, "compliance ");
    assert_eq!(
        compliances[1..],
        ["compliance           50, weight 1", "compliance           200, weight 0.5"]
    );
    assert_eq!(lines_with(&both, "load case "), ["load case pull", "load case push"]);
}

/// The six forces of (0, -1, 0) on a design of solid and void.
#[test]
fn the_support_of_a_cantilever_carries_all_loads() {
    let folder = Folder::new();
    folder.run_well(&["optimizer.max_iterations=20", "solver.tolerance=1e-10"]);
    let found = numbers(&folder, &[]);
    assert_eq!(found["notes"], json!([]));
    assert_eq!(found.get("mass"), None);
    assert_balance(&found, 0, [0.0, -6.0, 0.0], &[("support", "fixed", [0.0, 6.0, 0.0])]);
}

/// Forces on the 36 nodes of the support itself, beside those on the part, which is solid.
#[test]
fn forces_on_a_support_go_straight_into_it() {
    let folder = Folder::new();
    let direct = "\n[[loads]]\nset = \"fixed\"\nforce = [0, 0, -0.5]\n";
    folder.write("case.toml", &format!("{CASE}{direct}"));
    folder.run_well(&["solver.tolerance=1e-10"]);
    let found = numbers(&folder, &["--threshold", "0.005"]);
    assert_balance(&found, 0, [0.0, -6.0, -18.0], &[("support", "fixed", [0.0, 6.0, 18.0])]);
}

/// The bar is as stiff as the springs at its end: E A / L = 2 A, so that each carries one half.
#[test]
fn a_support_and_springs_share_a_load() {
    let springs = "[[springs]]\nset = \"end\"\nstiffness_per_area = [2, 0, 0]\n\
        [[springs]]\nset = \"wall\"\nstiffness = [1e6, 1e6, 1e6]\n";
    let found = numbers(&bar(&format!("{PULLED}{springs}")), &[]);
    let reactions = [
        ("support", "wall", [-25.0, 0.0, 0.0]),
        ("springs", "end", [-25.0, 0.0, 0.0]),
        // Where the support holds, springs carry nothing.
        ("springs", "wall", [0.0; 3]),
    ];
    assert_balance(&found, 0, [50.0, 0.0, 0.0], &reactions);
}

#[test]
fn components_that_two_supports_hold_belong_to_the_first() {
    let first = "[[supports]]\nset = \"wall\"\nfix = [\"x\"]\n";
    let shear = "[[loads]]\nset = \"end\"\ntraction = [0, 1, 0]\ncase = \"pull\"\n";
    let found = numbers(&bar(&format!("{first}{PULLED}{shear}")), &[]);
    let reactions =
        [("support", "wall", [-50.0, 0.0, 0.0]), ("support", "wall", [0.0, -25.0, 0.0])];
    assert_balance(&found, 0, [50.0, 25.0, 0.0], &reactions);
}

/// Weight 0.5 x 0.6 per volume, of all of the bar and of one row of its elements.
#[test]
fn the_support_carries_the_weight_of_the_built_part() {
    let folder = bar("[[supports]]\nset = \"wall\"\n[[loads]]\ngravity = [0.6, 0, 0]\n");
    let found = numbers(&folder, &[]);
    assert_balance(&found, 0, [75.0, 0.0, 0.0], &[("support", "wall", [-75.0, 0.0, 0.0])]);
    assert_near(&found["mass"], 125.0);

    // Two of the five layers, and what the void has of density; elements weigh by what is filled.
    write_design(&folder, |x| x[1] < 2.0);
    let found = numbers(&folder, &[]);
    let (mass, volume) = (found["mass"].as_f64().unwrap(), 100.0 + 0.001 * 150.0);
    assert!((mass / (0.5 * volume) - 1.0).abs() < 1e-5, "{mass}");
    let reaction = found["load_cases"][0]["reactions"][0]["force"][0].as_f64().unwrap();
    assert!((reaction / (-0.3 * volume) - 1.0).abs() < 1e-5, "{reaction}");
}

/// One half of the bar has the mass density 0.5, the other 2.
#[test]
fn materials_weigh_by_their_own_densities() {
    let conditions = "[[select]]\nname = \"heavy\"\nkind = \"elements\"\n\
        box = { min = [0, 0, 0], max = [5, 5, 5] }\n\
        [[materials]]\nset = \"heavy\"\nyoungs_modulus = 20\nmass_density = 2\n\
        [[supports]]\nset = \"wall\"\n[[loads]]\ngravity = [0, 0, -0.6]\n";
    let found = numbers(&bar(conditions), &[]);
    assert_near(&found["mass"], 0.5 * 125.0 + 2.0 * 125.0);
    assert_balance(&found, 0, [0.0, 0.0, -187.5], &[("support", "wall", [0.0, 0.0, 187.5])]);

    let massless = conditions.replace("mass_density = 2\n", "");
    let massless = massless.replace("gravity = [0, 0, -0.6]", "set = \"end\"\nforce = [0, 0, 1]");
    assert_eq!(numbers(&bar(&massless), &[]).get("mass"), None);
}

/// E A d / L = 20 moves the end.
#[test]
fn a_displaced_support_has_a_reaction() {
    let moved = "[[supports]]\nset = \"wall\"\n\
        [[supports]]\nset = \"end\"\ndisplacement = [0.4, 0, 0]\n";
    let found = numbers(&bar(moved), &[]);
    let reactions = [("support", "wall", [-20.0, 0.0, 0.0]), ("support", "end", [20.0, 0.0, 0.0])];
    assert_balance(&found, 0, [0.0; 3], &reactions);
    // Less twice the strain energy.
    assert_near(&found["load_cases"][0]["compliance"], -20.0 * 0.4);
    assert_near(&found["compliance"]["verified"], -20.0 * 0.4);
}
