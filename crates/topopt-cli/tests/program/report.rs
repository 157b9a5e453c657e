//! `topopt report`: the page of a run.

use topopt_io::vtk::{Section, vtu};
use topopt_report::number;

use crate::{CASE, Folder, topopt};

/// The page that `topopt report out` writes.
fn page(folder: &Folder) -> String {
    let (status, out, err) = topopt(&folder.path(""), &["report", "out"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("wrote out/report.html: "), "{out}");
    folder.read("out/report.html")
}

#[test]
fn a_report_says_what_the_run_left() {
    let folder = Folder::new();
    let case = CASE.replace("\"Small\"", "\"<script>alert(1)</script>\"");
    folder.write("case.toml", &format!("{case}\n[units]\nlength = \"mm\"\nforce = \"N\"\n"));
    folder.run_well(&["optimizer.max_iterations=8"]);

    let report = page(&folder);
    let summary = folder.summary();
    let compliance = number(summary["compliance"].as_f64().unwrap(), 3);

    for text in [
        format!("<dd>{compliance} N mm</dd>"),
        "<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>".into(),
        format!("<dd>{}</dd>", summary["nodes"]),
        "force (0, \u{2212}1, 0) N".into(),
        "Young's modulus".into(),
        "topopt verify out".into(),
        // The last line of the run.
        format!("<li>Grey level {:.1} %: ", 100.0 * summary["grey_level"].as_f64().unwrap()),
        "iteration limit reached".into(),
        "<td>Volume fraction</td><td>0.3</td><td>at most 0.3</td><td class=\"met\">".into(),
        "<td>Volume</td><td>250 mm\u{b3}</td><td>78.5 mm\u{b3}</td><td>68.6 %</td>".into(),
        "Front: x to the right, z up".into(),
        "KKT residual".into(),
        "load case default: forces add up to (0, \u{2212}6, 0) N".into(),
        "max_iterations = 8".into(),
        format!("topopt {}", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(report.contains(&text), "{text}");
    }

    for compliance in folder.history("compliance") {
        assert!(report.contains(&format!("<td>{}</td>", number(compliance, 3))), "{compliance}");
    }
    assert!(report.len() < 5_000_000);
}

#[test]
fn a_verification_is_shown() {
    let folder = Folder::new();
    let units = "[units]\nlength = \"mm\"\nforce = \"N\"\n[material]\nmass_density = 2e-9\n";
    folder.write("case.toml", &format!("{CASE}\n{units}"));
    folder.run_well(&["optimizer.max_iterations=8", "design.volume_fraction=0.6"]);
    let (status, _, err) = topopt(&folder.path(""), &["verify", "out"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let found: serde_json::Value = serde_json::from_str(&folder.read("out/verify.json")).unwrap();
    let report = page(&folder);
    assert!(!report.contains("Not verified yet"));
    for value in [&found["compliance"]["ratio"], &found["volume"]["verified"]] {
        let cell = format!("<td>{}</td>", number(value.as_f64().unwrap(), 3));
        assert!(report.contains(&cell), "{cell}");
    }
    let case = &found["load_cases"][0];
    let peak = |key: &str, value: &str| number(case[key][value].as_f64().unwrap(), 3);
    let force = number(case["reactions"][0]["force"][1].as_f64().unwrap(), 3);
    // Of tonnes, by mm and N.
    let mass = number(1e3 * found["mass"].as_f64().unwrap(), 3);
    for text in [
        format!("<dt>Mass</dt><dd>{mass} kg</dd>"),
        format!("<td>{}\nelement ", peak("von_mises", "maximum")),
        format!("<td>{}\n(", peak("largest_displacement", "value")),
        format!("<td>{}</td>", peak("von_mises", "percentile_99")),
        format!("<td>Reaction of support fixed [N]</td><td>(0, {force}, 0)</td>"),
        "Displacement, load case default; deformed ".into(),
        "Von Mises stress<div class=\"scale\">".into(),
    ] {
        assert!(report.contains(&text), "{text}");
    }
    assert_eq!(report.matches("<img").count(), 4 + 2 + 2);
}

/// One mass with its unit, and limits as they were asked for; a missed one is a warning.
#[test]
fn a_mass_and_its_limits_have_units() {
    let folder = Folder::new();
    let light = "[units]\nlength = \"mm\"\nforce = \"N\"\n[material]\nmass_density = 2e-6\n\
        [objective]\nminimize = \"mass\"\n\
        [[constraints]]\nresponse = \"displacement\"\nset = \"load\"\nat_most = 1.0\n";
    let case = CASE.replace("volume_fraction = 0.3\n", "");
    folder.write("case.toml", &format!("{case}\n{light}"));
    folder.run_well(&["optimizer.max_iterations=2", "filter.kind=density"]);
    let report = page(&folder);
    let summary = folder.summary();
    let mass = number(1e3 * summary["objective"]["value"].as_f64().unwrap(), 3);
    let moved = number(summary["constraints"][0]["value"].as_f64().unwrap(), 3);
    let name = "Largest displacement of load";
    for text in [
        format!("<dt>Mass</dt><dd>{mass} kg<small>minimize</small></dd>"),
        format!("<dt>{name}</dt><dd>{moved} mm<small>at most 1 mm \u{2717}</small></dd>"),
        format!(
            "<td>{moved} mm</td><td>at most 1 mm</td><td class=\"missed\">\u{2717} missed</td>"
        ),
        "limit violated (at most 1): even the full part has ".into(),
        "<figcaption>Objective: mass<span class=\"unit\"> [kg]</span>".into(),
    ] {
        assert!(report.contains(&text), "{text}");
    }
    assert_eq!(report.matches("<dt>Mass</dt>").count(), 1);
}

/// Checks the arrays from which the pictures of supports and loads are made.
#[test]
fn a_design_has_the_forces_of_its_load_cases() {
    let folder = Folder::new();
    let second = "[[loads]]\nset = \"load\"\nforce = [0.0, 0.0, 2.0]\ncase = \"aside\"\n";
    folder.write("case.toml", &format!("{CASE}\n{second}"));
    folder.run_well(&[]);
    let names = ["force", "force_aside", "force_none"];
    let [down, aside, none] =
        vtu::read_arrays(&folder.path("out/design.vtu"), Section::Points, &names)
            .unwrap()
            .try_into()
            .unwrap();
    let sum = |forces: Option<Vec<[f64; 3]>>| {
        forces.unwrap().iter().fold([0.0; 3], |sum, f| [0, 1, 2].map(|i| sum[i] + f[i]))
    };
    assert_eq!((sum(down), sum(aside)), ([0.0, -6.0, 0.0], [0.0, 0.0, 12.0]));
    assert_eq!(none, None::<Vec<[f64; 3]>>);
    let report = page(&folder);
    assert!(report.contains("load case aside: forces add up to (0, 0, 12)"));
}

#[test]
fn a_report_goes_where_it_is_asked_for_or_not_at_all() {
    let folder = Folder::new();
    folder.run_well(&[]);
    // The surface is kept, whatever becomes of it.
    assert_eq!(topopt(&folder.path(""), &["report", "out", "-o", "first.html"]).0, 0);
    let before = folder.files();

    let refused = |args: &[&str], parts: &[&str]| {
        let (status, out, err) = topopt(&folder.path(""), args);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((status, out.as_str()), (1, ""), "{err}");
        parts.iter().for_each(|part| assert!(err.contains(part), "{part}: {err}"));
        assert_eq!(folder.files(), before);
    };

    refused(&["report", "none"], &["none is not a results folder", "`topopt run` prints"]);
    refused(&["report", "out", "-o", "no/a.html"], &["cannot write no/a.html", "`--output FILE`"]);

    let history = folder.read("out/history.csv");
    folder.write("out/history.csv", &(history.clone() + "4,x\n"));
    refused(&["report", "out"], &["out/history.csv: line 5 is not a row of", "run the case again"]);
    folder.write("out/history.csv", &history);

    let (status, ..) = topopt(&folder.path(""), &["report", "out", "--output", "a.html"]);
    assert_eq!((status, folder.files().len()), (0, before.len() + 1));
    // A new run is another one than that of the report.
    page(&folder);
    folder.run_well(&[]);
    assert!(!folder.path("out/report.html").exists());
}
