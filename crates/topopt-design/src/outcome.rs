//! `Outcome` and errors of a run of the design loop.

use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, PcgOutcome};

use crate::{ObserverError, StopRule};

/// Outcome of a run: number of iterations, and the reason of its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Iterations whose design was evaluated.
    pub iterations: usize,
    /// Reason of the end.
    pub ended: Ended,
}

/// Reason for which a run ended with a design.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// A stop rule was met.
    Rule(StopRule),
    /// An observer asked to stop.
    Interrupted,
    /// A solve did not converge.
    Solver {
        /// Iteration of the design.
        iteration: usize,
        /// Name of the load case, or of the response of an adjoint state.
        load_case: String,
        /// End of the solve, with its residual.
        outcome: PcgOutcome,
        /// The requested relative residual.
        tolerance: f64,
    },
    /// The equation of the filter was not solved. The design evaluated last is the final one.
    Filter {
        /// Iteration with that filter.
        iteration: usize,
        /// End of the solve, with its residual.
        outcome: PcgOutcome,
    },
    /// A response or its gradient is not finite, or the gradient of the objective vanishes: numbers
    /// left the range of doubles, and no next design follows from them.
    Sensitivities {
        /// Iteration of the design evaluated last.
        iteration: usize,
    },
}

/// Failure for which a run ended without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// Parts that do not fit each other.
    #[error("{0}")]
    Unsuitable(String),
    /// The filter failed before the first design.
    #[error(transparent)]
    Filter(#[from] AveragingError),
    /// An observer failed.
    #[error(transparent)]
    Observer(ObserverError),
}
