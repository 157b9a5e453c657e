//! States of a design in time, and gradients by the adjoint of their steps.

use topopt_fem::{
    AdjointSteps, ElementOperator, Statement, StepData, StepLoads, StepSolver, ThetaScheme,
    Timeline,
};
use topopt_linalg::{BackendError, LinearOperator, Monitor, PcgOptions, Pointwise, Space};

use super::history::{Bare, History, Observe, Slope, stride};
use super::{StateEquation, scale, terms};
use crate::{Moment, SolveError};

impl<'a, B: Pointwise + Sync> StateEquation<'a, B> {
    /// Turns a steady equation into one in time: the states are those of the steps of `timeline`, with a
    /// capacity in proportion to the density as second term. `bare` are the operators without held nodes and
    /// springs, and `problem` says what is held.
    ///
    /// Solves are always tight: each starts from the state before it, and a loose one would move all
    /// that follow.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn in_time(
        mut self,
        timeline: &'a Timeline,
        bare: Bare<'a, B>,
        problem: &dyn Statement,
    ) -> Result<Self, BackendError> {
        self.history = Some(Box::new(History::new(self.backend, timeline, bare, problem)?));
        Ok(self)
    }

    /// Vectors of one entry per element, and per node, that a history of `timeline` takes besides what
    /// a steady state does.
    pub fn vectors_in_time(timeline: &Timeline) -> [usize; 2] {
        let n = timeline.n_steps();
        let states = 2 * n.div_ceil(stride(n)) + stride(n) + 1;
        let of_steps = ThetaScheme::<B>::NODAL_VECTORS + AdjointSteps::<B>::NODAL_VECTORS;
        // With those of a gradient.
        [3 + 3, states + of_steps + StepLoads::<B>::nodal_vectors(timeline) + 1]
    }

    /// Whether it is in time.
    pub(crate) fn is_in_time(&self) -> bool {
        self.history.is_some()
    }

    /// Makes capacities and C for the trial of `density`, and the coefficients for the first step.
    pub(super) fn assemble_capacity(&mut self, density: &B::Vector) {
        let Self { backend, history: Some(history), trial_moduli, unused, solver, .. } = self
        else {
            return;
        };
        let History { free, storage, scheme, solid, capacities, zeros, timeline, dt, .. } =
            &mut **history;
        backend.multiply(solid, density, capacities);
        free.set_coefficients(&[zeros, capacities]);
        free.diagonal(scheme.capacity_mut());
        free.set_coefficients(&[trial_moduli, zeros]);
        if let Some(storage) = storage {
            storage.set_coefficients(&[zeros, capacities]);
        }

        *dt = timeline.length(1);
        backend.axpby(1.0 / (timeline.theta * *dt), capacities, 0.0, &mut unused[0]);
        solver.operator.set_coefficients(&terms(trial_moduli, unused));
    }

    /// Steps through the history of the trial; `observe` hears of each state from the first on.
    pub(super) fn march(
        &mut self,
        monitor: &mut Monitor,
        observe: &mut Observe<B>,
    ) -> Result<(), SolveError> {
        let Some(mut history) = self.history.take() else { return Ok(()) };
        let marched = self.march_through(&mut history, monitor, observe);
        self.history = Some(history);
        marched
    }

    fn march_through(
        &mut self,
        history: &mut History<'a, B>,
        monitor: &mut Monitor,
        observe: &mut Observe<B>,
    ) -> Result<(), SolveError> {
        let backend = self.backend;
        (history.compliance, history.is_of_trial) = (0.0, true);
        for k in 0..history.trial_kept.len() {
            backend.copy(&history.trial_kept[k], &mut history.segment[0]);
            let steps = history.steps(k);
            self.march_segment(history, k, monitor)?;
            let first = if k == 0 { 0 } else { *steps.start() };
            for step in first..=*steps.end() {
                let state = step + 1 - steps.start();
                let History { timeline, acting, segment, compliance, .. } = &mut *history;
                acting.take_time(backend, timeline.time(step));
                let moment = moment(backend, timeline, step, &segment[state], acting.source());
                let power = backend.value(&backend.dot(moment.loads, moment.state))?;
                *compliance += moment.share * power;
                observe(&moment)?;
            }
            let last = &history.segment[steps.count()];
            match history.trial_kept.get_mut(k + 1) {
                Some(next) => backend.copy(last, next),
                None => backend.copy(last, &mut self.trial_states[0]),
            }
        }
        Ok(())
    }

    /// Computes the states of segment `k` from the first of them, which is there.
    fn march_segment(
        &mut self,
        history: &mut History<'a, B>,
        k: usize,
        monitor: &mut Monitor,
    ) -> Result<(), SolveError> {
        let (backend, timeline) = (self.backend, history.timeline);
        history.scheme.start_from(backend, &history.segment[0]);
        for (state, step) in (1..).zip(history.steps(k)) {
            self.take_length(history, timeline.length(step))?;
            let History { free, storage, scheme, acting, segment, dt, .. } = &mut *history;
            let times = [step - 1, step].map(|step| timeline.time(step));
            let data = StepData { dt: *dt, ..acting.step(backend, times, free.as_ref()) };
            let storage = storage.as_deref();
            let outcome =
                self.with_solver(storage, monitor, |solver| scheme.step(solver, &data))?;
            let name = || format!("step {step} to the time {}", timeline.time(step));
            self.effort.add(outcome, self.tolerance, name)?;
            backend.copy(scheme.state(), &mut segment[state]);
        }
        Ok(())
    }

    /// Writes the gradient of a response by the density to `gradient`, `[n_elements]`. `slope`
    /// writes the derivative of the response by a state alone; `name` is that of the response, for
    /// messages.
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
        let Some(mut history) = self.history.take() else { return Ok(()) };
        let found = self.march_back(&mut history, name, slope, monitor);
        self.history = Some(history);
        let Works { conduction, capacity, mut product, .. } = found?;

        // -E' eta . K w, and -c eta . (u_1 - u_0) / dt, summed over steps.
        let Self { backend, interpolation, stiffness, history: Some(history), .. } = self else {
            return Ok(());
        };
        interpolation.sensitivities(*backend, density, &conduction, &mut product, gradient);
        scale(*backend, stiffness.as_ref(), &mut product, gradient);
        backend.multiply(&history.solid, &capacity, &mut product);
        backend.axpby(-1.0, &product, 1.0, gradient);
        Ok(())
    }

    /// Steps back through the history of the design evaluated last.
    fn march_back(
        &mut self,
        history: &mut History<'a, B>,
        name: &str,
        slope: &mut Slope<B>,
        monitor: &mut Monitor,
    ) -> Result<Works<B>, SolveError> {
        let backend = self.backend;
        let mut works = Works::new(backend, self.nodes(), self.elements)?;
        history.is_of_trial = false;
        history.adjoint.start(backend);
        for k in (0..history.kept.len()).rev() {
            backend.copy(&history.kept[k], &mut history.segment[0]);
            self.march_segment(history, k, monitor)?;
            let first = *history.steps(k).start();
            for step in history.steps(k).rev() {
                self.take_length(history, history.timeline.length(step))?;
                let History { timeline, storage, scheme, adjoint, acting, segment, dt, .. } =
                    &mut *history;
                let [before, after] = [step - first, step + 1 - first].map(|i| &segment[i]);
                acting.take_time(backend, timeline.time(step));
                slope(&moment(backend, timeline, step, after, acting.source()), &mut works.nodal)?;
                adjoint.add(backend, &works.nodal);
                let storage = storage.as_deref();
                let outcome =
                    self.with_solver(storage, monitor, |solver| adjoint.step(solver, scheme, *dt))?;
                self.effort.add(outcome, self.tolerance, || name.into())?;
                let operator = self.solver.operator.as_ref();
                works.add(backend, operator, adjoint.eta(), [before, after], (timeline.theta, *dt));
            }
        }
        Ok(works)
    }

    /// Lets operator and preconditioner have the coefficients for steps of the length `dt`; lengths
    /// that differ by rounding are one.
    fn take_length(&mut self, history: &mut History<'a, B>, dt: f64) -> Result<(), BackendError> {
        if (dt - history.dt).abs() <= 1e-9 * dt {
            return Ok(());
        }
        let Self { backend, trial_moduli, moduli, unused, solver, .. } = self;
        let History { capacities, timeline, is_of_trial, .. } = history;
        let moduli = if *is_of_trial { trial_moduli } else { moduli };
        backend.axpby(1.0 / (timeline.theta * dt), capacities, 0.0, &mut unused[0]);
        let terms = terms(moduli, unused);
        solver.operator.set_coefficients(&terms);
        solver.preconditioner.update(*backend, solver.operator.as_ref(), &terms)?;
        history.dt = dt;
        Ok(())
    }

    fn with_solver<T>(
        &mut self,
        storage: Option<&dyn ElementOperator<B>>,
        monitor: &mut Monitor,
        step: impl FnOnce(&mut StepSolver<B>) -> T,
    ) -> T {
        let options =
            PcgOptions { tolerance: self.tolerance, max_iterations: self.solver.max_iterations };
        step(&mut StepSolver {
            backend: self.backend,
            pcg: &mut self.pcg,
            operator: self.solver.operator.as_ref(),
            storage: storage.map(|storage| storage as &dyn LinearOperator<B>),
            preconditioner: self.solver.preconditioner.as_ref(),
            options,
            monitor,
        })
    }

    /// The mean over time of loads times states of the history that was stepped through last.
    pub(super) fn mean_compliance(&self) -> Option<f64> {
        self.history.as_ref().map(|history| history.compliance)
    }
}

