//! `topopt run`: what a run writes.

use serde_json::json;
use topopt_mesh::Renumbering;

use crate::meshes::{FROM_FILE, GENERATED, distorted, write};
use crate::{CASE, Folder, RESULTS, difference, program};

#[test]
fn results_are_complete() {
    let folder = Folder::new();
    let finished = folder.run_well(&[]);
    assert!(finished.out.contains("\nresults in out\ngrey level "), "{}", finished.out);
    assert_eq!(folder.files(), [&["case.toml"], &RESULTS[..]].concat());
    assert_eq!(folder.history("iteration"), [1.0, 2.0, 3.0]);
    let compliance = folder.history("compliance");
    assert!(compliance.is_sorted_by(|a, b| a > b && *b > 0.0), "{compliance:?}");
    for volume in folder.history("volume_fraction") {
        assert!((volume - 0.3).abs() < 1e-9, "{volume}");
    }
    assert!(folder.history("change").iter().all(|&change| 0.0 < change && change <= 0.2 + 1e-12));
    assert!(folder.history("pcg_residual").iter().all(|&r| 0.0 < r && r <= 1e-5));
    assert!(folder.history("pcg_iterations").iter().all(|&n| n > 5.0));
}

#[test]
fn summary_says_what_the_run_was_and_did() {
    let folder = Folder::new();
    folder.run_well(&["solver.threads=2"]);
    let summary = folder.summary();

    let expected = json!({
        "topopt": env!("CARGO_PKG_VERSION"), "title": "Small", "units": null, "case": "case.toml",
        "status": "done", "stopped_by": "max_iterations", "elements": 250, "nodes": 396,
        "load_cases": ["default"], "element_width": 1.0, "filter_radius": 1.5,
        "device": "cpu (2 threads)", "strategy": "mf",
        "iterations": 3, "solid_elements": 5, "kept_elements": 5,
        "notes": ["5 elements are kept solid at loads and supports: 2 % of the part, besides the \
                   design volume"],
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&summary[key], value, "{key}");
    }

    let last = |column: &str| *folder.history(column).last().unwrap();
    for key in ["compliance", "volume_fraction", "change"] {
        assert_eq!(summary[key].as_f64(), Some(last(key)));
    }

    let sum: f64 = folder.history("pcg_iterations").iter().sum();
    assert_eq!(summary["pcg_iterations"].as_f64(), Some(sum));
    assert_eq!(summary["settings"]["solver"]["tolerance"], 1e-5);
    assert_eq!(summary["strengthened"], 0);

    for (step, seconds) in folder.seconds() {
        assert!(seconds > 0.0, "{step}");
    }
}

/// The default saves iterations and changes the final compliance by less than 1e-5.
#[test]
fn early_solves_are_loose_and_the_final_compliance_is_the_same() {
    let folder = Folder::new();
    let run = |keys: &[&str]| {
        folder.run_well(&[&["mesh.elements=1000", "optimizer.max_iterations=50"], keys].concat());
        let total = folder.summary()["pcg_iterations"].as_u64().unwrap();
        (folder.history("compliance"), folder.history("pcg_residual"), total)
    };

    let (exact, ..) = run(&["solver.tolerance=1e-9", "solver.early_tolerance=1e-9"]);
    let (_, fixed, many) = run(&["solver.early_tolerance=1e-5"]);
    let (found, residuals, few) = run(&[]);

    assert!(fixed.iter().all(|&r| r <= 1e-5), "{fixed:?}");
    assert!(residuals[..2].iter().all(|&r| r <= 1e-5), "{residuals:?}");
    assert!(residuals.iter().filter(|&&r| r > 1e-4).count() > 3, "{residuals:?}");

    let grey = folder.history("grey_level");
    for k in 2..residuals.len() {
        let change = (found[k - 1] / found[k - 2] - 1.0).abs();
        let is_grey = grey[k - 1] > 0.51 * grey[0];
        let most = if is_grey { 1e-5 } else { (0.11 * change).clamp(1e-5, 1e-3) };
        assert!(residuals[k] <= most, "iteration {}", k + 1);
    }

    assert!(10 * few < 9 * many, "{few} iterations, {many} with a fixed tolerance");
    assert!((found[49] / exact[49] - 1.0).abs() < 1e-5, "{found:?} | {exact:?}");
}

#[test]
fn the_helmholtz_filter_blurs_as_the_cone_does() {
    let folder = Folder::new();
    for kind in ["density", "sensitivity"] {
        let [cone, helmholtz] = ["cone", "helmholtz"].map(|weights| {
            let weights = format!("filter.weights={weights}");
            let kind = format!("filter.kind={kind}");
            folder.run_well(&[
                "optimizer.max_iterations=20",
                "mesh.elements=2000",
                "filter.radius_in_elements=2.5",
                &kind,
                &weights,
            ]);
            assert!(folder.history("volume_fraction").iter().all(|v| (v - 0.3).abs() < 1e-9));
            *folder.history("compliance").last().unwrap()
        });
        let ratio = helmholtz / cone;
        assert!((0.9..1.1).contains(&ratio) && ratio != 1.0, "{kind}: {helmholtz}, cone {cone}");
    }
}

