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
    /// A response or its gradient is not finite, or that of the objective vanishes: numbers beyond the
    /// range of doubles. No next design follows from them.
    Sensitivities {
        /// Iteration of the design, which is the one evaluated last.
        iteration: usize,
    },
}

/// Why the states or the adjoint state of a design were not found.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The equation of the filter was not solved.
    #[error("the equation of the filter stopped at a relative residual of {:.1e}", .0.relative_residual)]
    Filter(PcgOutcome),
    /// The monitor of the solve asked to stop.
    #[error("the solve was interrupted")]
    Interrupted,
    /// The solve did not converge.
    #[error("the solve for `{load_case}` stopped at a relative residual of {:.1e}", outcome.relative_residual)]
    NotConverged {
        /// Name of the load case, or of the response of an adjoint state.
        load_case: String,
        /// How the solve ended.
        outcome: PcgOutcome,
        /// The relative residual it was to reach.
        tolerance: f64,
    },
}

impl From<AveragingError> for SolveError {
    fn from(error: AveragingError) -> Self {
        match error {
            AveragingError::Backend(error) => Self::Backend(error),
            AveragingError::NotSolved(outcome) => Self::Filter(outcome),
        }
    }
}

/// Why a run could not go on.
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
