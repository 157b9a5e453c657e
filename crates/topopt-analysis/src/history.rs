//! Storage of the states of a transient equation, and gradients by the adjoint of its steps.
//!
//! The steps go in segments of about sqrt(N) of all N. Each begins from its first state as if there
//! had been no step before, so that it can be computed again, to the same bits. Only these first
//! states are kept: the way back in time computes a segment again before it steps back through it,
//! which takes 2 sqrt(N) states in place of N.

use std::ops::RangeInclusive;

use topopt_fem::{AdjointSteps, ProblemView, Timeline};
use topopt_linalg::{Backend, BackendError, Monitor, Pointwise, Space};

use crate::{Bare, Linear, Moment, SolveError, Transient};

/// Callback that receives the states of a history in their order.
pub type Observe<'o, B> = dyn FnMut(&Moment<B>) -> Result<(), BackendError> + 'o;

/// Callback that writes the partial derivative of a function of states by one state.
pub type Slope<'s, B> =
    dyn FnMut(&Moment<B>, &mut <B as Backend>::Vector) -> Result<(), BackendError> + 's;

/// Steps of a timeline with the states of an accepted part and of a trial.
pub struct History<'a, B: Pointwise> {
    transient: Transient<'a, B>,
    adjoint: AdjointSteps<B>,
    nodes: Space,
    elements: Space,
    /// Steps of a segment.
    stride: usize,
    /// The first states of the segments, of the accepted part and of the trial.
    kept: Vec<B::Vector>,
    trial_kept: Vec<B::Vector>,
    /// The states of a segment, its first one included.
    segment: Vec<B::Vector>,
    /// The mean over time of loads times states.
    compliance: f64,
}

/// Sums over steps that gradients are made of, at unit coefficients, `[n_elements]`.
pub struct AdjointWork<B: Pointwise> {
    /// Sum of eta_e . K_e w_e.
    pub conduction: B::Vector,
    /// Sum of c_e eta_e . M_e (u_1 - u_0)_e / dt, with the capacity c_e of the solid.
    pub capacity: B::Vector,
    /// Vector to overwrite.
    pub scratch: B::Vector,
}

