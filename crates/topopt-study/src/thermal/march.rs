//! Time steps of heat on any computer, and the account of its heat.

use std::ops::ControlFlow;
use std::time::Instant;

use topopt_fem::{
    Constraints, Diffusion, Discretization, ElementOperator, ElementPreconditioner, StepData,
    ThetaScheme, WithSprings, lumped_capacity,
};
use topopt_linalg::{PcgOptions, PcgOutcome, Pointwise, Space, StopReason};

use super::found::InTime;
use super::rows::{Row, Rows};
use super::transient::{Steps, Went};
use crate::computer::{Computer, Visitor};
use crate::failure::Failure;
use crate::solved::{Means, strategy};

/// What goes on from step to step.
struct March<'a, B: Pointwise> {
    steps: &'a Steps<'a>,
    backend: &'a B,
    scheme: ThetaScheme<'a, B>,
    preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    conductivities: B::Vector,
    /// C, and 1 at free nodes, `[n_nodes]`.
    lumped: Vec<f64>,
    is_free: Vec<f64>,
    /// State, time and length at the end of the last step.
    state: Vec<f64>,
    time: f64,
    dt: f64,
    /// Heat stored per time in the last step, `[n_nodes]`.
    rates: Vec<f64>,
    flows: B::Vector,
    iterations: usize,
    residual: f64,
    /// Wall time of the preconditioner and of conjugate gradients.
    seconds: f64,
    /// Of the heat of a step: what went anywhere, and what is missing.
    largest: f64,
    worst: f64,
}

impl Visitor for &Steps<'_> {
    type Output = Went;

    fn visit<C: Computer>(self, computer: &C) -> Result<Went, Failure> {
        let (model, keys) = (self.part.model, self.keys);
        let (config, backend) = (self.part.config, computer.backend());
        let wanted = strategy(config, model, computer);
        let solver = computer.solver(config, model, wanted, self.part.filling.contrast)?;
        let means = Means::of(&solver);

        // The operator without held nodes says what flows into them.
        let mesh = model.problem.mesh();
        let bare = Discretization::new(mesh.clone(), Diffusion, Constraints::none(mesh.n_nodes()));
        let free = computer.diffusion(&bare, model.colors.as_deref())?;
        let operator = Box::new(WithSprings::new(backend, &model.problem, solver.operator)?);
        let mut march = March::new(self, backend, [operator, free], solver.preconditioner)?;

        let start = march.state.clone();
        let mut rows = Rows::create(self, &start)?;
        let times = keys.times();
        for (k, &end) in times.iter().enumerate() {
            let iterations = march.step(k + 1, end)?;
            let stored = march.rates.iter().sum();
            rows.add(&Row { step: k + 1, time: end, state: &march.state, stored, iterations })?;
        }
        rows.close(march.time)?;
        march.went(&start, times.len(), means)
    }
}

