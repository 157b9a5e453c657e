//! `topopt solve`: a part solved once, without optimization.

use clap::Parser;
use serde_json::{Value, json};
use topopt_case::interrupt::Interrupt;
use topopt_cli::args::Cli;
use topopt_cli::commands::execute;

use crate::support_loads::folder as folder_of;
use crate::verify::assert_near;
use crate::{CASE, Finished, Folder, program, topopt};

/// `topopt solve case.toml -o solved` with `args`.
fn solve(folder: &Folder, args: &[&str]) -> Finished {
    let mut command = program(&folder.path(""));
    command.args(["solve", "case.toml", "-o", "solved"]).args(args).output().unwrap().into()
}

pub fn numbers(folder: &Folder, args: &[&str]) -> Value {
    let finished = solve(folder, &[args, &["--json"]].concat());
    assert_eq!((finished.status, finished.err.as_str()), (0, ""));
    let numbers: Value = serde_json::from_str(&finished.out).unwrap();
    let written: Value = serde_json::from_str(&folder.read("solved/analysis.json")).unwrap();
    assert_eq!(numbers, written);
    numbers
}

/// Refused with all the `parts` of a message; nothing is written.
fn refused(folder: &Folder, args: &[&str], parts: &[&str]) {
    let before = folder.files();
    let Finished { status, out, err } = solve(folder, args);
    assert_eq!((status, out.as_str()), (1, ""), "{err}");
    let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    parts.iter().for_each(|part| assert!(message.contains(part), "{part}\n{err}"));
    assert_eq!(folder.files(), before);
}

fn assert_vector(found: &Value, expected: [f64; 3], size: f64) {
    for (i, expected) in expected.into_iter().enumerate() {
        let off = (found[i].as_f64().unwrap() - expected).abs();
        assert!(off < 1e-9 * size, "{found} {expected}");
    }
}

/// A bar of 10 x 5 x 5 of E = 70, without lateral contraction, under the traction 2.
const PULLED: &str = "[[supports]]\nset = \"wall\"\n\
    [[loads]]\nset = \"end\"\ntraction = [2, 0, 0]\n\
    [material]\nyoungs_modulus = 70\npoissons_ratio = 0\nmass_density = 0.5\n";

const EXACT: [&str; 4] = ["--set", "solver.tolerance=1e-13", "--set", "output.compression=none"];

/// u = F x / (E A), the stress F / A, C = F u and the moments of F about the origin.
#[test]
fn a_bar_is_as_in_the_book() {
    let folder = folder_of(PULLED);
    let found = numbers(&folder, &[&EXACT[..], &["--gauss", "gauss.csv"]].concat());
    assert_eq!(
        (&found["design"], &found["nodes"], &found["elements"]),
        (&Value::Null, &json!(396), &json!(250))
    );
    assert!(found["seconds"].as_f64().unwrap() > 0.0);
    assert_near(&found["volume"], 250.0);
    assert_near(&found["mass"], 125.0);

    let case = &found["load_cases"][0];
    assert_near(&case["compliance"], 50.0 * 2.0 * 10.0 / 70.0);
    assert_near(&case["largest_displacement"]["value"], 2.0 * 10.0 / 70.0);
    assert_eq!(case["largest_displacement"]["at"][0], 10.0);
    for key in ["percentile_95", "percentile_99", "maximum"] {
        assert_near(&case["von_mises"][key], 2.0);
    }
    assert_near(&case["gauss_points"]["maximum"], 2.0);
    assert_vector(&case["applied"], [50.0, 0.0, 0.0], 50.0);
    assert_vector(&case["applied_moment"], [0.0, 125.0, -125.0], 125.0);
    let reaction = &case["reactions"][0];
    assert_eq!((&reaction["kind"], &reaction["set"]), (&json!("support"), &json!("wall")));
    assert_vector(&reaction["force"], [-50.0, 0.0, 0.0], 50.0);
    assert_vector(&reaction["moment"], [0.0, -125.0, 125.0], 125.0);
    assert_vector(&case["sum"], [0.0; 3], 50.0);
    assert_vector(&case["sum_moment"], [0.0; 3], 125.0);

    let array = |name| folder.array("solved/analysis.vtu", name);
    let sum = |name| array(name).chunks(3).map(|f| f[0]).sum::<f64>();
    assert!((sum("force") - 50.0).abs() < 1e-9 && (sum("reaction") + 50.0).abs() < 1e-9);
    assert!(array("von_mises").iter().all(|stress| (stress - 2.0).abs() < 1e-9));
    assert!(array("density").iter().all(|density| *density == 1.0));
    for stress in array("stress").chunks(6) {
        assert!((stress[0] - 2.0).abs() < 1e-9);
        assert!(stress[1..].iter().all(|stress| stress.abs() < 1e-9));
    }

    let table = folder.read("gauss.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0],
        "load_case,element,point,x,y,z,xx,yy,zz,xy,yz,zx,von_mises".split(',').collect::<Vec<_>>()
    );
    assert_eq!((rows.len(), rows[1][..3].join(" ")), (1 + 8 * 250, "default 1 1".into()));
    assert!(rows[1..].iter().all(|row| (row[6].parse::<f64>().unwrap() - 2.0).abs() < 1e-9));
}

