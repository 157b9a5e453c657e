//! `topopt solve CASE`

mod heat;
mod page;
mod remarks;

use std::io::Write;

use topopt_case::config::{Config, PhysicsKind};
use topopt_case::finding::InputError;
use topopt_case::free_memory;
use topopt_case::interrupt::Interrupt;
use topopt_mesh::numbers::{place, shown};
use topopt_report::PICTURE_BYTES;
use topopt_study::analysis::{self, Analysis, AnalyzedCase, PeakStress, Request};
use topopt_study::failure::Failure;
use topopt_study::output_folder::Earlier;
use topopt_study::result_files::{ANALYSIS, ANALYSIS_FIELDS, ANALYSIS_PAGE};

use super::load_cases::{forces, mass_text, numbers, safety_factors};
use crate::args::SolveArgs;
use remarks::remarks;

/// Solves the part of a case once, and says what was found.
pub(super) fn solve(
    args: &SolveArgs,
    out: &mut impl Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    free_memory::check_page(PICTURE_BYTES).map_err(InputError::from)?;
    let config = configuration(args)?;
    let request = Request {
        design: args.design.clone(),
        earlier: match (args.resume, args.overwrite) {
            (true, _) => Earlier::Continue,
            (_, true) => Earlier::Replace,
            _ => Earlier::Keep,
        },
        gauss: args.gauss.clone(),
        gmsh: (&args.gmsh).into(),
    };
    if config.physics.kind == PhysicsKind::Heat {
        return heat::solve(&config, &request, args, out, interrupt);
    }
    let found = Analysis::of(&config, &request, interrupt)?;
    let folder = config.output_directory();
    page::write(&folder, &found, config.physics.kind)?;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &found).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }

    print(&found, out)?;
    if let Some(path) = &args.gauss {
        writeln!(out, "stresses at the Gauss points written to {}", path.display())?;
    }
    let folder = folder.display();
    Ok(writeln!(out, "written to {ANALYSIS_FIELDS}, {ANALYSIS} and {ANALYSIS_PAGE} in {folder}")?)
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

fn print(found: &Analysis, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}", found.title.as_ref().unwrap_or(&found.case))?;
    for (name, text) in rows(found) {
        writeln!(out, "  {name:<22}  {text}")?;
    }
    for AnalyzedCase { solved, gauss_points, gauss_point_safety_factors } in &found.load_cases {
        writeln!(out, "  load case {}", solved.name)?;
        let mut lines = numbers(solved);
        lines.push((String::new(), at_gauss_point(gauss_points)));
        lines.extend(safety_factors(&solved.safety_factors));
        let at_points = safety_factors(gauss_point_safety_factors).into_iter();
        lines
            .extend(at_points.map(|(_, text)| (String::new(), format!("at a Gauss point {text}"))));
        lines.extend(forces(solved, found.pcg_residual));
        for (name, text) in lines {
            writeln!(out, "    {name:<20}  {text}")?;
        }
    }
    remarks(&found.notes, &found.warnings, out)
}

/// Name and text of each line above the load cases.
fn rows(found: &Analysis) -> Vec<(&'static str, String)> {
    let solved = match &found.design {
        Some(design) => format!("the densities of {design}"),
        None => "the full part".into(),
    };
    let mut rows = vec![
        ("solved", solved),
        (
            "mesh",
            format!(
                "{} elements, {} nodes, {} unknowns",
                found.elements, found.nodes, found.free_dofs
            ),
        ),
        ("volume", shown(found.volume)),
    ];
    rows.extend(found.mass.map(|mass| ("mass", mass_text(mass, found.units.as_ref()))));
    let solve = format!(
        "{} iterations on {}, relative residual {:.1e}, {:.2} s",
        found.pcg_iterations, found.device, found.pcg_residual, found.seconds
    );
    rows.push(("solve", solve));
    rows
}

fn at_gauss_point(peak: &PeakStress) -> String {
    let (maximum, at) = (shown(peak.maximum), place(peak.at));
    format!("at a Gauss point up to {maximum}, element {}, {at}", peak.element)
}
