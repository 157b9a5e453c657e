//! Quantities that a design is judged by.

use topopt_linalg::{BackendError, Monitor, Pointwise};

use crate::{Measures, Moment, SolveError, StateEquation};

/// A function of the physical density and of the states, with its gradient.
pub trait Response<B: Pointwise> {
    /// Name, such as `compliance`.
    fn name(&self) -> &str;

    /// Quantities that the response depends on.
    fn dependence(&self) -> Dependence;

    /// The value that it counts from, such as the coldest temperature that is held: changes are
    /// shares of the distance from it, and weights are factors of that.
    fn zero(&self) -> f64 {
        0.0
    }

    /// Receives the states of a history, in their order, before the call of `value`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn observe(&mut self, _at: &Moment<B>) -> Result<(), BackendError> {
        Ok(())
    }

    /// Computes the value of the response.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError>;

    /// Writes its gradient by the physical density, `[n_elements]`, to `gradient`, whose content is
    /// undefined before. Adjoint solves are those of [`Evaluated::equation`], which takes
    /// `monitor`.
    ///
    /// # Errors
    /// [`SolveError`] if the device or an adjoint solve fails.
    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError>;
}

/// Quantities that a response depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// The physical density alone, and linearly without a constant: it is its gradient times the
    /// density.
    Linear,
    /// The physical density alone.
    Density,
    /// The states as well.
    States,
    /// The states of the thicker design, see [`Sizes`](crate::Sizes).
    ThickerStates,
}

impl Dependence {
    /// Whether it is on states.
    pub fn is_on_states(self) -> bool {
        matches!(self, Self::States | Self::ThickerStates)
    }
}

/// An evaluated design, as responses see it.
pub struct Evaluated<'e, 'a, B: Pointwise> {
    /// Backend of the vectors.
    pub backend: &'e B,
    /// Number of the response among all of the optimization, objectives first.
    pub response: usize,
    /// The physical density, `[n_elements]`.
    pub density: &'e B::Vector,
    /// Measures of the density, with the volumes of the design elements.
    pub measures: &'e Measures<B>,
    /// The state equation with the states of this design, for responses that depend on them.
    pub equation: &'e mut StateEquation<'a, B>,
    /// A vector to overwrite, `[n_elements]`.
    pub scratch: &'e mut B::Vector,
}
