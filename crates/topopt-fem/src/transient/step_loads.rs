//! Loads and held values of steps on a backend.

use topopt_linalg::{Backend, BackendError, LinearOperator};

use super::{Held, StepData, Timeline, Varying};
use crate::ProblemView;

/// Loads and held values of a [`Timeline`], evaluated on the backend for a step or a time.
pub struct StepLoads<'a, B: Backend> {
    theta: f64,
    /// 0 at held nodes.
    loads: Vec<(B::Vector, &'a Varying)>,
    /// Held values that are not always 0.
    held: Vec<(B::Vector, &'a Varying)>,
    source: B::Vector,
    held_middle: B::Vector,
    held_end: B::Vector,
}

impl<'a, B: Backend> StepLoads<'a, B> {
    /// Uploads loads and held values of `timeline`; loads are set to 0 at the held nodes of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        timeline: &'a Timeline,
        problem: &dyn ProblemView,
    ) -> Result<Self, BackendError> {
        let nodes = problem.unknowns();
        let free = |varying: &'a Varying| {
            let mut values = varying.values.clone();
            problem.clear_held(&mut values);
            Ok((backend.upload(&values, nodes)?, varying))
        };
        let whole = |varying: &'a Varying| Ok((backend.upload(&varying.values, nodes)?, varying));
        let moved = timeline.held.iter().filter(|held| held.acts());
        Ok(Self {
            theta: timeline.theta,
            loads: timeline.loads.iter().map(free).collect::<Result<_, BackendError>>()?,
            held: moved.map(whole).collect::<Result<_, BackendError>>()?,
            source: backend.zeros(nodes)?,
            held_middle: backend.zeros(nodes)?,
            held_end: backend.zeros(nodes)?,
        })
    }

    /// Makes the loads at `time`.
    pub fn take_time(&mut self, backend: &B, time: f64) {
        sum(backend, &self.loads, |varying| varying.factor(time), &mut self.source);
    }

    /// Makes loads and held values of a step between `times`. `free` is K without held nodes and
    /// springs.
    pub fn step<'s>(
        &'s mut self,
        backend: &B,
        times: [f64; 2],
        free: &'s dyn LinearOperator<B>,
    ) -> StepData<'s, B> {
        let theta = self.theta;
        let middle = |varying: &Varying| varying.middle_factor(times, theta);
        let end = |varying: &Varying| varying.factor(times[1]);
        sum(backend, &self.loads, middle, &mut self.source);
        sum(backend, &self.held, middle, &mut self.held_middle);
        sum(backend, &self.held, end, &mut self.held_end);
        let Self { source, held_middle: middle, held_end: end, held, .. } = &*self;
        let held = (!held.is_empty()).then_some(Held { middle, end, free });
        StepData { source, held, dt: times[1] - times[0] }
    }

    /// The loads made last, 0 at held nodes, `[n_nodes]`.
    pub fn source(&self) -> &B::Vector {
        &self.source
    }
}

/// out = the sum of factors times values.
fn sum<B: Backend>(
    backend: &B,
    acting: &[(B::Vector, &Varying)],
    factor: impl Fn(&Varying) -> f64,
    out: &mut B::Vector,
) {
    backend.fill(0.0, out);
    acting.iter().for_each(|(values, varying)| backend.axpby(factor(varying), values, 1.0, out));
}
