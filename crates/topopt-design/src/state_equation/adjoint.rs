//! Adjoint states, and gradients by them.
//!
//! For g(u, x̄) with (K + S) u = f, the adjoint state solves (K + S) lambda = dg/du, and
//! dg/dx̄_e = (partial) + lambda_e . (df_e/dx̄_e - E'(x̄_e) K_e u_e), with E'(x̄_e) q_e of thermal
//! strains in df_e/dx̄_e. Where a part is free, its inertia adds to loads and gradient, see
//! [`topopt_fem::InertiaRelief`].

use std::collections::btree_map::Entry;

use topopt_analysis::{AdjointWork, Slope};
use topopt_linalg::{BackendError, Monitor, Pointwise, Space};

use super::{AdjointVectors, StateEquation};
use crate::{Moment, SolveError};

impl<B: Pointwise + Sync> StateEquation<'_, B> {
    /// Solves for the adjoint state of the design evaluated last, see
    /// [`Linear::solve_adjoint`](topopt_analysis::Linear::solve_adjoint), to the tolerance of its
    /// own solve. Each response has one in each load case, `of` = response and load case, and the
    /// solve starts from that of an earlier design.
    ///
    /// # Errors
    /// [`SolveError`] if the device fails, or the solve does not converge or is interrupted.
    pub fn solve_adjoint(
        &mut self,
        of: [usize; 2],
        name: &str,
        load: &B::Vector,
        lambda: &mut B::Vector,
        monitor: &mut Monitor,
    ) -> Result<(), SolveError> {
        let (backend, nodes) = (self.backend(), self.nodes());
        let Self { linear, adjoint_starts, .. } = self;
        let start = match adjoint_starts.entry(of) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(backend.zeros(nodes)?),
        };
        backend.copy(start, lambda);

        // A run that is interrupted repeats the solves of its last design when it resumes. From its
        // own result a solve gives the same bits, unless it came short of its tolerance.
        if linear.solve_adjoint(name, load, lambda, monitor)? {
            backend.copy(lambda, start);
        }
        Ok(())
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

    /// Adds the gradient of [`StateEquation::add_adjoint_gradient`], or without `lambda` that of
    /// the compliance: there the adjoint is the state itself, and the loads count twice.
    fn add_gradient(
        &mut self,
        case: usize,
        lambda: Option<&B::Vector>,
        density: &B::Vector,
        gradient: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let backend = self.backend();
        if self.adjoint.is_none() {
            self.adjoint = Some(AdjointVectors::new(backend, self.nodes(), self.elements)?);
        }
        let Self { adjoint: Some(vectors), moduli_of, linear, states, .. } = self else {
            return Ok(());
        };
        let AdjointVectors { state, work, slope, product } = vectors;
        let loads = linear.loads();
        loads.total(backend, case, &states[case], state)?;

        let (factor, y) = lambda.map_or((2.0, &states[case]), |lambda| (1.0, lambda));
        linear.work(lambda.unwrap_or(state), state, work);
        loads.subtract_thermal_work(backend, case, factor, y, work)?;
        moduli_of.sensitivities(backend, (density, work), slope, product);
        backend.axpby(1.0, product, 1.0, gradient);
        loads.add_weight_work(backend, case, factor, y, gradient)?;
        match lambda {
            Some(_) => loads.subtract_adjoint_inertia(backend, &states[case], gradient),
            None => Ok(()),
        }
    }

    /// Writes the gradient of a function of the states of a history by the density to `gradient`,
    /// `[n_elements]`. `slope` writes the derivative of the function by a state alone; `name` is that of
    /// the function, for messages.
    ///
    /// # Errors
    /// [`SolveError`] if the device fails, or a solve does not converge or is interrupted.
    pub(crate) fn gradient_in_time(
        &mut self,
        name: &str,
        slope: &mut Slope<B>,
        density: &B::Vector,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        let backend = self.backend();
        let Self { linear, moduli, moduli_of, history: Some(history), .. } = self else {
            return Ok(());
        };
        let work = history.adjoint_work(linear, moduli, name, slope, monitor)?;

        // -E' eta . K w, and -c eta . (u_1 - u_0) / dt, summed over steps.
        let AdjointWork { conduction, capacity, mut scratch } = work;
        moduli_of.sensitivities(backend, (density, &conduction), &mut scratch, gradient);
        backend.axpby(-1.0, &capacity, 1.0, gradient);
        Ok(())
    }

    /// Writes the state of load case `case` with prescribed values to `state`, `[n_nodes][n]`.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn total_state(&self, case: usize, state: &mut B::Vector) -> Result<(), BackendError> {
        self.linear.loads().total(self.backend(), case, &self.states[case], state)
    }

    /// `state`, which is that of load case `case`, for a function of it.
    pub(crate) fn steady<'m>(&'m self, case: usize, state: &'m B::Vector) -> Moment<'m, B> {
        Moment::steady(self.backend(), state, self.linear.loads().forces(case))
    }

    /// Writes the gradient of the compliance of load case `case` by the density to `gradient`.
    pub(crate) fn case_compliance_gradient(
        &mut self,
        case: usize,
        density: &B::Vector,
        gradient: &mut B::Vector,
    ) -> Result<(), BackendError> {
        self.backend().fill(0.0, gradient);
        self.add_gradient(case, None, density, gradient)
    }
}

impl<B: Pointwise> AdjointVectors<B> {
    fn new(backend: &B, nodes: Space, elements: Space) -> Result<Self, BackendError> {
        let element = || backend.zeros(elements);
        Ok(Self {
            state: backend.zeros(nodes)?,
            work: element()?,
            slope: element()?,
            product: element()?,
        })
    }
}
