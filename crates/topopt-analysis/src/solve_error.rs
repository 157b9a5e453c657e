//! `SolveError`: why a solve for states failed.

use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, PcgOutcome};

/// Why the states or the adjoint state of a design were not found.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The equation of a filter of the design was not solved.
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
        /// End of the solve, with its residual.
        outcome: PcgOutcome,
        /// The requested relative residual.
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
