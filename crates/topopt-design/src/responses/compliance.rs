//! The compliance.

use topopt_linalg::{BackendError, Monitor, Pointwise};

use crate::{Dependence, Evaluated, Response, SolveError};

/// The objective -2 Pi, summed over load cases with their weights (force times length): the
/// compliance f^T u where no displacement is prescribed \[KlarbringStromberg2013\]. It is
/// self-adjoint: its gradient needs no solve.
#[derive(Debug, Clone, Copy)]
pub struct Compliance;

impl<B: Pointwise + Sync> Response<B> for Compliance {
    fn name(&self) -> &str {
        "compliance"
    }

    fn dependence(&self) -> Dependence {
        Dependence::States
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        at.equation.compliance(at.scratch)
    }

    /// dC/drho_e = -E'(rho_e) u_e^T K_e u_e + 2 u_e . df_e/drho_e, summed over load cases.
    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        _: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        Ok(at.equation.compliance_gradient(at.density, at.scratch, gradient)?)
    }
}

/// Compliance of one load case, without its weight.
#[derive(Debug, Clone)]
pub struct CaseCompliance {
    /// Name, such as `compliance in load case down`.
    pub name: String,
    /// Number of the load case.
    pub case: usize,
}

impl<B: Pointwise + Sync> Response<B> for CaseCompliance {
    fn name(&self) -> &str {
        &self.name
    }

    fn dependence(&self) -> Dependence {
        Dependence::States
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        Ok(at.equation.compliances(at.scratch)?[self.case])
    }

    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        _: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        Ok(at.equation.case_compliance_gradient(self.case, at.density, gradient)?)
    }
}
