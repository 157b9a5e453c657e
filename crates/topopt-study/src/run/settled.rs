//! The last design of a run, as it is built, and what ends its solves.

use std::ops::ControlFlow;

use topopt_case::interrupt::Interrupt;
use topopt_design::{DesignError, Ended, Optimization};
use topopt_linalg::{Communicator, Monitor, PcgProgress, Pointwise};

use super::watcher::Watcher;
use crate::computer::Solvable;

/// Design that a run ends with.
pub(super) enum Settled {
    /// The last one.
    Last,
    /// The kept one.
    Kept,
    /// The last one as the loop solved it, since an interruption came before it was settled.
    Interrupted,
}

/// Settles the last design of a run that `ended`: as it is built, or where members have broken the
/// last whole one. Solves up to a decision may be interrupted, and those that follow one may not:
/// fields and numbers are of one design. All ranks do.
pub(super) fn settle_last<B: Pointwise + Sync, K: Solvable<N>, const N: usize>(
    optimization: &mut Optimization<B>,
    watcher: &mut Watcher<K, N>,
    ended: &Ended,
    is_crisp: bool,
) -> Result<Settled, DesignError> {
    let has_failed = match ended {
        Ended::Rule(_) => false,
        Ended::Solver { .. } => true,
        _ => return Ok(Settled::Last),
    };
    let (ranks, interrupt) = (watcher.ranks, watcher.interrupt);
    let mut until = |_| until_interrupted(ranks, interrupt);
    if !has_failed && !solve_as_built(optimization, watcher, is_crisp, &mut until)? {
        return Ok(Settled::Interrupted);
    }

    let kept = watcher.before_tear(has_failed);
    if !ranks.any(kept.is_some()) {
        watcher.stay();
        return Ok(Settled::Last);
    }
    let last = optimization.design().density()?;
    // The other ranks get their parts of the density from the first one.
    let Some(report) = optimization.settle(&kept.unwrap_or_default(), &mut until)? else {
        return Ok(match is_interrupted(ranks, interrupt) {
            true => Settled::Interrupted,
            false => Settled::Last,
        });
    };
    let stays = !has_failed && !ranks.any(watcher.is_better(&report));
    if stays && optimization.settle(&last, &mut to_the_end)?.is_some() {
        watcher.stay();
        return Ok(Settled::Last);
    }
    watcher.go_back(&report, has_failed);
    solve_as_built(optimization, watcher, is_crisp, &mut to_the_end)?;
    Ok(Settled::Kept)
}

/// Solves the last design as it is built, without islands if it is crisp, where the loop solved
/// another one, and returns whether no interruption ended that. All ranks do.
fn solve_as_built<B: Pointwise + Sync, K: Solvable<N>, const N: usize>(
    optimization: &mut Optimization<B>,
    watcher: &mut Watcher<K, N>,
    is_crisp: bool,
    monitor: &mut Monitor,
) -> Result<bool, DesignError> {
    let cleaned = match is_crisp {
        true => watcher.cleaned(&optimization.design())?,
        false => None,
    };
    if !watcher.ranks.any(cleaned.is_some()) && !optimization.solves_thinner() {
        return Ok(true);
    }

    let built = optimization.design().density()?;
    let density = cleaned.as_ref().map_or(&built, |cleaned| &cleaned.density);
    let Some(report) = optimization.settle(density, monitor)? else {
        return Ok(!is_interrupted(watcher.ranks, watcher.interrupt));
    };

    let is_torn = watcher.ranks.any(cleaned.is_some() && watcher.has_lost_members(&report));
    // Without islands it can be solved at least, where the other one cannot.
    match is_torn.then(|| optimization.settle(&built, &mut to_the_end)).transpose()?.flatten() {
        Some(whole) => watcher.take(&whole, None),
        None => watcher.take(&report, cleaned.as_ref()),
    }
    Ok(true)
}

/// Never ends a solve.
fn to_the_end(_: PcgProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Whether an interruption is requested on any rank.
pub(super) fn is_interrupted(ranks: &dyn Communicator, interrupt: &Interrupt) -> bool {
    ranks.any(interrupt.is_requested())
}

/// Ends a solve once an interruption is requested on any rank.
pub(super) fn until_interrupted(
    ranks: &dyn Communicator,
    interrupt: &Interrupt,
) -> ControlFlow<()> {
    match is_interrupted(ranks, interrupt) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}