impl<'a, B: Pointwise> History<'a, B> {
    /// The history of `problem` by `timeline`, before its first step.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        timeline: &'a Timeline,
        bare: Bare<'a, B>,
        problem: &dyn ProblemView,
    ) -> Result<Self, BackendError> {
        let (nodes, elements) = (problem.unknowns(), problem.elements());
        let (n, stride) = (timeline.n_steps(), stride(timeline.n_steps()));

        let states =
            |count: usize| (0..count).map(|_| backend.zeros(nodes)).collect::<Result<Vec<_>, _>>();
        let first = backend.upload(&timeline.initial, nodes)?;
        let mut all = [states(n.div_ceil(stride))?, states(n.div_ceil(stride))?];
        all.iter_mut().for_each(|kept| backend.copy(&first, &mut kept[0]));
        let [kept, trial_kept] = all;

        Ok(Self {
            transient: Transient::new(backend, timeline, bare, problem)?,
            adjoint: AdjointSteps::new(backend, nodes, timeline.theta)?,
            nodes,
            elements,
            stride,
            kept,
            trial_kept,
            segment: states(stride + 1)?,
            compliance: f64::NAN,
        })
    }

    /// Begins a trial, see [`Transient::assemble`].
    pub fn assemble(
        &mut self,
        linear: &mut Linear<'a, B>,
        density: &B::Vector,
        moduli: &B::Vector,
    ) {
        self.transient.assemble(linear, density, moduli);
    }

    /// Steps through the history of the trial of `moduli` to its `end`; `observe` receives each
    /// state from the first on.
    ///
    /// # Errors
    /// [`SolveError`] if the device fails, or a solve does not converge or is interrupted.
    pub fn solve(
        &mut self,
        linear: &mut Linear<'a, B>,
        moduli: &B::Vector,
        end: &mut B::Vector,
        monitor: &mut Monitor,
        observe: &mut Observe<B>,
    ) -> Result<(), SolveError> {
        let (backend, timeline) = (linear.backend, self.transient.timeline);

        self.compliance = 0.0;
        for k in 0..self.trial_kept.len() {
            backend.copy(&self.trial_kept[k], &mut self.segment[0]);
            let steps = self.steps(k);
            self.march(linear, moduli, k, monitor)?;
            let first = if k == 0 { 0 } else { *steps.start() };
            for step in first..=*steps.end() {
                let acting = &mut self.transient.acting;
                acting.take_time(backend, timeline.time(step));
                let state = &self.segment[step + 1 - steps.start()];
                let moment = moment(backend, timeline, step, state, acting.source());
                let power = backend.value(&backend.dot(moment.loads, moment.state))?;
                self.compliance += moment.share * power;
                observe(&moment)?;
            }
            let last = &self.segment[steps.count()];
            backend.copy(last, self.trial_kept.get_mut(k + 1).unwrap_or(end));
        }

        Ok(())
    }

    /// Swaps the trial and the accepted part.
    pub fn accept(&mut self) {
        std::mem::swap(&mut self.kept, &mut self.trial_kept);
    }

    /// Mean over time of loads times states of the history that was stepped through last.
    pub fn mean_compliance(&self) -> f64 {
        self.compliance
    }

    /// Steps back through the history of the accepted part, of `moduli`, with the adjoint of a
    /// function of states. `slope` writes its derivative by a state alone; `name` is that of the
    /// function, for messages.
    ///
    /// # Errors
    /// [`SolveError`] if the device fails, or a solve does not converge or is interrupted.
    pub fn adjoint_work(
        &mut self,
        linear: &mut Linear<'a, B>,
        moduli: &B::Vector,
        name: &str,
        slope: &mut Slope<B>,
        monitor: &mut Monitor,
    ) -> Result<AdjointWork<B>, SolveError> {
        let (backend, timeline) = (linear.backend, self.transient.timeline);
        let element = || backend.zeros(self.elements);
        let (conduction, capacity, scratch) = (element()?, element()?, element()?);
        let mut work = AdjointWork { conduction, capacity, scratch };

        let mut nodal = backend.zeros(self.nodes)?;
        self.adjoint.start(backend);

        for k in (0..self.kept.len()).rev() {
            backend.copy(&self.kept[k], &mut self.segment[0]);
            self.march(linear, moduli, k, monitor)?;
            let first = *self.steps(k).start();
            for step in self.steps(k).rev() {
                self.transient.take_length(linear, moduli, timeline.length(step))?;
                let [before, after] = [step - first, step + 1 - first].map(|i| &self.segment[i]);
                let acting = &mut self.transient.acting;
                acting.take_time(backend, timeline.time(step));
                slope(&moment(backend, timeline, step, after, acting.source()), &mut nodal)?;
                self.adjoint.add(backend, &nodal);
                let outcome = self.transient.step_back(linear, &mut self.adjoint, monitor)?;
                linear.effort.add(outcome, [linear.solver.tolerance, 0.0], || name.into())?;
                let of_step = (timeline.theta, self.transient.dt());
                work.add(linear, self.adjoint.eta(), [before, after], of_step, &mut nodal);
            }
        }

        backend.multiply(&self.transient.solid, &work.capacity, &mut work.scratch);
        std::mem::swap(&mut work.capacity, &mut work.scratch);
        Ok(work)
    }

    /// Computes the states of segment `k` from the first of them, which is there.
    fn march(
        &mut self,
        linear: &mut Linear<'a, B>,
        moduli: &B::Vector,
        k: usize,
        monitor: &mut Monitor,
    ) -> Result<(), SolveError> {
        let (backend, steps) = (linear.backend, self.steps(k));
        self.transient.start_from(backend, &self.segment[0]);
        for (state, step) in (1..).zip(steps) {
            let outcome = self.transient.step(linear, moduli, step, monitor)?;
            let time = self.transient.timeline.time(step);
            let name = || format!("step {step} to the time {time}");
            linear.effort.add(outcome, [linear.solver.tolerance, 0.0], name)?;
            backend.copy(self.transient.state(), &mut self.segment[state]);
        }
        Ok(())
    }

    /// The steps of segment `k`, from 1.
    fn steps(&self, k: usize) -> RangeInclusive<usize> {
        let first = k * self.stride + 1;
        first..=(first + self.stride - 1).min(self.transient.timeline.n_steps())
    }
}

impl<B: Pointwise> AdjointWork<B> {
    /// Adds the work of a step of length dt between two states. `nodal` is overwritten.
    fn add(
        &mut self,
        linear: &Linear<B>,
        eta: &B::Vector,
        [before, after]: [&B::Vector; 2],
        (theta, dt): (f64, f64),
        nodal: &mut B::Vector,
    ) {
        let (backend, operator) = (linear.backend, linear.of_whole());
        let Self { conduction, capacity, scratch } = self;
        // w = (1 - theta) u_0 + theta u_1, at held nodes as well.
        backend.copy(after, nodal);
        backend.axpby(1.0 - theta, before, theta, nodal);
        operator.element_work(0, eta, nodal, scratch);
        backend.axpby(1.0, scratch, 1.0, conduction);

        backend.copy(after, nodal);
        backend.axpby(-1.0, before, 1.0, nodal);
        operator.element_work(1, eta, nodal, scratch);
        backend.axpby(1.0 / dt, scratch, 1.0, capacity);
    }
}

/// Steps of a segment of `n` steps.
fn stride(n: usize) -> usize {
    (n as f64).sqrt().ceil() as usize
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
