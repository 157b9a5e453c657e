//! Solver effort.

use topopt_linalg::{PcgOutcome, StopReason};

use crate::SolveError;

/// Solver effort of several solves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effort {
    /// How many solves there were.
    pub solves: usize,
    /// Iterations of conjugate gradients, summed over solves.
    pub iterations: usize,
    /// How often the preconditioner was made stronger in the course of a slow solve.
    pub strengthened: usize,
    /// Largest relative residual.
    pub residual: f64,
}

impl Effort {
    /// Counts a solve that has converged; what else it can end with is an error.
    pub(crate) fn add(
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
