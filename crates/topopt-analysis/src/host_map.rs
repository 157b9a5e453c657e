//! Maps that a caller computes by itself, from densities on the host.

use topopt_linalg::BackendError;

/// A differentiable map y(x) of the density of all elements, `[n_elements]`.
pub trait HostMap: Send + Sync {
    /// Computes y at the density x, and the way back from there.
    ///
    /// # Errors
    /// [`BackendError`] if it cannot be computed.
    fn evaluate(&self, x: &[f64]) -> Result<(Vec<f64>, Pullback), BackendError>;
}

/// Product $(\partial y / \partial x)^T w$, `[n_elements]`, with a w of the size of y, at the x of
/// one evaluation.
pub type Pullback = Box<dyn Fn(&[f64]) -> Result<Vec<f64>, BackendError> + Send + Sync>;
