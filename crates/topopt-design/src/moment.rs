//! States that responses are made of: one, or those of a history.

use topopt_linalg::{BackendError, Pointwise};

/// A state, and where it stands in a history.
#[derive(Clone, Copy)]
pub struct Moment<'m, B: Pointwise> {
    /// Backend of the vectors.
    pub backend: &'m B,
    /// The state, held values included, `[n_nodes][n]`.
    pub state: &'m B::Vector,
    /// The loads, 0 at held components, `[n_nodes][n]`.
    pub loads: &'m B::Vector,
    /// Weight of the state in the mean over time; 1 for a steady state.
    pub share: f64,
    /// Whether it is the one at the beginning.
    pub is_first: bool,
    /// Whether no other one follows.
    pub is_last: bool,
}

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
