//! The pages of heat: numbers that agree with the files beside them, and no word of elasticity.

use serde_json::Value;
use topopt_report::number;

use crate::Folder;
use crate::heat::part;
use crate::solve::numbers;

/// A block that is heated at one end and from within in one half, cooled along its sides and held
/// at the other end.
const STEADY: &str = "title = \"Block\"\n[units]\nlength = \"mm\"\nforce = \"N\"\n";
const TABLES: &str = "[material]\nconductivity = 3\nmass_density = 2\nheat_capacity = 1\n\
    [[supports]]\nset = \"low\"\ntemperature = 20\n\
    [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.02\nambient = 10\n\
    [[loads]]\nset = \"upper half\"\nheat_source = 0.5\n\
    [[loads]]\nset = \"high\"\nheat_flux = 2\n\
    [[loads]]\nset = \"high\"\nheat_flux = 4\ncase = \"hot <b>\"\n";

/// Returns the cells that the table must have for a load case.
fn cells(case: &Value) -> Vec<String> {
    let value = |value: &Value| number(value.as_f64().unwrap(), 3);
    let extreme = |key: &str| {
        let at = &case[key];
        format!("<td>{}\nnode {} (", value(&at["temperature"]), at["node"])
    };
    let heat = &case["heat"];
    let mut all = vec![extreme("coldest"), extreme("hottest")];
    let flows = [&heat["loads"], &heat["convection"], &heat["supports"][0]["heat"]];
    all.extend(flows.into_iter().map(|flow| format!("<td>{}</td>", value(flow))));
    all
}

fn assert_has(page: &str, parts: &[String]) {
    parts.iter().for_each(|part| assert!(page.contains(part), "{part}"));
}

/// A folder with the block.
fn block(more: &str) -> Folder {
    let folder =
        part([8, 4, 4], |[x, y, z]| [8.0 * x, 4.0 * y, 4.0 * z], &format!("{TABLES}{more}"));
    let case = folder.read("case.toml");
    folder.write("case.toml", &format!("{STEADY}{case}"));
    folder
}

#[test]
fn the_page_of_a_steady_state_has_its_numbers() {
    let folder = block("");
    let found = numbers(&folder, &[]);
    let page = folder.read("solved/analysis.html");
    for case in found["load_cases"].as_array().unwrap() {
        let compliance = number(case["compliance"].as_f64().unwrap(), 3);
        assert_has(&page, &[cells(case), vec![format!("<td>{compliance}</td>")]].concat());
    }
    let hottest = &found["load_cases"][1]["hottest"]["temperature"];
    let hottest = number(hottest.as_f64().unwrap(), 3);
    let parts = [
        "<title>Block</title>",
        "<h2>Temperatures and heat flux</h2>",
        "Temperature, default<div",
        "Heat flux, hot &lt;b&gt;<div",
        "Heat through support low",
        "temperature held</li>",
        "convection</li>",
        "heated</li>",
        "heat source within</li>",
        "<h3>Convection</h3>",
        &format!("<dt>Highest temperature</dt><dd>{hottest}</dd>"),
    ];
    assert_has(&page, &parts.map(str::to_owned));
    // Two fields of two load cases, and the part from two sides.
    assert_eq!(page.matches("<img").count(), 4 + 2);
    assert!(!page.contains("Over time"));
}

#[test]
fn the_page_of_steps_in_time_has_curves() {
    let probes = "[transient]\nend = 4\nsteps = [[1, 0.25], [4, 1]]\ninitial = 15\n\
        probes = [{ name = \"tip\", point = [8, 2, 2] }]\n";
    let folder = block(probes);
    let case = folder.read("case.toml").replace("case = \"hot <b>\"\n", "");
    folder.write("case.toml", &case);
    let found = numbers(&folder, &[]);
    let page = folder.read("solved/analysis.html");
    let case = &found["load_cases"][0];
    let stored = number(case["heat"]["stored"].as_f64().unwrap(), 3);
    assert_has(&page, &[cells(case), vec![format!("<td>{stored}</td>")]].concat());

    // The last value of a curve is that of the table of the steps.
    let table = folder.read("solved/transient.csv");
    let last: Vec<&str> = table.lines().last().unwrap().split(',').collect();
    let titles = [
        (6, "Temperature of tip"),
        (3, "Highest temperature"),
        (2, "Lowest temperature"),
        (4, "Heat stored per time"),
    ];
    for (column, title) in titles {
        let value = number(last[column].parse().unwrap(), 3);
        let curve = format!("<figcaption>{title}<span class=\"last\">{value}</span>");
        assert_has(&page, &[curve]);
    }
    assert_eq!(page.matches("class=\"chart\"").count(), 4 + 1);
    assert_has(&page, &["<dt>Time</dt><dd>4 in 7 steps</dd>".into()]);
}
