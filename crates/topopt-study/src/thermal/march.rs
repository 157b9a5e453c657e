//! Time steps of heat on any computer, and the account of its heat.

use std::ops::ControlFlow;
use std::time::Instant;

use topopt_case::subject::Bare;
use topopt_fem::{
    ElementOperator, ElementPreconditioner, StepData, StepLoads, StepSolver, ThetaScheme,
    WithSprings, lumped_capacity,
};
use topopt_linalg::{LinearOperator, Pcg, PcgOptions, PcgOutcome, Pointwise, Space, StopReason};

use super::found::InTime;
use super::restart::{Account, Reached, Restart, Resumed};
use super::rows::{Row, Rows};
use super::steps::Steps;
use crate::computer::{Computer, Visitor};
use crate::failure::Failure;
use crate::solved::{Means, strategy};

/// All steps, from the beginning or a checkpoint on.
pub(super) struct TimeSteps<'a> {
    pub steps: &'a Steps<'a>,
    pub restart: Restart,
    pub resumed: Option<Resumed>,
}

/// Results of the time steps, in the order of the problem.
pub(super) struct Went {
    pub state: Vec<f64>,
    /// Heat stored per time at nodes in the last step, and the temperatures in its middle.
    pub rates: Vec<f64>,
    pub middle: Vec<f64>,
    pub middle_time: f64,
    pub in_time: InTime,
    pub means: Means,
    pub account: Account,
}

/// Operator of the steps and K, and C where it is no diagonal matrix.
type Operators<'a, B> =
    ([Box<dyn ElementOperator<B> + 'a>; 2], Option<Box<dyn ElementOperator<B> + 'a>>);

/// Time stepping between two checkpoints: operators, scheme and state.
struct March<'a, B: Pointwise> {
    steps: &'a Steps<'a>,
    backend: &'a B,
    scheme: ThetaScheme<B>,
    acting: StepLoads<'a, B>,
    pcg: Pcg<B>,
    /// K + C / (theta dt), with rows of the identity at held nodes and with the springs.
    operator: Box<dyn ElementOperator<B> + 'a>,
    /// K without held nodes and without springs.
    free: Box<dyn ElementOperator<B> + 'a>,
    /// C without held nodes, where it is no diagonal matrix.
    storage: Option<Box<dyn ElementOperator<B> + 'a>>,
    preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    conductivities: B::Vector,
    /// C, and 1 at free nodes, `[n_nodes]`.
    lumped: Vec<f64>,
    is_free: Vec<f64>,
    /// The step before the first one; it has a checkpoint, if it is not 0.
    begun: usize,
    reached: Reached,
    /// Length of the last step.
    dt: f64,
    /// Heat stored per time in the last step, `[n_nodes]`.
    rates: Vec<f64>,
    flows: B::Vector,
}

impl Visitor for TimeSteps<'_> {
    type Output = Went;

    fn visit<C: Computer>(self, computer: &C) -> Result<Went, Failure> {
        let Self { steps, restart, resumed } = self;
        let _listening = steps.conditions.interrupt.listen();
        let bare = steps.part.model.subject().bare();

        let start = steps.timeline.initial.clone();
        let mut rows = Rows::open(steps, &start, resumed.as_ref())?;
        let beginning = || Reached { step: 0, state: start.clone(), account: Account::default() };
        let mut reached = resumed.map_or_else(beginning, |resumed| resumed.reached);
        loop {
            let end = steps.next_checkpoint(reached.step);
            let (mut march, means) = March::begin(steps, computer, &bare, reached)?;
            while march.reached.step < end {
                let iterations = march.step()?;
                let (stored, Reached { step, state, .. }) =
                    (march.rates.iter().sum(), &march.reached);
                rows.add(&Row { step: *step, state, stored, iterations })?;
            }
            if end == steps.n_steps() {
                rows.close(steps.time(end))?;
                return march.went(&start, means);
            }
            reached = march.reached;
            restart.write(steps, &reached)?;
        }
    }
}

