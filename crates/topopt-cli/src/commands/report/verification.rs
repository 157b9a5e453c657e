//! Results of `topopt verify`, for the report.

use serde_json::Value;
use topopt_case::config::PhysicsKind;
use topopt_case::finding::Finding;
use topopt_mesh::vector::length;
use topopt_report::{Fact, NodalField, Table, Verification, number};
use topopt_study::result_files::{VERIFIED, VERIFIED_DESIGN};
use topopt_study::run_directory::RunDirectory;
use topopt_study::solved_file::{SolvedFile, ThermalFile};

use crate::commands::pages::wording::{Units, place, sentence, text, unreadable, with_unit};
use crate::commands::pages::{cases, thermal, wording};

/// Verifications of more load cases show so many of their displacements.
const MOST_PICTURES: usize = 5;

/// Reads verify.json, if it is there.
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
pub(super) fn remedy(results: &RunDirectory, physics: PhysicsKind, is_in_time: bool) -> String {
    if is_in_time {
        return "Not verified: `topopt verify` solves steady states.".into();
    }
    let folder = results.path().display();
    let shown = match physics {
        PhysicsKind::Elasticity => "stresses and displacements",
        PhysicsKind::Heat => "temperatures and heat flux",
    };
    format!(
        "Not verified yet: `topopt verify {folder}` solves the exported shape, and `topopt report \
         {folder}` then shows its {shown} here."
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
    names: &[&str],
    units: &Units,
    physics: PhysicsKind,
) -> Result<Verification, Finding> {
    let mut notes: Vec<String> =
        found["notes"].as_array().into_iter().flatten().map(|note| sentence(&text(note))).collect();
    if names.len() > MOST_PICTURES {
        notes.push(format!(
            "The pictures show the first {MOST_PICTURES} of {} load cases.",
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
    let (cases, fields) = match physics {
        PhysicsKind::Elasticity => {
            (cases::elastic::table(found, units), fields(found, results, names, units)?)
        }
        PhysicsKind::Heat => (cases::heat::table(found), temperatures(found, results, names)?),
    };
    Ok(Verification {
        compared: compared(found, units, physics),
        limits: limits(found, units),
        cases,
        fields,
        facts: facts(found, units, physics),
        notes,
    })
}

/// Temperature and heat flux of the load cases.
fn temperatures(
    found: &Value,
    results: &RunDirectory,
    names: &[&str],
) -> Result<Vec<NodalField>, Finding> {
    let names = &names[..names.len().min(MOST_PICTURES)];
    let all = found["load_cases"].as_array().map_or(&[][..], Vec::as_slice);
    let path = results.path().join(VERIFIED_DESIGN);
    Ok(thermal::pictures(ThermalFile::of_verification(&path, names)?, all))
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
    let worst = if names.len() > 1 { ", largest of all load cases" } else { "" };
    let mut fields = vec![NodalField {
        title: format!("Von Mises stress{worst}"),
        unit: units.stress.clone(),
        values: von_mises.remove(0),
        lowest: 0.0,
        highest: found["von_mises"]["percentile_99"].as_f64().unwrap_or(0.0),
        is_exceeded: true,
        displacements: None,
        arrows: None,
    }];
    let all = found["load_cases"].as_array().into_iter().flatten();
    fields.extend(names.iter().zip(displacements).zip(all).map(|((name, displacements), case)| {
        NodalField {
            title: format!("Displacement, load case {name}"),
            unit: units.length.clone(),
            values: displacements.iter().map(|u| length(*u)).collect(),
            lowest: 0.0,
            highest: case["largest_displacement"]["value"].as_f64().unwrap_or(0.0),
            is_exceeded: false,
            displacements: Some(displacements),
            arrows: None,
        }
    }));
    Ok(fields)
}

fn compared(found: &Value, units: &Units, physics: PhysicsKind) -> Table {
    let cubic = if units.length.is_empty() { String::new() } else { format!("{}³", units.length) };
    let row = |(key, unit): (&str, &str)| {
        let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        let value = |which: &str| with_unit(&found[key][which], "");
        vec![units.words(key) + &unit, value("optimized"), value("verified"), value("ratio")]
    };
    let hottest = (physics == PhysicsKind::Heat).then_some(("largest_temperature", ""));
    let volumes = [("volume", cubic.as_str()), ("volume_fraction", "")];
    let rows = [("compliance", units.energy.as_str())].into_iter().chain(hottest).chain(volumes);
    Table {
        columns: ["", "Optimized", "Verified", "Ratio"].map(String::from).to_vec(),
        rows: rows.map(row).collect(),
    }
}

/// Objective and limits of the optimized and of the built shape.
fn limits(found: &Value, units: &Units) -> Table {
    let row = |asked: &Value, limit: String, met: &str| {
        let value = |which: &str| with_unit(&asked[which], "");
        let itself = asked["largest"].as_f64().map(|v| format!(" (largest {})", number(v, 4)));
        let name = units.words(asked["response"].as_str().unwrap_or_default());
        let verified = value("verified") + &itself.unwrap_or_default();
        vec![name, value("optimized"), verified, limit, met.to_owned()]
    };
    let constraints = found["constraints"].as_array().into_iter().flatten();
    let limited = constraints.map(|asked| {
        let limit = match (asked["at_most"].as_f64(), asked["at_least"].as_f64()) {
            (Some(limit), _) => format!("at most {}", number(limit, 6)),
            (None, limit) => format!("at least {}", number(limit.unwrap_or(f64::NAN), 6)),
        };
        row(asked, limit, if asked["met"] == true { "met" } else { "not met" })
    });
    let objective = found.get("objective").map(|asked| row(asked, text(&asked["goal"]), ""));
    let columns = ["Asked for", "Optimized", "Built", "Limit", ""];
    Table {
        columns: columns.map(String::from).to_vec(),
        rows: objective.into_iter().chain(limited).collect(),
    }
}

fn facts(found: &Value, units: &Units, physics: PhysicsKind) -> Vec<Fact> {
    let stress = &found["von_mises"];
    let stresses = [("percentile_95", "95th"), ("percentile_99", "99th")].map(|(key, share)| {
        format!("{share} percentile by volume {}", with_unit(&stress[key], &units.stress))
    });

    let element = |of: &Value| format!("at element {} {}", of["element"], place(of));
    let width = |key: &str| match &found[key] {
        Value::Null => "none".into(),
        of => format!("{} {}", with_unit(&of["width"], &units.length), element(of)),
    };

    let own = match physics {
        PhysicsKind::Elasticity => Fact::new(
            "Von Mises stress",
            format!("{}; largest of all load cases", stresses.join(", ")),
        ),
        PhysicsKind::Heat => Fact::new(
            "Void",
            format!("{} of the conductivity", with_unit(&found["void_conductivity"], "")),
        ),
    };
    let mass = found["mass"].as_f64().map(|mass| Fact::new("Mass", units.mass(mass)));
    let mut facts = vec![
        Fact::new("Solid", format!("density of at least {}", with_unit(&found["threshold"], ""))),
        own,
        Fact::new("Connected parts", found["parts"].as_array().map_or(0, Vec::len).to_string()),
        Fact::new("Smallest member", width("smallest_member")),
        Fact::new("Smallest gap", width("smallest_gap")),
    ];
    facts.extend(mass);
    facts
}
