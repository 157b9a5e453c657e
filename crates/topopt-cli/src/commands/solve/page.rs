//! The page of an analysis, from its files.

use std::path::Path;

use serde_json::Value;
use topopt_mesh::vector::length;
use topopt_report::{Analysis as Page, Fact, NodalField, count};
use topopt_study::analysis::Analysis;
use topopt_study::design_file::DesignFile;
use topopt_study::finding::InputError;
use topopt_study::result_files::{ANALYSIS_FIELDS, CASE};
use topopt_study::solved_file::SolvedFile;

use crate::commands::pages::wording::{Units, read, text, unreadable, with_unit};
use crate::commands::pages::{cases, part, problem};

/// Pages of more load cases show so many of them.
const MOST_PICTURED: usize = 5;

/// Tables of the case file that an analysis does not use.
const UNUSED: [&str; 3] = ["filter", "continuation", "optimizer"];

/// The page of the analysis in `folder` that has `found` this.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn page(folder: &Path, found: &Analysis) -> Result<String, InputError> {
    let case_path = folder.join(CASE);
    let case = read(&case_path)?;
    let mut table: toml::Table = case.parse().map_err(|error| unreadable(&case_path, &error))?;
    table.retain(|key, _| !UNUSED.contains(&key));

    if found.design.is_none() {
        table.remove("design");
    }

    let found = &serde_json::to_value(found).map_err(|error| unreadable(folder, &error))?;
    let units = Units::of(found);
    let all = found["load_cases"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<&str> = all.iter().filter_map(|case| case["name"].as_str()).collect();

    let path = folder.join(ANALYSIS_FIELDS);
    let file = DesignFile::read(&path)?;
    let solid = file.built(None, None)?;
    let pictured = &names[..names.len().min(MOST_PICTURED)];
    let fields = SolvedFile::of_analysis(&path, pictured, solid.threshold())?;

    let page = Page {
        title: found["title"].as_str().unwrap_or("Analysis").into(),
        subtitle: format!("{} \u{b7} {}", text(&found["case"]), what(found)),
        headline: headline(found, all, &units),
        solid: &solid,
        cases: cases::table(found, &units),
        fields: pictures(fields, all, &units),
        notes: notes(&names),
        part: part::of(&file, &names, &units)?,
        problem: problem::groups(&table, found, &file.mesh, &units),
        repeat: vec![
            Fact::new("Command", command(&case_path, found)),
            Fact::new("Version", format!("topopt {}", text(&found["topopt"]))),
        ],
        case,
    };
    Ok(page.html())
}

/// What was solved.
fn what(found: &Value) -> String {
    match found["design"].as_str() {
        Some(design) => format!("the densities of {design}, solved once"),
        None => "the full part, solved once".into(),
    }
}

fn command(case: &Path, found: &Value) -> String {
    let design = found["design"].as_str().map(|design| format!(" --design {design}"));
    format!("topopt solve {}{}", case.display(), design.unwrap_or_default())
}

fn headline(found: &Value, all: &[Value], units: &Units) -> Vec<Fact> {
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
        Fact::new("Load cases", count(all.len())),
        Fact::new("Elements", n("elements")),
    ];
    facts.extend(mass);
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
                highest,
                displacements: Some(displacement.clone()),
            },
            NodalField {
                title: format!("Displacement{name}"),
                unit: units.length.clone(),
                values: displacement.iter().map(|u| length(*u)).collect(),
                highest: case["largest_displacement"]["value"].as_f64().unwrap_or(0.0),
                is_exceeded: false,
                displacements: Some(displacement),
            },
        ]
    };
    von_mises.into_iter().zip(displacements).zip(all).flat_map(of_case).collect()
}

fn notes(names: &[&str]) -> Vec<String> {
    let mut notes = vec![
        "Stresses are those at the centers of the elements. In the pictures they are averaged at \
         the nodes."
            .to_owned(),
    ];
    if names.len() > MOST_PICTURED {
        let n = names.len();
        notes.push(format!("The pictures show the first {MOST_PICTURED} of {n} load cases."));
    }
    notes
}
