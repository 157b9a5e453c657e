//! `topopt solve CASE` of heat.

use std::io::Write;

use topopt_mesh::numbers::{place, shown};
use topopt_study::analysis::Request;
use topopt_study::config::Config;
use topopt_study::failure::Failure;
use topopt_study::finding::{Finding, InputError};
use topopt_study::interrupt::Interrupt;
use topopt_study::result_files::{ANALYSIS, ANALYSIS_FIELDS};
use topopt_study::thermal::{Extreme, HeatBalance, ThermalAnalysis};

use crate::args::SolveArgs;

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
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &found).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }

    print(&found, out)?;
    let folder = config.output_directory();
    let table = if found.transient.is_some() { "transient.csv, " } else { "" };
    let folder = folder.display();
    Ok(writeln!(out, "written to {table}{ANALYSIS_FIELDS} and {ANALYSIS} in {folder}")?)
}

fn print(found: &ThermalAnalysis, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}", found.title.as_ref().unwrap_or(&found.case))?;
    for (name, text) in rows(found) {
        writeln!(out, "  {name:<22}  {text}")?;
    }
    for case in &found.load_cases {
        writeln!(out, "  load case {}", case.name)?;
        let compliance = case.compliance.map(|value| ("thermal compliance".into(), shown(value)));
        let extremes = [
            ("coldest".into(), extreme(&case.coldest)),
            ("hottest".into(), extreme(&case.hottest)),
        ];
        let lines = compliance.into_iter().chain(extremes).chain(balance(&case.heat));
        for (name, text) in lines {
            writeln!(out, "    {name:<20}  {text}")?;
        }
    }
    found.notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))
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

fn extreme(at: &Extreme) -> String {
    format!("{} at node {}, {}", shown(at.temperature), at.node, place(at.at))
}

/// Where heat comes in.
fn balance(heat: &HeatBalance) -> Vec<(String, String)> {
    let mut lines = vec![("heat of loads".to_owned(), shown(heat.loads))];
    if heat.convection != 0.0 {
        lines.push(("convection".into(), shown(heat.convection)));
    }
    for support in &heat.supports {
        lines.push((format!("support {}", support.set), shown(support.heat)));
    }
    if heat.stored != 0.0 {
        lines.push(("stored".into(), shown(heat.stored)));
    }
    lines.push(("sum".into(), shown(heat.sum)));
    lines
}
