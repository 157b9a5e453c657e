//! A response of the thicker design.

use topopt_linalg::{BackendError, Monitor, Pointwise};

use crate::{Dependence, Evaluated, Response, SolveError};

/// A response of the states of the thicker design, see [`Sizes`](crate::Sizes), in steady states.
pub struct OfThicker<'a, B: Pointwise>(pub Box<dyn Response<B> + 'a>);

impl<B: Pointwise> Response<B> for OfThicker<'_, B> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn dependence(&self) -> Dependence {
        Dependence::ThickerStates
    }

    fn zero(&self) -> f64 {
        self.0.zero()
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        self.0.value(at)
    }

    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        self.0.gradient(at, monitor, gradient)
    }
}
