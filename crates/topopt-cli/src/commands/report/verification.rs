//! What `topopt verify` has left among the results.

use serde_json::Value;
use topopt_report::{Fact, Table, Verification, number};
use topopt_study::finding::Finding;
use topopt_study::result_files::VERIFIED;
use topopt_study::run_directory::RunDirectory;

use super::wording::{Units, read, text, unreadable, with_unit, words};

/// The proof, or how to get one.
///
/// # Errors
/// A file that is there and cannot be read.
pub(super) fn of(
    results: &RunDirectory,
    units: &Units,
) -> Result<Result<Verification, String>, Finding> {
    let path = results.path().join(VERIFIED);
    if !path.is_file() {
        let folder = results.path().display();
        return Ok(Err(format!(
            "Not verified yet: topopt verify {folder} solves the design again as solid and void, \
             and topopt report {folder} then shows the findings here."
        )));
    }
    let found: Value =
        serde_json::from_str(&read(&path)?).map_err(|error| unreadable(&path, &error))?;
    let notes = found["notes"].as_array().into_iter().flatten().map(text).collect();
    Ok(Ok(Verification { compared: compared(&found, units), facts: facts(&found, units), notes }))
}

fn compared(found: &Value, units: &Units) -> Table {
    let cubic = if units.length.is_empty() { String::new() } else { format!("{}³", units.length) };
    let row = |(key, unit): (&str, &str)| {
        let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        let value = |which: &str| with_unit(&found[key][which], "");
        vec![words(key) + &unit, value("optimized"), value("verified"), value("ratio")]
    };
    let rows = [("compliance", units.energy.as_str()), ("volume", &cubic), ("volume_fraction", "")];
    Table {
        columns: ["", "Optimized", "Verified", "Ratio"].map(String::from).to_vec(),
        rows: rows.into_iter().map(row).collect(),
    }
}

fn facts(found: &Value, units: &Units) -> Vec<Fact> {
    let (moved, stress) = (&found["largest_displacement"], &found["von_mises"]);
    let stresses = [("percentile_95", "95 % of the volume"), ("percentile_99", "99 %")]
        .map(|(key, share)| format!("{share} up to {}", with_unit(&stress[key], &units.stress)));

    let element = |of: &Value| format!("at element {} {}", of["element"], place(of, units));
    let width = |key: &str| match &found[key] {
        Value::Null => "none".into(),
        of => format!("{} {}", with_unit(&of["width"], &units.length), element(of)),
    };

    vec![
        Fact::new("Solid", format!("density {} and more", with_unit(&found["threshold"], ""))),
        Fact::new(
            "Largest displacement",
            format!(
                "{} at node {} {}, load case {}",
                with_unit(&moved["value"], &units.length),
                moved["node"],
                place(moved, units),
                text(&moved["load_case"])
            ),
        ),
        Fact::new("Von Mises stress", stresses.join(", ")),
        Fact::new(
            "Largest stress",
            format!(
                "{} {}, load case {}",
                with_unit(&stress["maximum"], &units.stress),
                element(stress),
                text(&stress["load_case"])
            ),
        ),
        Fact::new("Connected parts", found["parts"].as_array().map_or(0, Vec::len).to_string()),
        Fact::new("Smallest member", width("smallest_member")),
        Fact::new("Smallest gap", width("smallest_gap")),
    ]
}

fn place(of: &Value, units: &Units) -> String {
    let at = of["at"].as_array().into_iter().flatten();
    let at: Vec<String> = at.map(|x| number(x.as_f64().unwrap_or(f64::NAN), 5)).collect();
    format!("({}) {}", at.join(", "), units.length).trim_end().into()
}
