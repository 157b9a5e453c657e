//! Course of a solve that takes its steps in less precision, as long as rounding allows: conjugate
//! gradients whose residual is replaced by the true one [Clark2010].

use crate::{Backend, LowerPrecision, PcgOutcome, StopReason};

/// Part of a residual that a correction leaves: at first, at least and at most. A smaller one takes
/// steps by a residual that rounding has led astray; a larger one, more true residuals.
const LEFT: f64 = 1e-3;
const LEAST_LEFT: f64 = 1e-6;
const MOST_LEFT: f64 = 0.1;

/// Course of a solve from one true residual to the next.
pub(super) struct Course<'m, B: Backend> {
    /// Steps in less precision; none where there are none, or rounding has failed them.
    pub lower: Option<&'m dyn LowerPrecision<B>>,
    /// Part of the residual that the next correction leaves.
    pub left: f64,
    /// Relative residuals from which the pace of corrections is judged.
    pub since: [f64; 2],
    /// Last true residual, and what the steps from there ended with by their own residual; infinite
    /// where no direction is kept.
    previous: f64,
    by_steps: f64,
}

impl<'m, B: Backend> Course<'m, B> {
    /// A course with steps by `lower`, if there is one.
    pub fn new(lower: Option<&'m dyn LowerPrecision<B>>) -> Self {
        let infinite = f64::INFINITY;
        Self { lower, left: LEFT, since: [infinite; 2], previous: infinite, by_steps: infinite }
    }

    /// Whether rounding keeps the true residual: it is not even half the last one.
    pub fn has_stagnated(&self, residual: f64) -> bool {
        self.lower.is_none() && self.is_stuck(residual)
    }

    fn is_stuck(&self, residual: f64) -> bool {
        residual > 0.5 * self.previous
    }

    /// Takes the true residual, from which the next steps are taken; returns whether their first
    /// direction is conjugate to the last one.
    pub fn restart(&mut self, residual: f64) -> bool {
        if self.is_stuck(residual) {
            self.give_up();
        } else if self.previous.is_finite() {
            // A correction leaves as much as rounding allows.
            let is_true = residual < 2.0 * self.by_steps;
            let left = if is_true { 0.1 * self.left } else { residual / self.previous };
            self.left = left.clamp(LEAST_LEFT, MOST_LEFT);
        } else {
            self.since = [residual; 2];
        }
        let keeps_direction = self.previous.is_finite();
        self.previous = residual;
        keeps_direction
    }

    /// Takes how the steps ended; returns whether a true residual is to be computed.
    pub fn goes_on(&mut self, run: &PcgOutcome) -> bool {
        self.by_steps = run.relative_residual;
        let has_failed = has_failed(run) && self.lower.is_some();
        if has_failed {
            self.give_up();
        }
        has_failed || run.reason == StopReason::Converged
    }

    /// Takes all further steps in the precision of the solve.
    fn give_up(&mut self) {
        (self.lower, self.previous) = (None, f64::INFINITY);
    }
}

/// Whether steps ended where rounding in less precision may lead.
pub(super) fn has_failed(run: &PcgOutcome) -> bool {
    matches!(run.reason, StopReason::Indefinite | StopReason::NotFinite)
}
