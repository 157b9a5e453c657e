//! Functions of a state at nodes: a mean, the power of the loads.

use topopt_fem::ProblemView;
use topopt_linalg::{Backend, BackendError, Pointwise};

use crate::{Moment, StateFunction};

/// l . u: the mean of a component over a set of nodes, with the share of each node in the entries
/// of l. Of a mechanism it is the output.
pub struct StateMean<B: Backend> {
    /// l, `[n_nodes][n]`, and l without its entries at held components.
    weights: B::Vector,
    slope: B::Vector,
    zero: f64,
}

impl<B: Backend> StateMean<B> {
    /// The mean with l = `weights`, `[n_nodes][n]`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        problem: &dyn ProblemView,
        mut weights: Vec<f64>,
    ) -> Result<Self, BackendError> {
        let total = backend.upload(&weights, problem.unknowns())?;
        problem.clear_held(&mut weights);
        let slope = backend.upload(&weights, problem.unknowns())?;
        Ok(Self { weights: total, slope, zero: 0.0 })
    }

    /// Returns the mean counted from `zero`.
    #[must_use]
    pub fn counted_from(self, zero: f64) -> Self {
        Self { zero, ..self }
    }
}

impl<B: Pointwise> StateFunction<B> for StateMean<B> {
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError> {
        at.backend.value(&at.backend.dot(&self.weights, at.state))
    }

    fn zero(&self) -> f64 {
        self.zero
    }

    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError> {
        at.backend.copy(&self.slope, out);
        Ok(())
    }
}

/// f . u, the power of the loads: of heat, heat times temperature.
#[derive(Debug, Clone, Copy)]
pub struct LoadPower;

impl<B: Pointwise> StateFunction<B> for LoadPower {
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError> {
        at.backend.value(&at.backend.dot(at.loads, at.state))
    }

    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError> {
        at.backend.copy(at.loads, out);
        Ok(())
    }
}
