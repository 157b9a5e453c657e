//! `topopt solve CASE` of heat.

use std::io::Write;

use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_mesh::numbers::shown;
use topopt_study::analysis::Request;
use topopt_study::failure::Failure;
use topopt_study::result_files::{ANALYSIS, ANALYSIS_FIELDS, ANALYSIS_PAGE};
use topopt_study::thermal::ThermalAnalysis;

use super::page;
use super::remarks::remarks;
use crate::args::SolveArgs;
use crate::commands::load_cases::thermal;

/// Solves the part of a case for heat, and says what was found.
pub(super) fn solve(
    config: &Config,
    request: &Request,
    args: &SolveArgs,
    out: &mut impl Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    if args.gauss.is_some() {
        let finding = Finding::new("`--gauss` writes stresses, which heat has none of");
        return Err(InputError::from(finding.remedy("remove it")).into());
    }
    let found = ThermalAnalysis::of(config, request, interrupt)?;
    let folder = config.output_directory();
    page::write(&folder, &found, config.physics.kind)?;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &found).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }

    print(&found, out)?;
    let table = if found.transient.is_some() { "transient.csv, " } else { "" };
    let folder = folder.display();
    Ok(writeln!(
        out,
        "written to {table}{ANALYSIS_FIELDS}, {ANALYSIS} and {ANALYSIS_PAGE} in {folder}"
    )?)
}

fn print(found: &ThermalAnalysis, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}", found.title.as_ref().unwrap_or(&found.case))?;
    for (name, text) in rows(found) {
        writeln!(out, "  {name:<22}  {text}")?;
    }
    for case in &found.load_cases {
        writeln!(out, "  load case {}", case.name)?;
        for (name, text) in thermal::numbers(case) {
            writeln!(out, "    {name:<20}  {text}")?;
        }
    }
    remarks(&found.notes, &found.warnings, out)
}

/// Name and text of each line above the load cases.
fn rows(found: &ThermalAnalysis) -> Vec<(&'static str, String)> {
    let solved = match &found.design {
        Some(design) => format!("heat in the densities of {design}"),
        None => "heat in the full part".into(),
    };
    let mesh =
        format!("{} elements, {} nodes, {} unknowns", found.elements, found.nodes, found.free_dofs);
    let mut rows = vec![("solved", solved), ("mesh", mesh), ("volume", shown(found.volume))];
    rows.extend(found.transient.as_ref().map(|time| {
        let text = format!(
            "{} steps to {}, theta {}; {} stored",
            time.steps,
            shown(time.end),
            shown(time.theta),
            shown(time.stored)
        );
        ("in time", text)
    }));
    let solve = format!(
        "{} iterations on {}, relative residual {:.1e}, {:.2} s",
        found.pcg_iterations, found.device, found.pcg_residual, found.seconds
    );
    rows.push(("solve", solve));
    rows
}
