//! Adjoint states, and gradients by them.
//!
//! For g(u, x̄) with (K + S) u = f, the adjoint state solves (K + S) lambda = dg/du, and
//! dg/dx̄_e = (partial) + lambda_e . (df_e/dx̄_e - E'(x̄_e) K_e u_e).

use topopt_linalg::{BackendError, Monitor, PcgOptions, Pointwise, System};

use super::{AdjointVectors, StateEquation, scale};
use crate::{Moment, SolveError};

impl<B: Pointwise + Sync> StateEquation<'_, B> {
    /// Solves for the adjoint state of the design evaluated last: (K + S) `lambda` = `load`, where
    /// `load` is dg/du, zero at held components, both `[n_nodes][n]`, to the tolerance of its own
    /// solve. The solve starts from zero, so that a run goes on to the same bits from a checkpoint,
    /// which does not hold `lambda`. `name` is that of g, for messages.
    ///
    /// # Errors
    /// [`SolveError`] if the device fails, or the solve does not converge or is interrupted.
    pub fn solve_adjoint(
        &mut self,
        name: &str,
        load: &B::Vector,
        lambda: &mut B::Vector,
        monitor: &mut Monitor,
    ) -> Result<(), SolveError> {
        let Self { backend, tolerance, .. } = *self;
        let (a, m) = (self.solver.operator.as_ref(), self.solver.preconditioner.as_ref());
        let system = System { backend, a, m, f: load };
        backend.fill(0.0, lambda);
        let options = PcgOptions { tolerance, max_iterations: self.solver.max_iterations };
        let outcome = self.pcg.solve(&system, lambda, options, monitor)?;
        self.effort.add(outcome, tolerance, || name.into())
    }

    /// Adds lambda_e . (df_e/dx̄_e - E'(x̄_e) K_e u_e) for the state u of load case `case` to
    /// `gradient`, `[n_elements]`, at the physical `density`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn add_adjoint_gradient(
        &mut self,
        case: usize,
        lambda: &B::Vector,
        density: &B::Vector,
        gradient: &mut B::Vector,
    ) -> Result<(), BackendError> {
        self.add_gradient(case, Some(lambda), density, gradient)
    }

    /// Adds the gradient of [`StateEquation::add_adjoint_gradient`], or without `lambda` that of the
    /// compliance: there the adjoint is the state itself, and the loads count twice.
    fn add_gradient(
        &mut self,
        case: usize,
        lambda: Option<&B::Vector>,
        density: &B::Vector,
        gradient: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let backend = self.backend;
        if self.adjoint.is_none() {
            self.adjoint = Some(AdjointVectors::new(backend, self.nodes(), self.elements)?);
        }
        let Self { adjoint: Some(vectors), stiffness, loads, solver, states, .. } = self else {
            return Ok(());
        };
        let AdjointVectors { state, work, slope, product } = vectors;
        loads.total(backend, case, &states[case], state);

        solver.operator.element_work(0, lambda.unwrap_or(state), state, work);
        self.interpolation.sensitivities(backend, density, work, slope, product);
        scale(backend, stiffness.as_ref(), slope, product);
        backend.axpby(1.0, product, 1.0, gradient);
        let (factor, y) = lambda.map_or((2.0, &states[case]), |lambda| (1.0, lambda));
        loads.add_weight_work(backend, case, factor, y, gradient)
    }

    /// Writes the state of load case `case` with prescribed values to `state`, `[n_nodes][n]`.
    pub fn total_state(&self, case: usize, state: &mut B::Vector) {
        self.loads.total(self.backend, case, &self.states[case], state);
    }

    /// `state`, which is that of load case `case`, for a function of it.
    pub(crate) fn steady<'m>(&'m self, case: usize, state: &'m B::Vector) -> Moment<'m, B> {
        let loads = self.loads.forces(case);
        Moment { backend: self.backend, state, loads, share: 1.0, is_first: true, is_last: true }
    }

    /// Writes the gradient of the compliance of load case `case` by the density to `gradient`.
    pub(crate) fn case_compliance_gradient(
        &mut self,
        case: usize,
        density: &B::Vector,
        gradient: &mut B::Vector,
    ) -> Result<(), BackendError> {
        self.backend.fill(0.0, gradient);
        self.add_gradient(case, None, density, gradient)
    }
}
