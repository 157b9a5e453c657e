//! Number of solves, iterations and accuracy of the linear solver.

use topopt_linalg::{PcgOutcome, StopReason};

use crate::SolveError;

/// Work and accuracy of several linear solves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effort {
    /// Number of solves.
    pub solves: usize,
    /// Iterations of conjugate gradients, summed over solves.
    pub iterations: usize,
    /// Number of slow solves during which the preconditioner was made stronger.
    pub strengthened: usize,
    /// Largest relative residual.
    pub residual: f64,
}

impl Effort {
    /// Counts a solve that has converged; any other end is an error.
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