impl<'a, B: Pointwise + Sync> March<'a, B> {
    fn new(
        steps: &'a Steps<'a>,
        backend: &'a B,
        [operator, mut free]: [Box<dyn ElementOperator<B> + 'a>; 2],
        preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    ) -> Result<Self, Failure> {
        let (part, problem) = (steps.part, &steps.part.model.problem);
        let mesh = problem.mesh();
        let elements = Space::elements(mesh.n_elements());
        let conductivities = backend.upload(&part.filling.moduli(part.model), elements)?;
        free.set_coefficients(&[&conductivities, &backend.zeros(elements)?]);

        let lumped = lumped_capacity(mesh, &steps.capacities);
        let is_held = |n: usize| problem.constraints().is_held(n);
        let flag = |n| if is_held(n) { 0.0 } else { 1.0 };
        let is_free: Vec<f64> = (0..mesh.n_nodes()).map(flag).collect();
        let held = steps.held([0.0; 2], [1.0, 0.0]);
        let initial = |n: usize| if is_held(n) { held[n] } else { steps.keys.initial };
        let state: Vec<f64> = (0..held.len()).map(initial).collect();
        let nodal = [lumped.as_slice(), &is_free, &state];
        let theta = steps.keys.theta;
        Ok(Self {
            steps,
            backend,
            scheme: ThetaScheme::new(backend, [operator, free], theta, nodal)?,
            preconditioner,
            conductivities,
            rates: vec![0.0; state.len()],
            flows: backend.zeros(problem.space())?,
            lumped,
            is_free,
            state,
            time: 0.0,
            dt: 0.0,
            iterations: 0,
            residual: 0.0,
            seconds: 0.0,
            largest: 0.0,
            worst: 0.0,
        })
    }

    /// Makes the operator for steps of the length `dt`; lengths that differ by rounding are one.
    fn take_length(&mut self, dt: f64) -> Result<(), Failure> {
        if (dt - self.dt).abs() <= 1e-9 * dt {
            return Ok(());
        }
        let (steps, backend) = (self.steps, self.backend);
        let rate = steps.capacities.iter().map(|c| c / (steps.keys.theta * dt));
        let rate: Vec<f64> = rate.collect();
        let rate = backend.upload(&rate, Space::elements(rate.len()))?;
        let terms = [&self.conductivities, &rate];
        self.scheme.operator().set_coefficients(&terms);
        self.preconditioner.update(backend, self.scheme.operator(), &terms)?;
        self.dt = dt;
        Ok(())
    }

    /// The step number `k` to the time `end`. Returns its iterations.
    fn step(&mut self, k: usize, end: f64) -> Result<usize, Failure> {
        let (steps, ends) = (self.steps, [self.time, end]);
        let shares = [1.0 - steps.keys.theta, steps.keys.theta];
        let source = steps.source(ends, shares);
        let held = [steps.held(ends, shares), steps.held([end; 2], [1.0, 0.0])];

        let settings = &steps.part.config.solver;
        let options =
            PcgOptions { tolerance: settings.tolerance, max_iterations: settings.max_iterations() };
        let mut monitor = |_| match steps.conditions.interrupt.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        // The device is done before: the last state was downloaded.
        let start = Instant::now();
        self.take_length(end - self.time)?;
        let data = StepData { source: &source, held: [&held[0], &held[1]], dt: self.dt };
        let preconditioner = self.preconditioner.as_ref();
        let outcome = self.scheme.step(&data, preconditioner, options, &mut monitor)?;
        self.seconds += start.elapsed().as_secs_f64();
        self.converged(&outcome, options.tolerance, (k, end))?;
        self.account(&source)?;
        self.time = end;
        Ok(outcome.iterations)
    }

    /// Counts a solve that has converged.
    fn converged(
        &mut self,
        outcome: &PcgOutcome,
        tolerance: f64,
        (k, end): (usize, f64),
    ) -> Result<(), Failure> {
        self.iterations += outcome.iterations;
        self.residual = self.residual.max(outcome.relative_residual);
        match outcome.reason {
            StopReason::Converged => Ok(()),
            StopReason::Interrupted => {
                Err(Failure::Interrupted { iterations: k - 1, directory: None })
            }
            _ => {
                let load_case = format!("step {k} to the time {end}");
                let (outcome, remedy) = (*outcome, self.steps.conditions.remedy);
                Err(Failure::Unsolved { load_case, outcome, tolerance, remedy })
            }
        }
    }

    /// What was stored in the step, and what of its heat is missing at free nodes.
    fn account(&mut self, source: &[f64]) -> Result<(), Failure> {
        let state = self.backend.download(self.scheme.state())?;
        self.scheme.middle_flows(&mut self.flows);
        let flows = self.backend.download(&self.flows)?;
        let middle = self.scheme.middle()?;
        let films = self.steps.part.model.problem.constraints().springs();
        let (mut missing, mut moved) = (0.0, 0.0f64);
        for n in 0..state.len() {
            self.rates[n] = self.lumped[n] * (state[n] - self.state[n]) / self.dt;
            let film = films.map_or(0.0, |films| films[n] * middle[n]);
            missing += self.is_free[n] * (source[n] - film - flows[n] - self.rates[n]);
            moved += source[n].abs() + film.abs() + self.rates[n].abs();
        }
        (self.largest, self.worst) = (self.largest.max(moved), self.worst.max(missing.abs()));
        self.state = state;
        Ok(())
    }

    fn went(self, start: &[f64], steps: usize, means: Means) -> Result<Went, Failure> {
        let theta = self.steps.keys.theta;
        let rises = self.state.iter().zip(start).map(|(end, start)| end - start);
        let stored = rises.zip(&self.lumped).map(|(rise, capacity)| rise * capacity).sum();
        let imbalance = if self.largest > 0.0 { self.worst / self.largest } else { 0.0 };
        Ok(Went {
            in_time: InTime { steps, end: self.time, theta, stored, imbalance },
            middle: self.scheme.middle()?,
            middle_time: self.time - (1.0 - theta) * self.dt,
            state: self.state,
            rates: self.rates,
            means,
            pcg_iterations: self.iterations,
            pcg_residual: self.residual,
            seconds: self.seconds,
        })
    }
}
