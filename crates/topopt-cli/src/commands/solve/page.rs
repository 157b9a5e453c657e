//! The page of an analysis, from its files.

mod elastic;
mod heat;
mod results;

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use topopt_case::config::PhysicsKind;
use topopt_case::finding::InputError;
use topopt_io::atomic;
use topopt_report::{Analysis as Page, Fact};
use topopt_study::design_file::DesignFile;
use topopt_study::failure::Failure;
use topopt_study::result_files::{ANALYSIS_FIELDS, ANALYSIS_PAGE, CASE};

use crate::commands::pages::wording::{Units, read, text, unreadable};
use crate::commands::pages::{part, problem, warnings};
use results::Results;

/// Tables of the case file that an analysis does not use.
const UNUSED: [&str; 3] = ["filter", "continuation", "optimizer"];

/// Writes the page of the analysis in `folder`, see [`page`].
///
/// # Errors
/// A file that cannot be read or written.
pub(super) fn write(
    folder: &Path,
    found: &impl Serialize,
    physics: PhysicsKind,
) -> Result<(), Failure> {
    let page = page(folder, found, physics)?;
    Ok(atomic::write(&folder.join(ANALYSIS_PAGE), |file| file.write_all(page.as_bytes()))?)
}

/// The page of the analysis of a `physics` in `folder` that has `found` this.
///
/// # Errors
/// A file that cannot be read.
fn page(folder: &Path, found: &impl Serialize, physics: PhysicsKind) -> Result<String, InputError> {
    let case_path = folder.join(CASE);
    let case = read(&case_path)?;
    let mut table: toml::Table = case.parse().map_err(|error| unreadable(&case_path, &error))?;
    table.retain(|key, _| !UNUSED.contains(&key));

    let found = &serde_json::to_value(found).map_err(|error| unreadable(folder, &error))?;
    if found["design"].is_null() {
        table.remove("design");
    }
    let units = Units::of(found, physics);
    let all = found["load_cases"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<&str> = all.iter().filter_map(|case| case["name"].as_str()).collect();

    let path = folder.join(ANALYSIS_FIELDS);
    let file = DesignFile::read(&path)?;
    let solid = file.built(None, None)?;
    let threshold = solid.threshold();
    let (names, units) = (names.as_slice(), &units);
    let results = Results { folder, path: &path, found, all, names, units, threshold };
    let (headline, states) = match physics {
        PhysicsKind::Elasticity => elastic::shown(&results)?,
        PhysicsKind::Heat => heat::shown(&results)?,
    };

    let page = Page {
        title: found["title"].as_str().unwrap_or("Analysis").into(),
        subtitle: format!("{} \u{b7} {}", text(&found["case"]), what(found)),
        headline,
        warnings: warnings::of_analysis(found),
        solid: &solid,
        states,
        part: part::of(&file, names, units, physics)?,
        problem: problem::groups(&table, found, &file.mesh, units),
        repeat: vec![
            Fact::new("Command", command(&case_path, found)),
            Fact::new("Version", format!("topopt {}", text(&found["topopt"]))),
        ],
        case,
    };
    Ok(page.html())
}

/// Describes the design that was solved: given densities or the full part.
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
