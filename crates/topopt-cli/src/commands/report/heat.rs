//! Temperatures and heat flux of the last design of a run.

use topopt_case::finding::Finding;
use topopt_fem::Diffusion;
use topopt_report::States;
use topopt_study::design_file::DesignFile;
use topopt_study::heat::{Extreme, HeatCase};
use topopt_study::run_directory::RunDirectory;

use crate::commands::pages::wording::{Units, pictured};
use crate::commands::physics::{CaseNumbers, Shown};

/// Reads the states of the load cases `names`; `threshold` is the density at the surface of the pictures.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn states(
    results: &RunDirectory,
    file: &DesignFile,
    threshold: f64,
    names: &[&str],
    units: &Units,
) -> Result<States, Finding> {
    let carries = file.carrying_nodes();
    let all = names.iter().zip(file.temperatures(names)?).zip(file.heat(names)?);
    let cases: Vec<HeatCase> = all
        .map(|((name, temperatures), heat)| {
            let extreme = |before: fn(&f64, &f64) -> bool| {
                let nodes = (0..temperatures.len()).filter(|&node| carries[node]);
                let first = |a, b| if before(&temperatures[b], &temperatures[a]) { b } else { a };
                let node = nodes.reduce(first).unwrap_or_default();
                let (temperature, at) = (temperatures[node], file.mesh.coordinates()[node]);
                Extreme { temperature, node: None, at }
            };
            HeatCase {
                name: (*name).into(),
                compliance: None,
                coldest: extreme(f64::lt),
                hottest: extreme(f64::gt),
                heat: None,
                into_nodes: Some(heat.iter().sum()),
            }
        })
        .collect();

    let (shown, left_out) = pictured(&cases);
    let about = "Optimized design with its intermediate densities, without nodes in void.";
    let notes = [about, Diffusion::ABOUT].map(str::to_owned).into_iter();
    Ok(States {
        title: Diffusion::TITLE.into(),
        fields: Diffusion::pictures(&results.design(), shown, threshold, units)?,
        cases: HeatCase::table(&cases, 0.0, units),
        curves: Vec::new(),
        notes: notes.chain(left_out).collect(),
    })
}
