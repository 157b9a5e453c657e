//! Functions of one state, which responses are made of.

use topopt_linalg::{BackendError, Pointwise};

use crate::Moment;

/// A function of one state.
pub trait StateFunction<B: Pointwise> {
    /// Computes the value of the function.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError>;

    /// See [`Response::zero`](crate::Response::zero).
    fn zero(&self) -> f64 {
        0.0
    }

    /// Writes its derivative by the state to `out`, `[n_nodes][n]`, 0 at held components.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError>;
}

impl<B: Pointwise, F: StateFunction<B> + ?Sized> StateFunction<B> for Box<F> {
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError> {
        (**self).value(at)
    }

    fn zero(&self) -> f64 {
        (**self).zero()
    }

    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError> {
        (**self).slope(at, out)
    }
}
