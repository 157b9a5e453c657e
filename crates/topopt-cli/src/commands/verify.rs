//! `topopt verify RESULT`

mod built;

use std::io::Write;

use topopt_case::config::{Config, PhysicsKind};
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_case::of_physics;
use topopt_mesh::numbers::shown;
use topopt_study::failure::Failure;
use topopt_study::result_files::{VERIFIED, VERIFIED_DESIGN};
use topopt_study::run_directory::RunDirectory;
use topopt_study::thread_pool::thread_pool;
use topopt_study::verification::{Optimized, Remeshed, Request, Verification};

use super::physics::{CaseNumbers, OverallNumbers, Shown};
use crate::args::VerifyArgs;
use crate::commands::json;

/// Solves the design of a run again as solid and void, and says what became of it and of the limits.
pub(super) fn verify(
    args: &VerifyArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let results = RunDirectory::open(&args.results).map_err(InputError::from)?;
    let mut config = results.config()?;
    config.solver.device = args.device.unwrap_or(config.solver.device);
    of_physics!(config.physics.kind, tell(&config, args, &results, out, interrupt))
}

/// Prints the verification, as JSON or for people.
fn tell<K: Shown<N>, const N: usize>(
    config: &Config,
    args: &VerifyArgs,
    results: &RunDirectory,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let request =
        Request { threshold: args.threshold, remesh: args.remesh, gmsh: (&args.gmsh).into() };
    let optimized = Optimized::read(results, config).map_err(InputError::from)?;
    let verify = || K::verify(&optimized, config, &request, interrupt);
    let found = thread_pool(config.solver.threads)?.install(verify)?;
    if args.json {
        json::print(&found, out)?;
    } else {
        let folder = results.path().display();
        writeln!(out, "{folder}")?;
        print::<K, N>(&found, config.physics.kind, out)?;
        writeln!(out, "written to {VERIFIED} and {VERIFIED_DESIGN} in {folder}")?;
    }
    out.flush()?;
    found.limits.check(config.physics.kind, &found.built.made)
}

/// Prints all numbers.
fn print<K: Shown<N>, const N: usize>(
    found: &Verification<K::Overall, K::Case>,
    physics: PhysicsKind,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut compared = vec![("compliance", found.compliance)];
    compared.extend(found.overall.compared());
    compared
        .extend([("volume", found.built.volume), ("volume fraction", found.built.volume_fraction)]);
    let compared = compared.into_iter().map(|(key, numbers)| (physics.in_words(key), numbers));
    built::print_compared(compared, out)?;
    built::print_limits(&found.limits, physics, out)?;

    for (name, text) in rows::<K, N>(found) {
        writeln!(out, "  {name:<21}  {text}")?;
    }

    // The numbers of a single load case stand above, except for a balance of heat.
    let is_whole = found.load_cases.len() > 1;
    for case in &found.load_cases {
        writeln!(out, "  load case {}", case.name())?;
        for (name, text) in case.lines(found.pcg_residual, is_whole) {
            writeln!(out, "    {name:<19}  {text}")?;
        }
    }

    if let Some(remeshed) = &found.remeshed {
        print_remeshed::<K, N>(remeshed, out)?;
    }

    found.warnings.iter().try_for_each(|warning| writeln!(out, "  warning: {warning}"))?;
    found.notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))
}

/// Prints the built shape on a mesh of its own.
fn print_remeshed<K: Shown<N>, const N: usize>(
    found: &Remeshed<K::Overall, K::Case>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let Remeshed { elements, nodes, volume, compliance, verified_over_remeshed, .. } = found;
    writeln!(out, "  meshed anew: {elements} elements, {nodes} nodes, volume {}", shown(*volume))?;
    let compliance = shown(*compliance);
    let ratio = format!("{compliance}; verified / this {verified_over_remeshed:.4}");
    writeln!(out, "    {:<19}  {ratio}", "compliance")?;
    for (name, text) in found.largest.lines() {
        writeln!(out, "    {name:<19}  {text}")?;
    }
    found.notes.iter().try_for_each(|note| writeln!(out, "    note: {note}"))
}

/// Name and text of each line below the numbers compared.
fn rows<K: Shown<N>, const N: usize>(
    found: &Verification<K::Overall, K::Case>,
) -> Vec<(&'static str, String)> {
    let Verification { overall, built, pcg_iterations, device, pcg_residual, .. } = found;
    let mut rows = vec![("solid", built::solid(built)), ("void", overall.void())];
    rows.extend(found.mass.map(|mass| ("mass", overall.mass(mass))));
    rows.extend(overall.lines());
    rows.extend(built::rows(built));
    let solve =
        format!("{pcg_iterations} iterations on {device}, relative residual {pcg_residual:.1e}");
    rows.push(("solve", solve));
    rows
}
