//! `topopt verify`, `topopt check --preview` and the report for heat.

use serde_json::Value;
use topopt_io::Cutting;
use topopt_io::vtk::{Section, vtu};
use topopt_report::number;

use crate::heat::part;
use crate::verify::{assert_near, numbers};
use crate::{Folder, topopt};

/// A block of 8 x 4 x 4 that is held at 0 at one end; the lines `loads` are further ones.
fn block(loads: &str) -> Folder {
    let tables = "[material]\nconductivity = 3\nmass_density = 2\n[[supports]]\nset = \"low\"\n\
        [design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\n[filter]\nradius_in_elements = 1.5\n\
        [optimizer]\nmax_iterations = 20\n[output]\ncheckpoint_every = 0\n";
    part([16, 8, 8], |[x, y, z]| [8.0 * x, 4.0 * y, 4.0 * z], &format!("{tables}{loads}"))
}

fn text(folder: &Folder, args: &[&str]) -> String {
    let (status, out, err) = topopt(&folder.path(""), args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    out
}

/// A uniform density is built as the whole bar: T = q L / k, C = q A T, and with the density 0.4
/// these by the law.
#[test]
fn a_solid_bar_is_as_in_the_book() {
    let folder = block("[[loads]]\nset = \"high\"\nheat_flux = 2\n");
    folder.run_well(&[
        "design.keep_loaded=free",
        "optimizer.max_iterations=1",
        "solver.tolerance=1e-12",
    ]);
    let found = numbers(&folder, &[]);
    let hottest = 2.0 * 8.0 / 3.0;
    assert_near(&found["compliance"]["verified"], 2.0 * 16.0 * hottest);
    assert_near(&found["compliance"]["ratio"], 0.4f64.powi(3));
    let largest = &found["largest_temperature"];
    assert_near(&largest["verified"], hottest);
    assert_near(&largest["ratio"], 0.4f64.powi(3));
    assert_eq!((&largest["at"][0], &largest["load_case"]), (&8.0.into(), &"default".into()));
    assert_near(&found["grey_level"], 4.0 * 0.4 * 0.6);
    assert_near(&found["volume"]["verified"], 128.0);
    assert_near(&found["mass"], 256.0);
    assert_eq!(
        (&found["parts"], &found["notes"]),
        (&serde_json::json!([1.0]), &serde_json::json!([]))
    );
    let heat = &found["load_cases"][0]["heat"];
    assert_near(&heat["loads"], 32.0);
    assert_near(&heat["supports"][0]["heat"], -32.0);
    let keys = |page: &Value| page.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for key in
        ["threshold", "void_conductivity", "volume_fraction", "smallest_member", "smallest_gap"]
    {
        assert!(keys(&found).iter().any(|found| found == key), "{key}");
    }
}

/// Sources everywhere, and a film on the sides: where void is nothing, too much heat has no
/// material, and where it is a filler, all heat counts. What comes in goes out.
#[test]
fn heat_in_void_counts_where_it_can_flow() {
    let folder = block(
        "[[loads]]\nheat_source = 0.5\n\
         [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.02\nambient = 10\n",
    );
    folder.run_well(&["solver.tolerance=1e-9"]);
    let warnings = folder.summary()["warnings"].to_string();
    assert!(
        warnings.contains("% of its heat is on elements that are empty in the shape"),
        "{warnings}"
    );
    let (status, _, err) = topopt(&folder.path(""), &["verify", "out"]);
    let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(status, 1);
    for part in [
        "% of the heat of the whole part stands on elements that are empty in the built shape",
        "give void the conductivity of what fills it, from `design.void_stiffness = 1e-4` on",
    ] {
        assert!(message.contains(part), "{err}");
    }

    folder.run_well(&[
        "design.void_stiffness=0.01",
        "solver.tolerance=1e-9",
        "output.compression=none",
    ]);
    let found = numbers(&folder, &[]);
    assert_eq!(found["notes"], serde_json::json!([]));
    let share = found["void_conductivity"].as_f64().unwrap();
    assert!(share > 0.01 && share < 0.0101, "{share}");
    let heat = &found["load_cases"][0]["heat"];
    assert_near(&heat["loads"], 64.0);
    assert!(heat["sum"].as_f64().unwrap().abs() < 1e-5, "{heat}");

    // The optimized one is that of the run's file, in the filler too.
    let temperature = folder.array("out/design.vtu", "temperature");
    let hottest = temperature.into_iter().fold(0.0, f64::max);
    assert_near(&found["largest_temperature"]["optimized"], hottest);
}

#[test]
fn what_is_in_time_is_not_verified() {
    let folder = block("[[loads]]\nset = \"high\"\nheat_flux = 2\n");
    let case = folder.read("case.toml").replace("mass_density", "heat_capacity = 1\nmass_density");
    folder.write("case.toml", &format!("{case}[transient]\nend = 1\nstep = 0.5\n"));
    let finished = folder.run_well(&["optimizer.max_iterations=1"]);
    assert!(!finished.out.contains("topopt verify"), "{}", finished.out);
    let (status, _, err) = topopt(&folder.path(""), &["verify", "out"]);
    let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(status, 1);
    for part in ["`topopt verify` solves steady states", "`topopt solve CASE --design out` steps"] {
        assert!(message.contains(part), "{err}");
    }
    text(&folder, &["report", "out"]);
    assert!(folder.read("out/report.html").contains("<code>topopt verify</code> solves steady"));
}

/// Temperatures of the run and of the verification are those of their files.
#[test]
fn the_report_shows_temperatures() {
    let folder = block(
        "[[loads]]\nset = \"high\"\nheat_flux = 2\n\
         [[loads]]\nset = \"sides\"\nheat_flux = 1\ncase = \"around\"\n",
    );
    folder.run_well(&["output.compression=none"]);
    let found = numbers(&folder, &[]);
    text(&folder, &["report", "out"]);
    let page = folder.read("out/report.html");
    let optimized = &found["largest_temperature"]["optimized"];
    let value = |value: &Value| number(value.as_f64().unwrap(), 3);
    let case = &found["load_cases"][1];
    let flux = folder.array("out/design.vtu", "heat_flux");
    assert_eq!(flux.len(), 3 * 1024);
    for part in [
        "<h2>Temperatures and heat flux</h2>".to_owned(),
        format!("<td>{}\n(", value(optimized)),
        "Temperature, around<div".into(),
        "Heat flux, default<div".into(),
        format!(
            "<td>{}\nnode {} (",
            value(&case["hottest"]["temperature"]),
            case["hottest"]["node"]
        ),
        format!("<td>Thermal compliance</td><td>{}</td>", value(&found["compliance"]["optimized"])),
        format!("<td>Largest temperature</td><td>{}</td>", value(optimized)),
        "<dt>Thermal compliance</dt>".into(),
        "temperature held</li>".into(),
        "heated</li>".into(),
    ] {
        assert!(page.contains(&part), "{part}");
    }
    // The design from four sides, the part from two, two fields of two load cases twice.
    assert_eq!(page.matches("<img").count(), 4 + 2 + 4 + 4);
}

#[test]
fn a_preview_marks_what_holds_and_heats() {
    let folder = block(
        "[[loads]]\nset = \"upper half\"\nheat_source = 0.5\n\
         [[loads]]\nset = \"high\"\nheat_flux = 2\ncase = \"end\"\n\
         [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.02\nambient = 10\n",
    );
    let held = folder.read("case.toml").replace("set = \"low\"", "set = \"low\"\ntemperature = 20");
    folder.write("case.toml", &held);
    text(&folder, &["check", "case.toml", "--preview", "look.vtu"]);
    let path = folder.path("look.vtu");
    let arrays = |section, names: &[&str]| -> Vec<Vec<f64>> {
        let arrays = vtu::read_arrays::<1>(&path, section, names).unwrap();
        arrays.into_iter().map(|array| array.unwrap().into_flattened()).collect()
    };
    let names = ["support", "heat", "heat_end", "temperature", "film"];
    let sums = arrays(Section::Points, &names).into_iter().map(|a| a.iter().sum::<f64>());
    // The film is on 8 x 16 of area, and brings 0.02 x 10 per area from the ambient.
    let expected = [81.0, 0.5 * 64.0 + 25.6, 32.0 + 25.6, 20.0 * 81.0, 2.56];
    for ((name, sum), expected) in names.iter().zip(sums).zip(expected) {
        assert!((sum / expected - 1.0).abs() < 1e-12, "{name}: {sum} {expected}");
    }
    let sets = vtu::read(&path, Cutting::Refused).unwrap().mesh;
    assert_eq!(sets.sets().elements["heat_source"].len(), 512);
    assert_eq!(sets.sets().elements["set_upper half"].len(), 512);
}

/// A fixed list of words that mean something else than heat, in all that is to be read of a case.
#[test]
fn heat_has_its_own_words() {
    let folder = block(
        "[[loads]]\nheat_source = 0.5\n[units]\nlength = \"mm\"\nforce = \"N\"\n\
         [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.02\nambient = 10\n",
    );
    let mut told = vec![text(&folder, &["check", "case.toml"])];
    told.push(text(&folder, &["solve", "case.toml", "-o", "solved"]));
    let limit = "constraints=[{response=\"compliance\",at_most=1e9}]";
    let filler = "design.void_stiffness=0.01";
    told.push(folder.run_well(&["optimizer.max_iterations=3", limit, filler]).out);
    told.push(text(&folder, &["report", "out"]));
    told.push(readable(&folder.read("out/report.html")));
    told.push(text(&folder, &["verify", "out"]));
    text(&folder, &["report", "out"]);
    told.extend(
        ["out/report.html", "solved/analysis.html"].map(|page| readable(&folder.read(page))),
    );
    for file in ["out/verify.json", "solved/analysis.json"] {
        told.push(folder.read(file).replace("\"compliance\"", "").replace("\"constraints\"", ""));
    }
    assert!(told[2].contains("3 iterations, iteration limit reached: thermal compliance "));
    // Names of temporary folders are any letters.
    let path = folder.path("").display().to_string();
    for text in told {
        let text = text
            .replace(path.trim_end_matches('/'), "")
            .to_lowercase()
            .replace("thermal compliance", "")
            .replace("`design.void_stiffness", "");
        for word in [
            "displace",
            "stress",
            "stiff",
            "strain",
            "elastic",
            "young",
            "poisson",
            "force",
            "modul",
            "compliance",
            "rigid",
            "n mm",
            "mpa",
        ] {
            let at = text.find(word);
            let around =
                at.map(|at| text[at.saturating_sub(60)..].chars().take(120).collect::<String>());
            assert_eq!(around, None, "{word}");
        }
    }
}

/// Returns the text of a page without its pictures, its style and program, and the case file.
fn readable(page: &str) -> String {
    let mut page = page.to_owned();
    for (start, end) in
        [("<style", "</style>"), ("<script", "</script>"), ("<pre>", "</pre>"), ("src=\"", "\"")]
    {
        while let Some(at) = page.find(start) {
            let rest = at + start.len();
            let length = page[rest..].find(end).unwrap();
            page.replace_range(at..rest + length + end.len(), "");
        }
    }
    page
}