#[test]
fn every_preconditioner_gives_the_same_history() {
    let folder = Folder::new();
    let run = |name: &str| {
        let finished = folder.run(&["solver.tolerance=1e-10"], &["--preconditioner", name]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        let preconditioner = folder.summary()["preconditioner"].clone();
        let total = folder.summary()["pcg_iterations"].as_u64().unwrap();
        (preconditioner, total, folder.history("compliance"))
    };

    let (multigrid, few, expected) = run("auto");
    assert_eq!((&multigrid["name"], &multigrid["cycle"]), (&json!("multigrid"), &json!("K")));
    let levels = multigrid["levels"].as_array().unwrap();
    assert_eq!(levels[0], 3 * 396);
    assert!(levels.len() == 2 && levels[1].as_u64().unwrap() % 6 == 0, "{multigrid}");
    let complexity = multigrid["operator_complexity"].as_f64().unwrap();
    assert!(1.0 < complexity && complexity < 1.3, "{complexity}");

    for name in ["jacobi", "block-jacobi"] {
        let (preconditioner, many, found) = run(name);
        let plain =
            json!({ "name": name, "cycle": null, "levels": [], "operator_complexity": null });
        assert_eq!(preconditioner, plain);
        assert!(few < many, "{name}: {few} iterations with multigrid, {many} with {name}");
        assert!(difference(&found, &expected) < 1e-9, "{name}");
    }
}

/// On three levels.
#[test]
fn every_cycle_gives_the_same_history() {
    let folder = Folder::new();
    let run = |cycle: &str| {
        let cycle = format!("solver.cycle={cycle}");
        folder.run_well(&["mesh.elements=9000", "solver.tolerance=1e-9", &cycle]);
        assert_eq!(folder.summary()["preconditioner"]["levels"].as_array().unwrap().len(), 3);
        (folder.summary()["preconditioner"]["cycle"].clone(), folder.history("compliance"))
    };
    let (kind, expected) = run("K");
    assert_eq!(kind, "K");
    for cycle in ["V", "W"] {
        let (kind, found) = run(cycle);
        assert_eq!(kind, cycle);
        assert!(difference(&found, &expected) < 1e-8 && found != expected, "{cycle}");
    }
}

#[test]
fn every_smoother_gives_the_same_history() {
    let folder = Folder::new();
    let run = |smoother: &str| {
        let smoother = format!("solver.smoother={smoother}");
        let given = ["mesh.elements=2000", "solver.tolerance=1e-9", "solver.device=cpu", &smoother];
        folder.run_well(&given);
        folder.history("compliance")
    };
    let (expected, found) = (run("chebyshev"), run("patch"));
    assert!(difference(&found, &expected) < 1e-8 && found != expected);
}

#[test]
fn results_go_to_the_folder_asked_for() {
    let folder = Folder::new();
    let go =
        |args: &[&str]| program(&folder.path("")).args(args).output().unwrap().status.success();
    assert!(go(&["run", "case.toml"]));
    assert!(go(&["run", "case.toml", "--set", "output.directory=by/key"]));
    let both = ["run", "case.toml", "--set", "output.directory=not/here", "-o", "by \"argument\""];
    assert!(go(&both));
    let files = folder.files();
    let histories: Vec<_> = files.iter().filter(|name| name.ends_with("history.csv")).collect();
    assert_eq!(
        histories,
        ["by \"argument\"/history.csv", "by/key/history.csv", "results/case/history.csv"]
    );
}

#[test]
fn keys_are_overridden() {
    let folder = Folder::new();
    let set = [
        "mesh.elements=16",
        "optimizer.max_iterations=2",
        "loads.0.force=[0, 0, 3]",
        "title=Other",
        "output.vti_spacing=0",
    ];
    folder.run_well(&set);
    let summary = folder.summary();
    assert_eq!((&summary["elements"], &summary["title"]), (&json!(16), &json!("Other")));
    assert_eq!(folder.history("iteration"), [1.0, 2.0]);
    assert!(!folder.path("out/design.vti").exists());
}

#[test]
fn snapshots_make_a_series_and_the_next_run_removes_them() {
    let folder = Folder::new();
    folder.run_well(&["optimizer.max_iterations=5", "output.snapshot_every=2"]);
    let series = |folder: &Folder| -> Vec<String> {
        let text = folder.read("out/design.pvd");
        text.lines().filter(|line| line.contains("<DataSet")).map(str::to_owned).collect()
    };
    let entry = |time: &str, file: &str| {
        format!("<DataSet timestep=\"{time}\" part=\"0\" file=\"{file}\"/>")
    };
    assert_eq!(
        series(&folder),
        [
            entry("2.0", "snapshots/design_0002.vtu"),
            entry("4.0", "snapshots/design_0004.vtu"),
            entry("5.0", "design.vtu"),
        ]
    );
    assert!(folder.path("out/snapshots/design_0004.vtu").exists());

    folder.write("out/snapshots/mine.vtu", "precious");
    folder.write("out/notes.txt", "precious");
    folder.run_well(&["output.vti_spacing=0"]);
    assert_eq!(series(&folder), [entry("3.0", "design.vtu")]);
    assert_eq!(
        folder.files(),
        [
            "case.toml",
            "out/case.toml",
            "out/design.pvd",
            "out/design.vtu",
            "out/history.csv",
            "out/notes.txt",
            "out/snapshots/mine.vtu",
            "out/summary.json"
        ]
    );
}

#[test]
fn each_rule_stops_a_run() {
    let rules = [
        ("change_tolerance", "0.9", 1),
        ("compliance_tolerance", "0.9", 2),
        ("absolute_compliance_tolerance", "1e9", 2),
        ("max_iterations", "4", 4),
    ];
    for (rule, value, iterations) in rules {
        let folder = Folder::new();
        folder.run_well(&[&format!("optimizer.{rule}={value}")]);
        let summary = folder.summary();
        assert_eq!(
            (&summary["stopped_by"], &summary["iterations"]),
            (&json!(rule), &json!(iterations))
        );
        assert_eq!(folder.history("iteration").len(), iterations);
    }
}

/// The weighted sum of the compliances of two cases, which on the uniform start are independent.
#[test]
fn load_cases_add_up_with_their_weights() {
    let folder = Folder::new();
    let first_compliance = |loads: &str| {
        let text = CASE.replace("[[loads]]\nset = \"load\"\nforce = [0, -1, 0]\n", loads);
        folder.write("case.toml", &text);
        folder.run_well(&[
            "solver.tolerance=1e-11",
            "optimizer.max_iterations=1",
            "output.compression=none",
        ]);
        folder.history("compliance")[0]
    };

    let load =
        |force, case| format!("[[loads]]\nset = \"load\"\nforce = {force}\ncase = \"{case}\"\n");

    let down = first_compliance(&load("[0, -1, 0]", "down"));
    let side = first_compliance(&load("[0, 0, 1]", "side"));
    let weight = "[[load_cases]]\nname = \"side\"\nweight = 0.25\n";

    let both = load("[0, -1, 0]", "down") + &load("[0, 0, 1]", "side") + weight;
    let sum = first_compliance(&both);
    assert!((sum / (down + 0.25 * side) - 1.0).abs() < 1e-9, "{sum} {down} {side}");
    assert_eq!(folder.summary()["load_cases"], json!(["down", "side"]));

    let largest = |name, axis| {
        let u = folder.array("out/design.vtu", name);
        u.iter().skip(axis).step_by(3).fold(0.0, |m: f64, v| m.max(v.abs()))
    };
    assert!(largest("displacement", 1) > largest("displacement", 2));
    assert!(largest("displacement_side", 2) > largest("displacement_side", 1));
}

/// Designs of one part agree, whatever the order of its nodes and elements.
#[test]
fn results_are_in_the_numbering_of_the_mesh_file() {
    let mesh = distorted();
    let shuffle = Renumbering::shuffled(&mesh, 7);
    let result = |mesh| {
        let folder = Folder::new();
        folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE));
        write(&folder.path("part.msh"), mesh);
        folder.run_well(&["solver.tolerance=1e-12", "output.compression=none"]);
        let array = |name| folder.array("out/design.vtu", name);
        (array("density"), array("displacement"), folder.history("compliance"))
    };
    let (density, displacement, compliance) = result(&mesh);
    let (other_density, other_displacement, other_compliance) = result(&shuffle.apply(&mesh));
    assert!(difference(&shuffle.elements_to_original(&other_density), &density) < 1e-6);
    let nodal = shuffle.nodes_to_original(other_displacement.as_chunks::<3>().0);
    assert!(difference(nodal.as_flattened(), &displacement) < 1e-6);
    assert!(difference(&other_compliance, &compliance) < 1e-9);
    assert!(density.iter().any(|&d| d > 0.5) && density.iter().any(|&d| d < 0.1));
}

#[test]
fn strategies_agree() {
    let mesh = distorted();
    let compliance = |strategy: &str| {
        let folder = Folder::new();
        folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE));
        write(&folder.path("part.msh"), &mesh);
        folder.run_well(&["solver.tolerance=1e-12", &format!("solver.strategy={strategy}")]);
        assert_eq!(folder.summary()["strategy"], strategy);
        folder.history("compliance")
    };
    let mf = compliance("mf");
    for strategy in ["ebe", "nbn", "bsr"] {
        let other = compliance(strategy);
        assert!(difference(&other, &mf) < 1e-9, "{strategy}: {other:?} | {mf:?}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let result = |threads: usize| {
        let folder = Folder::new();
        let threads = format!("solver.threads={threads}");
        folder.run_well(&["mesh.elements=4000", "output.compression=none", &threads]);
        let columns = ["compliance", "volume_fraction", "change", "pcg_iterations", "pcg_residual"];
        (columns.map(|column| folder.history(column)), folder.array("out/design.vtu", "density"))
    };
    assert_eq!(result(1), result(2));
}
