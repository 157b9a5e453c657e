//! A run: the design loop on the computer of a case, and those that observe it.

mod begun;
mod coarse;
mod design_run;
mod on_ranks;
mod prepared;
mod request;
mod settled;
mod watcher;

use std::time::Instant;

use topopt_case::config::Config;
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_case::of_physics;

use crate::computer::Solvable;
use crate::failure::Failure;
use crate::observer::StudyObserver;
use crate::place::Place;
use crate::thread_pool::thread_pool;
use design_run::DesignRun;
use prepared::Prepared;
use request::Asked;

pub use crate::resumption::began_with_design;
pub use request::Request;

/// Runs a case; `observer` receives its designs and may end it. `interrupt` may be set at any time
/// to end the run after the current iteration of conjugate gradients. Files are written as the
/// request says; the folder of the results is touched only when all that can be refused has been
/// looked at.
///
/// # Errors
/// [`Failure`]: input that cannot be run, files that cannot be written, a device or a solve that
/// fails.
pub fn run(
    config: &Config,
    request: &Request,
    observer: &mut dyn StudyObserver,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    request.check_own(config).map_err(InputError::from)?;
    let mut config = config.clone();
    config.ranks = request.team.size();
    let asked = Asked { config: &config, request, interrupt, start: Instant::now() };
    of_physics!(config.physics.kind, run_of(asked, observer))
}

/// Runs a case of one physics.
fn run_of<K: Solvable<N>, const N: usize>(
    asked: Asked,
    observer: &mut dyn StudyObserver,
) -> Result<(), Failure> {
    if asked.request.team.size() > 1 {
        return on_ranks::run::<K, N>(asked, observer);
    }
    let solver = &asked.config.solver;
    thread_pool(solver.threads)?.install(|| {
        // A GPU takes a while to open.
        let place = || Place::find(asked.config.solver.device);
        let (place, prepared) = Prepared::<K, N>::of(asked, place, coarse::begin::<K, N>)?;
        place.visit(DesignRun::of_first(
            asked,
            &prepared,
            prepared.model.subject_of_run(),
            observer,
        ))
    })
}
