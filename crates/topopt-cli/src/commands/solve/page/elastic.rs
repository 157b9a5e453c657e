//! Displacements and stresses on the page of an analysis.

use serde_json::Value;
use topopt_case::finding::Finding;
use topopt_mesh::vector::length;
use topopt_report::{Fact, NodalField, States, count};
use topopt_study::solved_file::SolvedFile;

use super::results::Results;
use crate::commands::pages::cases;
use crate::commands::pages::wording::{Units, text, with_unit};

/// The headline, and what was solved for.
///
/// # Errors
/// A file that cannot be read.
pub fn shown(results: &Results) -> Result<(Vec<Fact>, States), Finding> {
    let Results { found, all, units, .. } = results;
    let fields = SolvedFile::of_analysis(results.path, results.pictured(), results.threshold)?;
    let about = "Stresses at element centers; in the pictures averaged at the nodes.";
    let states = States {
        title: "Displacements and stresses".into(),
        fields: pictures(fields, all, units),
        cases: cases::elastic::table(found, units),
        curves: Vec::new(),
        notes: std::iter::once(about.to_owned()).chain(results.left_out()).collect(),
    };
    Ok((headline(results), states))
}

fn headline(Results { found, all, units, .. }: &Results) -> Vec<Fact> {
    let largest = |value: &dyn Fn(&Value) -> Option<f64>| {
        Value::from(all.iter().filter_map(value).fold(0.0, f64::max))
    };
    let moved = largest(&|case| case["largest_displacement"]["value"].as_f64());
    let stress = largest(&|case| case["von_mises"]["maximum"].as_f64());
    let n = |key: &str| count(found[key].as_u64().unwrap_or(0) as usize);
    let mass = found["mass"].as_f64().map(|mass| Fact::new("Mass", units.mass(mass)));

    let mut facts = vec![
        Fact::new("Largest displacement", with_unit(&moved, &units.length)),
        Fact::new("Largest von Mises stress", with_unit(&stress, &units.stress)),
    ];
    facts.extend(cases::elastic::least_safety(found));
    facts.extend(mass);
    facts.extend([Fact::new("Load cases", count(all.len())), Fact::new("Elements", n("elements"))]);
    facts
}

/// Stress and displacement of each load case on the deformed shape.
fn pictures(fields: SolvedFile, all: &[Value], units: &Units) -> Vec<NodalField> {
    let SolvedFile { von_mises, displacements } = fields;
    let is_single = all.len() == 1;
    let of_case = |((stress, displacement), case): ((Vec<f64>, Vec<[f64; 3]>), &Value)| {
        let name = if is_single { String::new() } else { format!(", {}", text(&case["name"])) };
        let highest = case["von_mises"]["percentile_99"].as_f64().unwrap_or(0.0);
        [
            NodalField {
                title: format!("Von Mises stress{name}"),
                unit: units.stress.clone(),
                is_exceeded: stress.iter().any(|stress| *stress > highest),
                values: stress,
                lowest: 0.0,
                highest,
                displacements: Some(displacement.clone()),
                arrows: None,
            },
            NodalField {
                title: format!("Displacement{name}"),
                unit: units.length.clone(),
                values: displacement.iter().map(|u| length(*u)).collect(),
                lowest: 0.0,
                highest: case["largest_displacement"]["value"].as_f64().unwrap_or(0.0),
                is_exceeded: false,
                displacements: Some(displacement),
                arrows: None,
            },
        ]
    };
    von_mises.into_iter().zip(displacements).zip(all).flat_map(of_case).collect()
}
