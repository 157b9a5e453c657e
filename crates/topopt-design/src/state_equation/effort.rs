//! Solver effort.

use topopt_linalg::{PcgOutcome, StopReason};

use crate::SolveError;

/// Solver effort of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Effort {
    pub solves: usize,
    /// Iterations of conjugate gradients, summed over solves.
    pub iterations: usize,
    pub strengthened: usize,
    /// Largest relative residual.
    pub residual: f64,
}

impl Effort {
    /// Counts a solve that has converged; what else it can end with is an error.
    pub fn add(
        &mut self,
        outcome: PcgOutcome,
        tolerance: f64,
        name: impl Fn() -> String,
    ) -> Result<(), SolveError> {
        self.solves += 1;
        self.iterations += outcome.iterations;
        self.strengthened += outcome.strengthened;
        match outcome.reason {
            StopReason::Converged => {
                self.residual = self.residual.max(outcome.relative_residual);
                Ok(())
            }
            StopReason::Interrupted => Err(SolveError::Interrupted),
            _ => Err(SolveError::NotConverged { load_case: name(), outcome, tolerance }),
        }
    }
}
