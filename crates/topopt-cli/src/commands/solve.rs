//! `topopt solve CASE`

mod page;

use std::io::Write;

use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::{free_memory, of_physics};
use topopt_mesh::numbers::shown;
use topopt_report::PICTURE_BYTES;
use topopt_study::analysis::{self, Analysis, Request};
use topopt_study::failure::Failure;
use topopt_study::output_folder::Earlier;
use topopt_study::result_files::{ANALYSIS, ANALYSIS_FIELDS, ANALYSIS_PAGE, TRANSIENT};

use super::pages::wording::mass_text;
use super::physics::{CaseNumbers, Shown};
use crate::args::SolveArgs;
use crate::commands::json;

/// Solves the part of a case once, and says what was found.
pub(super) fn solve(
    args: &SolveArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    free_memory::check_page(PICTURE_BYTES).map_err(InputError::from)?;
    let config = configuration(args)?;
    let physics = config.physics.kind.data();
    if args.gauss.is_some() && !physics.has_forces {
        let message = format!("`--gauss` writes stresses, which {} has none of", physics.name);
        return Err(InputError::from(Finding::new(message).remedy("remove it")).into());
    }
    of_physics!(config.physics.kind, solve_of(&config, args, out, interrupt))
}

fn solve_of<K: Shown<N>, const N: usize>(
    config: &Config,
    args: &SolveArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let request = Request {
        design: args.design.clone(),
        density: None,
        mesh: None,
        files: Some(match (args.resume, args.overwrite) {
            (true, _) => Earlier::Continue,
            (_, true) => Earlier::Replace,
            _ => Earlier::Keep,
        }),
        gauss: args.gauss.clone(),
        gmsh: (&args.gmsh).into(),
    };
    let found = K::analyze(config, &request, interrupt)?;
    let folder = config.output_directory();
    page::write::<K, N>(&folder, &found, config.physics.kind)?;
    if args.json {
        return json::print(&found, out);
    }

    print::<K, N>(&found, out)?;
    if let Some(path) = &args.gauss {
        writeln!(out, "stresses at the Gauss points written to {}", path.display())?;
    }
    let table = found.transient.as_ref().map_or(String::new(), |_| format!("{TRANSIENT}, "));
    let folder = folder.display();
    Ok(writeln!(
        out,
        "written to {table}{ANALYSIS_FIELDS}, {ANALYSIS} and {ANALYSIS_PAGE} in {folder}"
    )?)
}

/// The case file with what the command line says instead, and the folder of the analysis.
fn configuration(args: &SolveArgs) -> Result<Config, InputError> {
    let mut config = Config::load_for_analysis(&args.case, &args.set)?;
    let directory = args.output.clone().unwrap_or_else(|| analysis::default_directory(&config));
    config.output.directory = Some(directory);
    if !config.gives("solver.tolerance") {
        config.solver.tolerance = analysis::TOLERANCE;
    }
    config.solver.device = args.device.unwrap_or(config.solver.device);
    Ok(config)
}

fn print<K: Shown<N>, const N: usize>(
    found: &Analysis<K::Case>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "{}", found.title.as_ref().unwrap_or(&found.case))?;
    for (name, text) in rows::<K, N>(found) {
        writeln!(out, "  {name:<22}  {text}")?;
    }
    for case in &found.load_cases {
        writeln!(out, "  load case {}", case.name())?;
        for (name, text) in case.lines(found.pcg_residual, true) {
            writeln!(out, "    {name:<20}  {text}")?;
        }
    }
    let mut notes = found.notes.iter().chain(&found.rounding);
    notes.try_for_each(|note| writeln!(out, "  note: {note}"))?;
    found.warnings.iter().try_for_each(|warning| writeln!(out, "  warning: {warning}"))
}

/// Name and text of each line above the load cases.
fn rows<K: Shown<N>, const N: usize>(found: &Analysis<K::Case>) -> Vec<(&'static str, String)> {
    let part = match &found.design {
        Some(design) => format!("{}the densities of {design}", K::SOLVED),
        None => format!("{}the full part", K::SOLVED),
    };
    let mesh =
        format!("{} elements, {} nodes, {} unknowns", found.elements, found.nodes, found.free_dofs);
    let mut rows = vec![("solved", part), ("mesh", mesh), ("volume", shown(found.volume))];
    rows.extend(found.mass.map(|mass| ("mass", mass_text(mass, found.units.as_ref()))));
    rows.extend(found.transient.as_ref().map(|time| {
        let [end, theta, stored] = [time.end, time.theta, time.stored].map(shown);
        ("in time", format!("{} steps to {end}, theta {theta}; {stored} stored", time.steps))
    }));
    let solve = format!(
        "{} iterations on {}, relative residual {:.1e}, {:.2} s",
        found.pcg_iterations, found.device, found.pcg_residual, found.seconds
    );
    rows.push(("solve", solve));
    rows
}
