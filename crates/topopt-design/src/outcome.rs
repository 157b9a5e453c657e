//! How a run of the design loop ends.

use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, PcgOutcome};

use crate::{ObserverError, StopRule};

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Iterations whose design was evaluated.
    pub iterations: usize,
    /// Why it ended.
    pub ended: Ended,
}

/// Why a run ended.
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
        /// How the solve ended.
        outcome: PcgOutcome,
        /// The relative residual it was to reach.
        tolerance: f64,
    },
    /// The equation of the filter was not solved. The design evaluated last is the last one.
    Filter {
        /// Iteration that needed it.
        iteration: usize,
        /// How its solve ended.
        outcome: PcgOutcome,
    },
    /// A response or its gradient is not finite, or that of the objective vanishes: numbers beyond
    /// the range of doubles. No next design follows from them.
    Sensitivities {
        /// Iteration of the design, which is the one evaluated last.
        iteration: usize,
    },
}

/// Reason for which a run ended early.
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
