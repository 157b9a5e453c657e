//! Temperatures and heat flux of the last design of a run.

use serde_json::{Value, json};
use topopt_case::finding::Finding;
use topopt_report::States;
use topopt_study::design_file::DesignFile;
use topopt_study::run_directory::RunDirectory;
use topopt_study::solved_file::ThermalFile;

use crate::commands::pages::{cases, thermal};

/// Pages of more load cases show so many of them.
const MOST_PICTURED: usize = 5;

/// Reads the states of the load cases `names`; `threshold` is the density at the surface of the pictures.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn states(
    results: &RunDirectory,
    file: &DesignFile,
    threshold: f64,
    names: &[&str],
) -> Result<States, Finding> {
    let mut fields = ThermalFile::of_densities(&results.design(), names, threshold)?;
    let carries = file.carrying_nodes();
    let heat = file.heat(names)?;
    let cases = names.iter().zip(&fields.temperatures).zip(&heat);
    let all: Vec<Value> = cases
        .map(|((name, temperatures), heat)| {
            let extreme = |before: fn(&f64, &f64) -> bool| {
                let nodes = (0..temperatures.len()).filter(|&node| carries[node]);
                let first = |a, b| if before(&temperatures[b], &temperatures[a]) { b } else { a };
                let node = nodes.reduce(first).unwrap_or_default();
                json!({ "temperature": temperatures[node], "at": file.mesh.coordinates()[node] })
            };
            let into = heat.iter().sum::<f64>();
            json!({
                "name": name,
                "hottest": extreme(f64::gt),
                "coldest": extreme(f64::lt),
                "into_nodes": into,
            })
        })
        .collect();

    fields.temperatures.truncate(MOST_PICTURED);
    fields.fluxes.truncate(MOST_PICTURED);
    let mut notes = vec![
        "Optimized design with its intermediate densities, without nodes in void.".into(),
        thermal::ABOUT.to_owned(),
    ];
    if names.len() > MOST_PICTURED {
        let n = names.len();
        notes.push(format!("The pictures show the first {MOST_PICTURED} of {n} load cases."));
    }
    Ok(States {
        title: thermal::TITLE.into(),
        fields: thermal::pictures(fields, &all),
        cases: cases::heat::table(&json!({ "load_cases": all })),
        curves: Vec::new(),
        notes,
    })
}
