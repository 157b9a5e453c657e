//! The volume of material.

use topopt_linalg::{BackendError, Monitor, Pointwise};

use crate::{Dependence, Evaluated, Response, SolveError};

/// V = sum v_e rho_e over the design elements (length cubed).
#[derive(Debug, Clone, Copy)]
pub struct Volume;

impl<B: Pointwise> Response<B> for Volume {
    fn name(&self) -> &str {
        "volume"
    }

    fn dependence(&self) -> Dependence {
        Dependence::Linear
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        at.measures.volume(at.backend, at.density)
    }

    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        _: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        at.backend.copy(at.measures.volumes(), gradient);
        Ok(())
    }
}