impl<'a, B: Pointwise + Sync> March<'a, B> {
    /// Goes on from what is `reached`, with means that remember nothing of earlier steps.
    fn begin<C: Computer<Backend = B>>(
        steps: &'a Steps<'a>,
        computer: &'a C,
        bare: &'a Bare,
        reached: Reached,
    ) -> Result<(Self, Means), Failure> {
        let (model, config, backend) = (steps.part.model, steps.part.config, computer.backend());
        let wanted = strategy(config, model, computer);
        let solver =
            computer.solver(config, model.subject(), wanted, steps.part.filling.contrast)?;
        let means = Means::of(&solver);
        let made = |equation| computer.diffusion(equation, model.colors.as_deref());
        let storage = bare.storage.as_ref().map(made).transpose()?;
        let operator = Box::new(WithSprings::new(backend, &model.problem, solver.operator)?);
        let operators = [operator as Box<dyn ElementOperator<B> + 'a>, made(&bare.conduction)?];
        let operators = (operators, storage);
        Ok((Self::new(steps, backend, operators, solver.preconditioner, reached)?, means))
    }

    fn new(
        steps: &'a Steps<'a>,
        backend: &'a B,
        ([operator, mut free], mut storage): Operators<'a, B>,
        preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
        reached: Reached,
    ) -> Result<Self, Failure> {
        let (part, problem) = (steps.part, &steps.part.model.problem);
        let mesh = problem.mesh();
        let elements = Space::elements(mesh.n_elements());
        let conductivities = backend.upload(&part.filling.moduli(part.model), elements)?;
        let zeros = backend.zeros(elements)?;
        free.set_coefficients(&[&conductivities, &zeros]);
        if let Some(storage) = &mut storage {
            storage.set_coefficients(&[&zeros, &backend.upload(&steps.capacities, elements)?]);
        }

        let lumped = lumped_capacity(mesh, &steps.capacities);
        let flag = |n| if problem.constraints().is_held(n) { 0.0 } else { 1.0 };
        let is_free: Vec<f64> = (0..mesh.n_nodes()).map(flag).collect();
        let nodal = [lumped.as_slice(), &is_free, &reached.state];
        let nodes = problem.space();
        Ok(Self {
            steps,
            backend,
            scheme: ThetaScheme::new(backend, nodes, steps.timeline.theta, nodal)?,
            acting: StepLoads::new(backend, steps.timeline, problem)?,
            pcg: Pcg::new(backend, nodes)?,
            operator,
            free,
            storage,
            preconditioner,
            conductivities,
            rates: vec![0.0; lumped.len()],
            flows: backend.zeros(nodes)?,
            lumped,
            is_free,
            begun: reached.step,
            reached,
            dt: 0.0,
        })
    }

    /// Makes the operator for steps of the length `dt`; lengths that differ by rounding are one.
    fn take_length(&mut self, dt: f64) -> Result<(), Failure> {
        if (dt - self.dt).abs() <= 1e-9 * dt {
            return Ok(());
        }
        let (steps, backend) = (self.steps, self.backend);
        let rate = steps.capacities.iter().map(|c| c / (steps.timeline.theta * dt));
        let rate: Vec<f64> = rate.collect();
        let rate = backend.upload(&rate, Space::elements(rate.len()))?;
        let terms = [&self.conductivities, &rate];
        self.operator.set_coefficients(&terms);
        self.preconditioner.update(backend, self.operator.as_ref(), &terms)?;
        self.dt = dt;
        Ok(())
    }

    /// The next step. Returns its iterations.
    fn step(&mut self) -> Result<usize, Failure> {
        let (steps, step) = (self.steps, self.reached.step + 1);
        let ends = [step - 1, step].map(|step| steps.time(step));
        let settings = &steps.part.config.solver;
        let options =
            PcgOptions { tolerance: settings.tolerance, max_iterations: settings.max_iterations() };
        let mut monitor = |_| match steps.conditions.interrupt.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        // The device is done before: the last state was downloaded.
        let start = Instant::now();
        self.take_length(ends[1] - ends[0])?;
        let Self { backend, scheme, acting, pcg, operator, free, storage, preconditioner, .. } =
            self;
        let mut solver = StepSolver {
            backend: *backend,
            pcg,
            operator: operator.as_ref(),
            storage: storage.as_deref().map(|storage| storage as &dyn LinearOperator<B>),
            preconditioner: preconditioner.as_ref(),
            options,
            monitor: &mut monitor,
        };
        // Lengths that differ by rounding are one.
        let data = StepData { dt: self.dt, ..acting.step(backend, ends, free.as_ref()) };
        let outcome = scheme.step(&mut solver, &data)?;
        self.reached.account.seconds += start.elapsed().as_secs_f64();

        self.converged(&outcome, options.tolerance)?;
        self.account()?;
        self.reached.step = step;
        Ok(outcome.iterations)
    }

    /// Counts a solve that has converged.
    fn converged(&mut self, outcome: &PcgOutcome, tolerance: f64) -> Result<(), Failure> {
        let (steps, step) = (self.steps, self.reached.step + 1);
        let account = &mut self.reached.account;
        account.iterations += outcome.iterations;
        account.residual = account.residual.max(outcome.relative_residual);
        match outcome.reason {
            StopReason::Converged => Ok(()),
            StopReason::Interrupted => Err(Failure::InterruptedStep {
                step,
                checkpoint: (self.begun > 0).then_some(self.begun),
                directory: steps.part.config.output_directory(),
            }),
            _ => {
                let load_case = format!("step {step} to the time {}", steps.time(step));
                let (outcome, remedy) = (*outcome, steps.conditions.remedy);
                Err(Failure::Unsolved { load_case, outcome, tolerance, remedy })
            }
        }
    }

    /// Computes the heat stored in the step, and records the error of the balance at free nodes.
    fn account(&mut self) -> Result<(), Failure> {
        let source = self.backend.download(self.acting.source())?;
        let state = self.backend.download(self.scheme.state())?;
        self.scheme.middle_flows(self.backend, self.free.as_ref(), &mut self.flows);
        let flows = self.backend.download(&self.flows)?;
        let middle = self.scheme.middle(self.backend)?;
        let films = self.steps.part.model.problem.constraints().springs();
        self.rates = self.stored(&state)?;
        self.reached.state = state;
        let (mut missing, mut moved) = (0.0, 0.0f64);
        for n in 0..source.len() {
            let film = films.map_or(0.0, |films| films[n] * middle[n]);
            missing += self.is_free[n] * (source[n] - film - flows[n] - self.rates[n]);
            moved += source[n].abs() + film.abs() + self.rates[n].abs();
        }
        let Account { largest, worst, .. } = &mut self.reached.account;
        (*largest, *worst) = (largest.max(moved), worst.max(missing.abs()));
        Ok(())
    }

    /// Computes the heat stored per time at nodes since the previous state.
    fn stored(&self, state: &[f64]) -> Result<Vec<f64>, Failure> {
        let rises = state.iter().zip(&self.reached.state).map(|(after, before)| after - before);
        let rises: Vec<f64> = rises.collect();
        let stored: Vec<f64> = match &self.storage {
            None => rises.iter().zip(&self.lumped).map(|(rise, c)| c * rise).collect(),
            Some(storage) => {
                let (backend, nodes) = (self.backend, storage.space());
                let mut stored = backend.zeros(nodes)?;
                storage.apply(&backend.upload(&rises, nodes)?, &mut stored);
                backend.download(&stored)?
            }
        };
        Ok(stored.into_iter().map(|heat| heat / self.dt).collect())
    }

    fn went(self, start: &[f64], means: Means) -> Result<Went, Failure> {
        let Self { steps, reached: Reached { step, state, account }, .. } = self;
        let (theta, end) = (steps.timeline.theta, steps.time(step));
        let rises = state.iter().zip(start).map(|(end, start)| end - start);
        let stored = rises.zip(&self.lumped).map(|(rise, capacity)| rise * capacity).sum();
        let Account { largest, worst, .. } = account;
        let imbalance = if largest > 0.0 { worst / largest } else { 0.0 };
        Ok(Went {
            in_time: InTime { steps: step, end, theta, stored, imbalance },
            middle: self.scheme.middle(self.backend)?,
            middle_time: end - (1.0 - theta) * self.dt,
            state,
            rates: self.rates,
            means,
            account,
        })
    }
}
