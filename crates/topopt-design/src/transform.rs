//! Maps from design variables to the density that is built.

use topopt_fem::AveragingError;
use topopt_linalg::Backend;

/// A differentiable map of element fields, y = T(x), with its chain rule.
pub trait DesignTransform<B: Backend> {
    /// y = T(x); both `[n_elements]`.
    ///
    /// # Errors
    /// [`AveragingError`] if a filter fails.
    fn forward(
        &mut self,
        backend: &B,
        x: &B::Vector,
        y: &mut B::Vector,
    ) -> Result<(), AveragingError>;

    /// dC/dx = (dT/dx)^T dC/dy at the x of the last [`DesignTransform::forward`]; both
    /// `[n_elements]`.
    ///
    /// # Errors
    /// [`AveragingError`] if a filter fails.
    fn backward(
        &mut self,
        backend: &B,
        dy: &B::Vector,
        dx: &mut B::Vector,
    ) -> Result<(), AveragingError>;
}
