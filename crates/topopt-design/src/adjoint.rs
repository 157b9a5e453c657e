//! Gradients of functions of the states by adjoint states.
//!
//! For g(u, x̄) with (K + S) u = f, the adjoint state solves (K + S) lambda = dg/du, and
//! dg/dx̄_e = (partial) + lambda_e . (df_e/dx̄_e - E'(x̄_e) K_e u_e).

use topopt_linalg::{BackendError, Monitor, Pointwise, Space};

use crate::{SolveError, StateEquation};

/// Vectors that adjoint gradients are made with.
pub(crate) struct AdjointVectors<B: Pointwise> {
    /// u, and lambda + u or lambda - u, `[n_nodes][3]`.
    state: B::Vector,
    /// lambda_e^T K_e u_e at unit modulus, `[n_elements]`.
    work: B::Vector,
    slope: B::Vector,
    product: B::Vector,
}

impl<B: Pointwise + Sync> StateEquation<'_, B> {
    /// Solves for the adjoint state of the design evaluated last: (K + S) `lambda` = `load`, where
    /// `load` is dg/du, zero at held components, both `[n_nodes][3]`. `name` is that of g, for
    /// messages.
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
        self.solve_for(name, load, lambda, monitor)
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
        let backend = self.backend;
        if self.adjoint.is_none() {
            self.adjoint = Some(AdjointVectors::new(backend, self.problem())?);
        }
        let Self { adjoint: Some(vectors), loads, solver, states, interpolation, .. } = self else {
            return Ok(());
        };
        let AdjointVectors { state, work, slope, product } = vectors;
        loads.total(backend, case, &states[case], state);

        solver.operator.element_work(0, lambda, state, work);
        interpolation.sensitivities(backend, density, work, slope, product);
        backend.axpby(1.0, product, 1.0, gradient);
        loads.add_weight_work(backend, case, lambda, gradient)
    }
}

impl<B: Pointwise> AdjointVectors<B> {
    fn new(backend: &B, problem: &topopt_fem::Problem) -> Result<Self, BackendError> {
        let element = || backend.zeros(Space::elements(problem.mesh().n_elements()));
        Ok(Self {
            state: backend.zeros(problem.space())?,
            work: element()?,
            slope: element()?,
            product: element()?,
        })
    }
}
