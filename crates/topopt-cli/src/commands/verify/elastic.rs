//! Output of `topopt verify` for an elastic design.

use std::io::Write;

use topopt_case::config::PhysicsKind;
use topopt_study::verification::Verification;

use super::built;
use crate::commands::load_cases::{
    displacement, forces, largest, mass_text, numbers, percentiles, safety_factors,
};

/// Prints all numbers.
pub(super) fn print(found: &Verification, out: &mut dyn Write) -> std::io::Result<()> {
    let Verification { compliance, built, .. } = found;
    let compared = [("compliance", *compliance)].into_iter().chain(built::compared(built));
    built::print_compared(compared, out)?;
    built::print_limits(&found.limits, PhysicsKind::Elasticity, out)?;
    built::print_rows(rows(found), out)?;
    // The numbers of a single load case stand above.
    let with_numbers = found.load_cases.len() > 1;
    for case in &found.load_cases {
        writeln!(out, "  load case {}", case.name)?;
        let mut lines = if with_numbers { numbers(case) } else { Vec::new() };
        lines.extend(safety_factors(&case.safety_factors));
        for (name, text) in lines.into_iter().chain(forces(case, found.pcg_residual)) {
            writeln!(out, "    {name:<19}  {text}")?;
        }
    }
    built::print_remarks(&found.warnings, &found.notes, out)
}

/// Name and text of each line below the numbers compared.
fn rows(found: &Verification) -> Vec<(&'static str, String)> {
    let Verification { largest_displacement: moved, von_mises: stress, .. } = found;
    let void = format!("{:e} of the stiffness", found.void_stiffness);
    let mut rows = vec![("solid", built::solid(&found.built)), ("void", void)];
    rows.extend(found.mass.map(|mass| ("mass", mass_text(mass, found.units.as_ref()))));
    rows.extend([
        ("largest displacement", format!("{}, load case {}", displacement(moved), moved.load_case)),
        ("von Mises stress", percentiles(stress)),
        ("", format!("{}, load case {}", largest(stress), stress.load_case)),
    ]);
    rows.extend(built::rows(&found.built));
    let Verification { pcg_iterations, device, pcg_residual, .. } = found;
    rows.push(("solve", built::solve(*pcg_iterations, device, *pcg_residual)));
    rows
}
