//! Output of `topopt verify` for a heat design.

use std::io::Write;

use topopt_case::config::PhysicsKind;
use topopt_mesh::numbers::{place, rounded, shown};
use topopt_study::verification::ThermalVerification;

use super::built;
use crate::commands::load_cases::thermal;

/// Prints all numbers.
pub(super) fn print(found: &ThermalVerification, out: &mut dyn Write) -> std::io::Result<()> {
    let ThermalVerification { compliance, largest_temperature, built, .. } = found;
    let own = [
        ("thermal compliance", *compliance),
        ("largest temperature", largest_temperature.compared),
    ];
    built::print_compared(own.into_iter().chain(built::compared(built)), out)?;
    built::print_limits(&found.limits, PhysicsKind::Heat, out)?;
    built::print_rows(rows(found), out)?;
    for case in &found.load_cases {
        writeln!(out, "  load case {}", case.name)?;
        for (name, text) in thermal::numbers(case) {
            writeln!(out, "    {name:<19}  {text}")?;
        }
    }
    built::print_remarks(&found.warnings, &found.notes, out)
}

/// Name and text of each line below the numbers compared.
fn rows(found: &ThermalVerification) -> Vec<(&'static str, String)> {
    let ThermalVerification { pcg_iterations, device, pcg_residual, .. } = found;
    let hottest = &found.largest_temperature;
    let at =
        format!("node {}, {}, load case {}", hottest.node, place(hottest.at), hottest.load_case);
    let void = format!("{:e} of the conductivity", rounded(found.void_conductivity));
    let mut rows = vec![("solid", built::solid(&found.built)), ("void", void)];
    rows.extend(found.mass.map(|mass| ("mass", shown(mass))));
    rows.push(("hottest", at));
    rows.extend(built::rows(&found.built));
    rows.push(("solve", built::solve(*pcg_iterations, device, *pcg_residual)));
    rows
}
