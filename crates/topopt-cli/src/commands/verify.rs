//! `topopt verify RESULT`

mod built;
mod elastic;
mod heat;

use std::io::Write;

use serde::Serialize;
use topopt_case::config::PhysicsKind;
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_study::failure::Failure;
use topopt_study::result_files::{VERIFIED, VERIFIED_DESIGN};
use topopt_study::run_directory::RunDirectory;
use topopt_study::thread_pool::thread_pool;
use topopt_study::verification::{Request, ThermalVerification, Verification};

use crate::args::VerifyArgs;

/// Solves the design of a run again as solid and void, and says what became of it and of the limits.
pub(super) fn verify(
    args: &VerifyArgs,
    out: &mut impl Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let results = RunDirectory::open(&args.results).map_err(InputError::from)?;
    let mut config = results.config()?;
    config.solver.device = args.device.unwrap_or(config.solver.device);
    let request =
        Request { threshold: args.threshold, smooth: args.smooth, gmsh: (&args.gmsh).into() };
    let threads = thread_pool(config.solver.threads)?;
    let physics = config.physics.kind;
    let limits = match physics {
        PhysicsKind::Elasticity => {
            let verify = || Verification::of(&results, &config, &request, interrupt);
            let found = threads.install(verify)?;
            tell(&found, elastic::print, args, &results, out)?;
            found.limits
        }
        PhysicsKind::Heat => {
            let verify = || ThermalVerification::of(&results, &config, &request, interrupt);
            let found = threads.install(verify)?;
            tell(&found, heat::print, args, &results, out)?;
            found.limits
        }
    };
    out.flush()?;
    limits.check(physics)
}

/// Says what was `found`, as JSON or for people.
fn tell<T: Serialize>(
    found: &T,
    print: fn(&T, &mut dyn Write) -> std::io::Result<()>,
    args: &VerifyArgs,
    results: &RunDirectory,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if args.json {
        serde_json::to_writer_pretty(&mut *out, found).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    let folder = results.path().display();
    writeln!(out, "{folder}")?;
    print(found, out)?;
    Ok(writeln!(out, "written to {VERIFIED} and {VERIFIED_DESIGN} in {folder}")?)
}
