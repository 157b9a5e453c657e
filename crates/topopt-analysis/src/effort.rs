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
    /// Products with the operator in the precision of the backend, summed over solves.
    pub products: usize,
    /// Number of slow solves during which the preconditioner was made stronger.
    pub strengthened: usize,
    /// Number of solves that ended short of their tolerance, and were good enough.
    pub short: usize,
    /// Largest relative residual.
    pub residual: f64,
}

impl Effort {
    /// Returns the effort of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            solves: self.solves + other.solves,
            iterations: self.iterations + other.iterations,
            products: self.products + other.products,
            strengthened: self.strengthened + other.strengthened,
            short: self.short + other.short,
            residual: self.residual.max(other.residual),
        }
    }

    /// Counts a solve that has converged, or has come to a relative residual of `enough` when its
    /// iterations ran out or rounding stopped it; any other end is an error.
    pub(crate) fn add(
        &mut self,
        outcome: PcgOutcome,
        [tolerance, enough]: [f64; 2],
        name: impl Fn() -> String,
    ) -> Result<(), SolveError> {
        self.solves += 1;
        self.iterations += outcome.iterations;
        self.products += outcome.products;
        self.strengthened += outcome.strengthened;
        let is_enough = outcome.relative_residual <= enough;
        match outcome.reason {
            StopReason::IterationLimit | StopReason::Stagnated if is_enough => {
                self.short += 1;
                self.residual = self.residual.max(outcome.relative_residual);
                Ok(())
            }
            StopReason::Converged => {
                self.residual = self.residual.max(outcome.relative_residual);
                Ok(())
            }
            StopReason::Interrupted => Err(SolveError::Interrupted),
            _ => Err(SolveError::NotConverged { load_case: name(), outcome, tolerance }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(reason: StopReason, relative_residual: f64) -> PcgOutcome {
        PcgOutcome { iterations: 7, products: 8, relative_residual, reason, strengthened: 0 }
    }

    #[test]
    fn what_is_enough_counts_where_iterations_run_out_or_rounding_stops() {
        let add = |reason, residual, enough| {
            let mut effort = Effort::default();
            let added = effort.add(outcome(reason, residual), [1e-5, enough], String::new);
            added.map(|()| (effort.short, effort.residual))
        };
        assert_eq!(add(StopReason::Converged, 1e-6, 0.0).unwrap(), (0, 1e-6));
        for reason in [StopReason::IterationLimit, StopReason::Stagnated] {
            assert_eq!(add(reason, 1e-4, 1e-3).unwrap(), (1, 1e-4));
            assert!(add(reason, 2e-3, 1e-3).is_err());
            assert!(add(reason, 1e-4, 0.0).is_err());
        }
        assert!(add(StopReason::Indefinite, 1e-4, 1e-3).is_err());
    }
}
