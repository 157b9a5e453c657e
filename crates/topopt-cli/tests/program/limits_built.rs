//! Limits are checked on what is built.

use serde_json::{Value, json};

use crate::heat::part;
use crate::verify::{assert_near, write_design};
use crate::{CASE, Folder, topopt};

/// Limits of the mean and of the largest displacement of the loaded edge, and of the mass.
const LIMITS: &str = "[material]\nmass_density = 2\n\
    [objective]\nminimize = \"mass\"\n\
    [[constraints]]\nresponse = \"displacement\"\nset = \"load\"\ndirection = [0, -1, 0]\nat_most = 1e6\n\
    [[constraints]]\nresponse = \"displacement\"\nset = \"load\"\nat_most = 1e6\n\
    [[constraints]]\nresponse = \"compliance\"\nat_most = 1e6\n";

fn limited() -> Folder {
    let folder = Folder::new();
    let case = CASE.replace("volume_fraction = 0.3\n", "");
    folder.write("case.toml", &format!("{case}{LIMITS}"));
    folder.run_well(&["solver.tolerance=1e-9"]);
    folder
}

/// Status, numbers and message of a verification with the surface at the density 0.5.
fn verify(folder: &Folder) -> (i32, Value, String) {
    let args = ["verify", "out", "--threshold", "0.5", "--json"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    (status, serde_json::from_str(&out).unwrap(), err)
}

/// Each row is what the rest of the file says of the built shape, and the run of the optimized one.
#[test]
fn objective_and_limits_are_those_of_the_built_shape() {
    let folder = limited();
    write_design(&folder, |[x, ..]| x < 11.0);
    let args = ["verify", "out", "--threshold", "0.0005", "--json"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["limits_met"], true);
    let other = "the built shape is not what was optimized: its mass is 500, that of the run ";
    assert!(found["warnings"][0].as_str().unwrap().starts_with(other), "{found}");
    assert_eq!(found["warnings"].as_array().unwrap().len(), 1);

    assert_eq!(
        (&found["objective"]["response"], &found["objective"]["goal"]),
        (&json!("mass"), &json!("minimize"))
    );
    assert_near(&found["objective"]["verified"], found["mass"].as_f64().unwrap());
    let summary = folder.summary();
    assert_eq!(found["objective"]["optimized"], summary["objective"]["value"]);

    let rows = found["constraints"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for (row, asked) in rows.iter().zip(summary["constraints"].as_array().unwrap()) {
        assert_eq!((&row["optimized"], &row["response"]), (&asked["value"], &asked["response"]));
        assert_eq!((&row["at_most"], &row["met"]), (&json!(1e6), &json!(true)));
    }
    let compliance = found["compliance"]["verified"].as_f64().unwrap();
    assert_near(&rows[2]["verified"], compliance);
    // Six equal forces of 1 on the nodes of the edge: their work is six times the mean.
    assert_near(&rows[0]["verified"], compliance / 6.0);
    let (norm, largest) = (rows[1]["verified"].as_f64(), rows[1]["largest"].as_f64());
    assert!(norm > largest && norm < largest.map(|l| 1.07 * l), "{norm:?} {largest:?}");
    let moved = found["largest_displacement"]["value"].as_f64();
    assert!(largest <= moved && largest > rows[0]["verified"].as_f64());
}

#[test]
fn a_limit_that_the_built_shape_misses_has_an_exit_status() {
    let folder = limited();
    let case = folder.read("out/case.toml").replacen("at_most = 1000000.0", "at_most = 0.5", 1);
    folder.write("out/case.toml", &case);
    write_design(&folder, |[_, y, _]| !(2.0..=4.0).contains(&y));
    let (status, found, err) = verify(&folder);
    assert_eq!((status, &found["limits_met"]), (3, &json!(false)));
    let missed = &found["constraints"][0];
    assert_eq!((&missed["met"], &missed["at_most"]), (&json!(false), &json!(0.5)));
    let warning = found["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("in the built shape the displacement of load is "), "{warning}");
    assert!(warning.ends_with(", and at most 0.5 is asked for"), "{warning}");
    let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(message.contains(warning) && message.contains("a tighter limit"), "{err}");
    assert!(folder.path("out/verify.vtu").is_file());

    let (status, out, _) = topopt(&folder.path(""), &["verify", "out", "--threshold", "0.5"]);
    assert_eq!(status, 3);
    let line = out.lines().find(|line| line.contains("at most 0.5")).unwrap();
    assert!(line.ends_with("at most 0.5: NOT MET"), "{out}");
    let (status, _, err) = topopt(&folder.path(""), &["report", "out"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let page = folder.read("out/report.html");
    for part in
        ["at most 0.5</td><td class=\"missed\">\u{2717} missed</td>", "<td>Mass</td>", "(largest "]
    {
        assert!(page.contains(part), "{part}");
    }
}

/// The volume is a limit as well: a grey design of one density is built as the whole part.
#[test]
fn a_volume_that_is_not_kept_is_missed() {
    let folder = Folder::new();
    folder.run_well(&["optimizer.max_iterations=1", "filter.kind=none"]);
    write_design(&folder, |_| true);
    let (status, found, err) = verify(&folder);
    assert_eq!((status, &found["limits_met"]), (3, &json!(false)), "{err}");
    assert_near(&found["constraints"][0]["verified"], 1.0);
}

/// T = q L / k at the heated end of the built bar, with the limit on the largest temperature there.
#[test]
fn limits_of_heat_are_checked() {
    let tables = "[material]\nconductivity = 3\n[[supports]]\nset = \"low\"\n\
        [[loads]]\nset = \"high\"\nheat_flux = 2\n\
        [objective]\nminimize = \"volume\"\n\
        [[constraints]]\nresponse = \"mean_temperature\"\nset = \"high\"\nat_most = 1e3\n\
        [[constraints]]\nresponse = \"compliance\"\nat_most = 1e6\n\
        [filter]\nradius_in_elements = 1.5\n[optimizer]\nmax_iterations = 3\n";
    let folder = part([8, 4, 4], |[x, y, z]| [8.0 * x, 4.0 * y, 4.0 * z], tables);
    folder.run_well(&["solver.tolerance=1e-11"]);
    let args = ["verify", "out", "--threshold", "0.001", "--json"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_near(&found["constraints"][0]["verified"], 2.0 * 8.0 / 3.0);
    assert_near(&found["constraints"][1]["verified"], 32.0 * 2.0 * 8.0 / 3.0);
    assert_near(&found["objective"]["verified"], 1.0);

    let case = folder.read("out/case.toml").replacen("at_most = 1000.0", "at_most = 4.0", 1);
    folder.write("out/case.toml", &case);
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!(status, 3, "{err}");
    assert!(out.contains("in the built shape the mean temperature of high is 5.33333"), "{out}");
    let (_, out, _) = topopt(&folder.path(""), &args[..4]);
    assert!(out.contains("thermal compliance"), "{out}");
}
