//! Symmetric maps of element fields that may fail: the operators of filters.

use topopt_linalg::{Backend, BackendError, PcgOutcome, Space};

/// The symmetric operator H of a filter. No conjugate gradients run over it, so it may fail.
pub trait Averaging<B: Backend>: Send + Sync {
    /// The space of x and y.
    fn space(&self) -> Space;

    /// y = H x.
    ///
    /// # Errors
    /// [`AveragingError`] if the device fails, or the equation that H solves was not solved; y is
    /// then of no use.
    fn apply(&self, x: &B::Vector, y: &mut B::Vector) -> Result<(), AveragingError>;
}

/// Why a filter gave nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AveragingError {
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A solve that did not converge.
    #[error(
        "the equation of the filter was not solved ({:?} after {} iterations, at relative residual \
         {:.1e})",
        .0.reason, .0.iterations, .0.relative_residual
    )]
    NotSolved(PcgOutcome),
}
