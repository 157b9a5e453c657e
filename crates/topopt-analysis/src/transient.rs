//! The transient analysis: C du/dt + K u = f by the theta scheme.

use topopt_fem::{
    AdjointSteps, ElementOperator, ProblemView, StepData, StepLoads, ThetaScheme, Timeline,
};
use topopt_linalg::{BackendError, LinearOperator, Monitor, PcgOutcome, Pointwise};

use crate::Linear;
use crate::linear::terms;

/// K without held nodes and springs, and, for a consistent capacity, C without held nodes.
pub type Bare<'a, B> = (Box<dyn ElementOperator<B> + 'a>, Option<Box<dyn ElementOperator<B> + 'a>>);

/// Time steps along a timeline, solved by a [`Linear`] equation whose second term is the capacity.
pub struct Transient<'a, B: Pointwise> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) scheme: ThetaScheme<B>,
    pub(crate) acting: StepLoads<'a, B>,
    /// K without held nodes and springs; with capacities as coefficients it gives the lumped C.
    free: Box<dyn ElementOperator<B> + 'a>,
    /// Consistent C without held nodes; none where C is lumped.
    storage: Option<Box<dyn ElementOperator<B> + 'a>>,
    /// Step length that the coefficients of the operator belong to; 0 before the first assembly.
    dt: f64,
    /// Capacities of the elements if solid, at their density, and zeros, `[n_elements]` each.
    pub(crate) solid: B::Vector,
    capacities: B::Vector,
    zeros: B::Vector,
}

impl<'a, B: Pointwise> Transient<'a, B> {
    /// The state before the first step of `timeline`; held nodes are those of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        timeline: &'a Timeline,
        (free, storage): Bare<'a, B>,
        problem: &dyn ProblemView,
    ) -> Result<Self, BackendError> {
        let (nodes, elements) = (problem.unknowns(), problem.elements());
        let mut is_free = vec![1.0; if backend.has_values() { nodes.len() } else { 0 }];
        problem.clear_held(&mut is_free);
        let capacity = vec![0.0; is_free.len()];
        let nodal = [capacity.as_slice(), &is_free, &timeline.initial];
        Ok(Self {
            timeline,
            scheme: ThetaScheme::new(backend, nodes, timeline.theta, nodal)?,
            acting: StepLoads::new(backend, timeline, problem)?,
            free,
            storage,
            dt: 0.0,
            solid: backend.upload(&timeline.capacities, elements)?,
            capacities: backend.zeros(elements)?,
            zeros: backend.zeros(elements)?,
        })
    }

    /// Assembles C for the `density` and K for the `moduli` of the elements, and the operator of
    /// `linear` for the length of the first step.
    pub fn assemble(
        &mut self,
        linear: &mut Linear<'a, B>,
        density: &B::Vector,
        moduli: &B::Vector,
    ) {
        let Self { scheme, free, storage, solid, capacities, zeros, timeline, dt, .. } = self;
        linear.backend.multiply(solid, density, capacities);
        free.set_coefficients(&[zeros, capacities]);
        free.diagonal(scheme.capacity_mut());
        free.set_coefficients(&[moduli, zeros]);
        if let Some(storage) = storage {
            storage.set_coefficients(&[zeros, capacities]);
        }
        *dt = timeline.length(1);
        self.set_coefficients(linear, moduli);
    }

    /// Restarts from `state`, `[n_nodes]`, forgetting all earlier steps.
    pub fn start_from(&mut self, backend: &B, state: &B::Vector) {
        self.scheme.start_from(backend, state);
    }

    /// Solves for the end of `step`, counted from 1; steps are taken in their order. Where the
    /// solve does not converge, the state stays as it was.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn step(
        &mut self,
        linear: &mut Linear<'a, B>,
        moduli: &B::Vector,
        step: usize,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        self.take_length(linear, moduli, self.timeline.length(step))?;
        let Self { free, storage, scheme, acting, timeline, dt, .. } = self;
        let times = [step - 1, step].map(|step| timeline.time(step));
        let data = StepData { dt: *dt, ..acting.step(linear.backend, times, free.as_ref()) };
        let storage = storage.as_deref().map(|storage| storage as &dyn LinearOperator<B>);
        scheme.step(&mut linear.of_steps(storage, monitor), &data)
    }

    /// Takes one step of the `adjoint` backward in time.
    pub(crate) fn step_back(
        &mut self,
        linear: &mut Linear<'a, B>,
        adjoint: &mut AdjointSteps<B>,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        let storage = self.storage.as_deref().map(|storage| storage as &dyn LinearOperator<B>);
        adjoint.step(&mut linear.of_steps(storage, monitor), &self.scheme, self.dt)
    }

    /// Sets the coefficients of operator and preconditioner for steps of length `dt`; lengths that
    /// differ by rounding count as equal.
    pub(crate) fn take_length(
        &mut self,
        linear: &mut Linear<'a, B>,
        moduli: &B::Vector,
        dt: f64,
    ) -> Result<(), BackendError> {
        if (dt - self.dt).abs() <= 1e-9 * dt {
            return Ok(());
        }
        self.dt = dt;
        self.set_coefficients(linear, moduli);
        linear.update_preconditioner(moduli)
    }

    fn set_coefficients(&self, linear: &mut Linear<'a, B>, moduli: &B::Vector) {
        let rate = 1.0 / (self.timeline.theta * self.dt);
        linear.backend.axpby(rate, &self.capacities, 0.0, &mut linear.others[0]);
        linear.solver.operator.set_coefficients(&terms(moduli, &linear.others));
    }

    /// Length of the last step.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// State at the end of the last step, `[n_nodes]`.
    pub fn state(&self) -> &B::Vector {
        self.scheme.state()
    }

    /// State in the middle of the last step, `[n_nodes]`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn middle(&self, backend: &B) -> Result<Vec<f64>, BackendError> {
        self.scheme.middle(backend)
    }

    /// Loads in the middle of the last step, 0 at held nodes, `[n_nodes]`.
    pub fn source(&self) -> &B::Vector {
        self.acting.source()
    }

    /// Lumped C, `[n_nodes]`.
    pub fn capacity(&self) -> &B::Vector {
        self.scheme.capacity()
    }

    /// Computes K w for the state w in the middle of the last step, `[n_nodes]`; K has neither held
    /// nodes nor springs.
    pub fn middle_flows(&mut self, backend: &B, out: &mut B::Vector) {
        self.scheme.middle_flows(backend, self.free.as_ref(), out);
    }

    /// Computes C u, `[n_nodes]`.
    pub fn stored(&self, backend: &B, u: &B::Vector, out: &mut B::Vector) {
        match &self.storage {
            Some(storage) => storage.apply(u, out),
            None => backend.multiply(self.scheme.capacity(), u, out),
        }
    }
}