#[test]
fn what_is_found_is_told_and_shown() {
    let pushed = "[[loads]]\nset = \"end\"\ntraction = [-4, 0, 0]\ncase = \"push <b>\"\n";
    let folder = folder_of(&format!("{PULLED}{pushed}"));
    let Finished { status, out, err } = solve(&folder, &EXACT);
    assert_eq!((status, err.as_str()), (0, ""));
    for line in [
        "Small",
        "  solved                  the full part",
        "  mesh                    250 elements, 396 nodes, 1080 unknowns",
        "  volume                  250",
        "  mass                    125",
        "  load case push <b>",
        "    von Mises stress      95th percentile by volume 4, 99th percentile 4",
        "    applied forces        (-100, 0, 0)",
        "    support wall          (100, 0, 0)",
        "written to analysis.vtu, analysis.json and analysis.html in solved",
    ] {
        assert!(out.lines().any(|found| found == line), "{line}\n{out}");
    }
    let solve = out.lines().find(|line| line.starts_with("  solve  ")).unwrap();
    assert!(solve.contains(" iterations on cpu, relative residual ") && solve.ends_with(" s"));

    let page = folder.read("solved/analysis.html");
    for part in [
        "<title>Small</title>",
        "the full part, solved once",
        "Von Mises stress, default; deformed 2×",
        "Load case push &lt;b&gt;",
        "Moment about the origin",
        "Repeat the analysis",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<h3>Filter</h3>") && !page.contains("push <b>"));
    let files = ["analysis.html", "analysis.json", "analysis.vtu", "case.toml"];
    assert_eq!(folder.files()[1..], files.map(|name| format!("solved/{name}")));
}

/// The stress is 2 everywhere; half of the bar is of a material of its own.
#[test]
fn yield_strengths_give_safety_factors() {
    let half = "yield_strength = 5\n[[select]]\nname = \"half\"\nkind = \"elements\"\n\
        box = { min = [5, -1, -1], max = [11, 6, 6] }\n\
        [[materials]]\nset = \"half\"\nyoungs_modulus = 70\nyield_strength = 3\n";
    let pushed = "[[loads]]\nset = \"end\"\ntraction = [-4, 0, 0]\ncase = \"push\"\n";
    let folder = folder_of(&format!("{PULLED}{half}{pushed}"));
    let found = numbers(&folder, &EXACT);
    for (k, name, stress) in [(0, "default", 2.0), (1, "push", 4.0)] {
        for key in ["safety_factors", "gauss_point_safety_factors"] {
            let all = found["load_cases"][k][key].as_array().unwrap();
            assert_eq!(all.len(), 2, "{all:?}");
            for (safety, (set, strength)) in
                all.iter().zip([(Value::Null, 5.0), (json!("half"), 3.0)])
            {
                assert_eq!((&safety["set"], &safety["load_case"]), (&set, &json!(name)));
                assert_near(&safety["factor"], strength / stress);
                let x = safety["at"][0].as_f64().unwrap();
                assert_eq!(x > 5.0, set == "half", "{safety}");
            }
        }
    }
    let page = folder.read("solved/analysis.html");
    for part in [
        "<dt>Safety factor</dt><dd>0.75<small>yield strength / von Mises stress</small></dd>",
        "<td>Safety factor, set half</td><td>1.5\nelement ",
        "<td>Safety factor at a Gauss point</td><td>2.5\nelement ",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let Finished { out, .. } = solve(&folder, &[&EXACT[..], &["--overwrite"]].concat());
    for part in ["    safety factor         2.5 at element ", "; set `half` yields at 3\n"] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let without = numbers(&folder_of(PULLED), &EXACT);
    assert!(without["load_cases"][0].get("safety_factors").is_none());
}

/// Warnings stand apart from notes, also on the page.
#[test]
fn doubts_are_warnings() {
    let folder = folder_of(PULLED);
    let found = numbers(&folder, &["--set", "solver.tolerance=0.02"]);
    let warning = found["warnings"][0].as_str().unwrap();
    assert!(warning.contains("`solver.tolerance` 0.02 leaves an error"), "{found}");
    let page = folder.read("solved/analysis.html");
    let (box_start, tiles) =
        (page.find("<h2>Warning</h2>").unwrap(), page.find("class=\"tiles\"").unwrap());
    assert!(box_start < tiles && page.contains("<li><code>solver.tolerance</code> 0.02 leaves"));
}

/// A run goes by the penalty of its last stage.
#[test]
fn a_design_has_the_numbers_of_its_run() {
    let folder = Folder::new();
    let stages = "\n[[continuation]]\nfrom = 2\npenalty = 2.5\n\n[[continuation]]\nfrom = 3\npenalty = 3.5\n";
    folder.write("case.toml", &format!("{CASE}{stages}"));
    for law in ["simp", "ramp"] {
        let law = format!("design.interpolation={law}");
        let set = ["solver.tolerance=1e-11", "output.compression=none", &law];
        folder.run_well(&[&set[..], &["design.keep_loaded=free"]].concat());
        let set = set.map(|set| ["--set", set]).concat();
        let found = numbers(&folder, &[&set[..], &["--design", "out", "--overwrite"]].concat());
        assert_near(
            &found["load_cases"][0]["compliance"],
            folder.summary()["compliance"].as_f64().unwrap(),
        );
        assert_near(&found["volume"], 0.3 * 250.0);
        assert_eq!(found["design"], "out/design.vtu");
        let density = |file| folder.array(file, "density");
        assert_eq!(density("solved/analysis.vtu"), density("out/design.vtu"));
    }
}

/// Half of the bar along y stays empty, so that the rest is as stiff as half a bar.
#[test]
fn void_sets_stay_empty() {
    let half = "[[select]]\nname = \"half\"\nkind = \"elements\"\n\
        box = { min = [0, 0, 0], max = [10, 2, 5] }\n";
    let folder = folder_of(&format!("{half}{PULLED}"));
    let case = folder.read("case.toml").replace("[design]", "[design]\nvoid = [\"half\"]");
    folder.write("case.toml", &case);
    let found = numbers(&folder, &["--set", "design.density_min=1e-4"]);
    assert_near(&found["volume"], 150.0 + 1e-4 * 100.0);
    assert_eq!(found["void_elements"], 100);
    let stress = found["load_cases"][0]["von_mises"]["percentile_95"].as_f64().unwrap();
    assert!(stress > 2.5, "{stress}");
}

/// Keys that only an optimization needs may be missing, or wrong: the numbers stay the same.
#[test]
fn nothing_of_an_optimization_is_needed() {
    let folder = folder_of(PULLED);
    let text = folder.read("case.toml");
    let full = numbers(&folder, &[]);
    let [start, end] = ["[design]", "[optimizer]"].map(|table| text.find(table).unwrap());
    let part = text[..start].to_owned() + &text[end..];
    folder.write("case.toml", &part);
    let bare = numbers(&folder, &["--overwrite"]);
    assert_eq!(bare["load_cases"], full["load_cases"]);
    assert_eq!(solve(&folder, &["--overwrite"]).err, "");

    let again = ["solve", "solved/case.toml", "-o", "again", "--json"];
    let (status, out, err) = topopt(&folder.path(""), &again);
    assert_eq!((status, err.as_str()), (0, ""));
    let again: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(again["load_cases"], full["load_cases"]);

    let unused = "[design]\nstyle = \"smooth\"\nvolume_fraction = 1e-3\nsolid = [\"none\"]\n\
        [objective]\nmaximize = \"output_displacement\"\nset = \"none\"\n\
        [[constraints]]\nresponse = \"mass\"\n[projection]\nsharpness = 4\n\
        [filter]\n";
    folder.write("case.toml", &format!("{part}{unused}"));
    let unused = numbers(&folder, &["--overwrite", "--set", "output.vti_spacing=1e-9"]);
    assert_eq!(unused["load_cases"], full["load_cases"]);

    // A run still says what it needs.
    folder.write("case.toml", &part);
    let (status, _, err) = topopt(&folder.path(""), &["run", "case.toml"]);
    assert!(status == 1 && err.contains("case.toml has no [filter]"), "{err}");
}

#[test]
fn an_analysis_is_replaced_only_when_asked() {
    let folder = Folder::new();
    assert_eq!(solve(&folder, &["--gauss", "gauss.csv"]).status, 0);
    refused(
        &folder,
        &[],
        &["solved holds an analysis", "`--overwrite` replaces it, `--output DIR`"],
    );
    let (status, _, err) = topopt(&folder.path(""), &["run", "case.toml", "--output", "solved"]);
    assert!(status == 1 && err.contains("solved holds an analysis"), "{err}");
    let elsewhere = ["-o", "other", "--gauss", "gauss.csv"];
    let out =
        program(&folder.path("")).args(["solve", "case.toml"]).args(elsewhere).output().unwrap();
    let err = String::from_utf8(out.stderr).unwrap();
    assert!(err.contains("gauss.csv already exists") && err.contains("`--overwrite`"), "{err}");
    assert_eq!(solve(&folder, &["--overwrite", "--gauss", "gauss.csv"]).err, "");

    // A run takes the folder when asked, and leaves nothing of the analysis.
    let (status, ..) =
        topopt(&folder.path(""), &["run", "case.toml", "--output", "solved", "--overwrite"]);
    assert!(status == 0 && !folder.files().iter().any(|file| file.contains("analysis")));
    let never = "solved holds the results of a run";
    refused(&folder, &["--overwrite"], &[never, "choose another folder with `--output DIR`"]);
}

#[test]
fn files_of_others_stay() {
    for name in ["analysis.vtu", "analysis.json", "analysis.html", "case.toml", "history.csv"] {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("solved")).unwrap();
        folder.write(&format!("solved/{name}"), "mine");
        let message = format!("solved/{name} already exists and does not belong to a run");
        refused(&folder, &["--overwrite"], &[&message]);
    }
}

#[test]
fn what_cannot_be_solved_is_refused_with_a_remedy() {
    let folder = Folder::new();
    refused(&folder, &["--design", "none"], &["none is not a results folder", "help:"]);
    refused(&folder, &["--gauss", "gauss.txt"], &["cannot write the format of gauss.txt", ".csv"]);
    refused(
        &folder,
        &["--gauss", "none/gauss.csv"],
        &["there is no folder for none/gauss.csv", "help:"],
    );
    refused(&folder, &["--set", "loads.0.set=\"other\""], &["other", "help:"]);

    let limited = ["--set", "solver.max_iterations=1", "--set", "solver.preconditioner=\"jacobi\""];
    let Finished { status, out, err } = solve(&folder, &limited);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("the solver did not converge after 1 iterations"), "{err}");
    assert!(err.contains("raise `solver.max_iterations` or loosen `solver.tolerance`"), "{err}");
    assert_eq!(folder.files(), ["case.toml"]);
}

#[test]
fn the_folder_is_beside_that_of_a_run() {
    let folder = Folder::new();
    let finished = program(&folder.path("")).args(["solve", "case.toml"]).output().unwrap();
    assert!(
        finished.status.success() && folder.path("results/case-analysis/analysis.vtu").is_file()
    );
    // A single solve is exact where the case does not ask for less.
    let case: toml::Table = folder.read("results/case-analysis/case.toml").parse().unwrap();
    assert_eq!(case["solver"]["tolerance"].as_float(), Some(1e-8));
}

#[test]
fn an_interruption_leaves_nothing() {
    let folder = Folder::new();
    let (case, out) = (folder.path("case.toml"), folder.path("solved"));
    let args = ["topopt", "solve", case.to_str().unwrap(), "--output", out.to_str().unwrap()];
    let cli = Cli::try_parse_from(args).unwrap();
    let interrupt = Interrupt::new();
    interrupt.signal();
    let mut lines = Vec::new();
    let failure = execute(&cli.command, None, &mut lines, &interrupt).unwrap_err();
    assert_eq!((failure.exit_status(), lines), (130, Vec::new()));
    assert_eq!(folder.files(), ["case.toml"]);
}
