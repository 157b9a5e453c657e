//! Shorter moves while limits of states are missed by more and more.

use topopt_linalg::Backend;

use crate::Subproblem;
use crate::optimizer::KEPT;

/// Share of the move limit that designs take, and how far the last one missed a limit.
///
/// A sharp projection makes displacements rise by powers within a move, and slopes do not tell. The
/// member that has become weak then hides the others, and each design loses more of
/// these, unless moves become so short that slopes hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Caution {
    /// Share of the move limit, at most 1.
    pub share: f64,
    /// Largest excess of a response of states, over its limit; 0 where all are kept.
    pub missed: f64,
}

/// Factors of the share after a design that misses its limits by more than the one before it, and
/// after others; its least value.
const SHRINK: f64 = 0.5;
const GROW: f64 = std::f64::consts::SQRT_2;
const LEAST: f64 = 1.0 / 64.0;

impl Default for Caution {
    fn default() -> Self {
        Self { share: 1.0, missed: 0.0 }
    }
}

impl Caution {
    /// The caution that follows from the design of `problem`.
    pub fn after<B: Backend>(self, problem: &Subproblem<B>) -> Self {
        let limited = problem.constraints.iter().enumerate();
        let of_states = limited.filter(|(i, f)| f.share == 0.0 && !problem.others.is_of_design(*i));
        let missed = of_states.map(|(_, f)| f.excess()).fold(0.0, f64::max);
        let factor = if missed > KEPT.max(self.missed) { SHRINK } else { GROW };
        Self { share: (factor * self.share).clamp(LEAST, 1.0), missed }
    }
}