/// Sums over steps that gradients are made of, at unit coefficients, `[n_elements]`.
struct Works<B: Pointwise> {
    /// Sum of eta_e . K_e w_e.
    conduction: B::Vector,
    /// Sum of eta_e . M_e (u_1 - u_0)_e / dt.
    capacity: B::Vector,
    product: B::Vector,
    /// Vectors to overwrite, `[n_nodes]`.
    nodal: B::Vector,
}

impl<B: Pointwise> Works<B> {
    fn new(backend: &B, nodes: Space, elements: Space) -> Result<Self, BackendError> {
        let element = || backend.zeros(elements);
        Ok(Self {
            conduction: element()?,
            capacity: element()?,
            product: element()?,
            nodal: backend.zeros(nodes)?,
        })
    }

    /// Adds those of a step of length dt between two states.
    fn add(
        &mut self,
        backend: &B,
        operator: &dyn ElementOperator<B>,
        eta: &B::Vector,
        [before, after]: [&B::Vector; 2],
        (theta, dt): (f64, f64),
    ) {
        let Self { conduction, capacity, product, nodal } = self;
        // w = (1 - theta) u_0 + theta u_1, at held nodes as well.
        backend.copy(after, nodal);
        backend.axpby(1.0 - theta, before, theta, nodal);
        operator.element_work(0, eta, nodal, product);
        backend.axpby(1.0, product, 1.0, conduction);

        backend.copy(after, nodal);
        backend.axpby(-1.0, before, 1.0, nodal);
        operator.element_work(1, eta, nodal, product);
        backend.axpby(1.0 / dt, product, 1.0, capacity);
    }
}

/// The state after `step`.
fn moment<'m, B: Pointwise>(
    backend: &'m B,
    timeline: &Timeline,
    step: usize,
    state: &'m B::Vector,
    loads: &'m B::Vector,
) -> Moment<'m, B> {
    let (is_first, is_last) = (step == 0, step == timeline.n_steps());
    Moment { backend, state, loads, share: timeline.share(step), is_first, is_last }
}
