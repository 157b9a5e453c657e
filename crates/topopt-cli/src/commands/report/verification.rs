//! What `topopt verify` has left among the results.

use serde_json::Value;
use topopt_mesh::vector::length;
use topopt_report::{Fact, NodalField, Table, Verification, number};
use topopt_study::config::PhysicsKind;
use topopt_study::finding::Finding;
use topopt_study::result_files::{VERIFIED, VERIFIED_DESIGN};
use topopt_study::run_directory::RunDirectory;
use topopt_study::solved_file::SolvedFile;

use crate::commands::pages::wording::{
    Units, case_names, place, text, unreadable, with_unit, words,
};
use crate::commands::pages::{cases, wording};

/// Verifications of more load cases show so many of their displacements.
const MOST_PICTURES: usize = 5;

/// What verify.json says, if it is there.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn read(results: &RunDirectory) -> Result<Option<Value>, Finding> {
    let path = results.path().join(VERIFIED);
    if !path.is_file() {
        return Ok(None);
    }
    let found = serde_json::from_str(&wording::read(&path)?);
    found.map(Some).map_err(|error| unreadable(&path, &error))
}

/// How to get a verification.
pub(super) fn remedy(results: &RunDirectory, physics: PhysicsKind) -> String {
    if physics == PhysicsKind::Heat {
        return "Not verified: topopt verify is for elastic parts.".into();
    }
    let folder = results.path().display();
    format!(
        "Not verified yet: topopt verify {folder} solves the exported shape, and topopt report \
         {folder} then shows its stresses and displacements here."
    )
}

/// The proof that verify.json and verify.vtu hold; `threshold` is that of the pictures.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn of(
    found: &Value,
    results: &RunDirectory,
    threshold: f64,
    summary: &Value,
    units: &Units,
) -> Result<Verification, Finding> {
    let names = case_names(summary);
    let mut notes: Vec<String> =
        found["notes"].as_array().into_iter().flatten().map(text).collect();
    if names.len() > MOST_PICTURES {
        notes.push(format!(
            "The pictures show displacements of the first {MOST_PICTURES} of {} load cases.",
            names.len()
        ));
    }
    let verified = found["threshold"].as_f64().unwrap_or(f64::NAN);
    if (verified - threshold).abs() > 1e-6 {
        notes.push(format!(
            "Verified with the surface at the density {}, the pictures have it at {}.",
            number(verified, 3),
            number(threshold, 3)
        ));
    }
    Ok(Verification {
        compared: compared(found, units),
        cases: cases::table(found, units),
        fields: fields(found, results, &names, units)?,
        facts: facts(found, units),
        notes,
    })
}

fn fields(
    found: &Value,
    results: &RunDirectory,
    names: &[&str],
    units: &Units,
) -> Result<Vec<NodalField>, Finding> {
    let names = &names[..names.len().min(MOST_PICTURES)];
    let SolvedFile { mut von_mises, displacements } =
        SolvedFile::of_verification(&results.path().join(VERIFIED_DESIGN), names)?;
    let worst = if names.len() > 1 { ", the largest of all load cases" } else { "" };
    let mut fields = vec![NodalField {
        title: format!("Von Mises stress{worst}"),
        unit: units.stress.clone(),
        values: von_mises.remove(0),
        highest: found["von_mises"]["percentile_99"].as_f64().unwrap_or(0.0),
        is_exceeded: true,
        displacements: None,
    }];
    let all = found["load_cases"].as_array().into_iter().flatten();
    fields.extend(names.iter().zip(displacements).zip(all).map(|((name, displacements), case)| {
        NodalField {
            title: format!("Displacement, load case {name}"),
            unit: units.length.clone(),
            values: displacements.iter().map(|u| length(*u)).collect(),
            highest: case["largest_displacement"]["value"].as_f64().unwrap_or(0.0),
            is_exceeded: false,
            displacements: Some(displacements),
        }
    }));
    Ok(fields)
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
    let stress = &found["von_mises"];
    let stresses = [("percentile_95", "95 % of the volume"), ("percentile_99", "99 %")]
        .map(|(key, share)| format!("{share} up to {}", with_unit(&stress[key], &units.stress)));

    let element = |of: &Value| format!("at element {} {}", of["element"], place(of));
    let width = |key: &str| match &found[key] {
        Value::Null => "none".into(),
        of => format!("{} {}", with_unit(&of["width"], &units.length), element(of)),
    };

    vec![
        Fact::new("Solid", format!("density {} and more", with_unit(&found["threshold"], ""))),
        Fact::new(
            "Von Mises stress",
            format!("{}; the largest of all load cases", stresses.join(", ")),
        ),
        Fact::new("Connected parts", found["parts"].as_array().map_or(0, Vec::len).to_string()),
        Fact::new("Smallest member", width("smallest_member")),
        Fact::new("Smallest gap", width("smallest_gap")),
    ]
}
