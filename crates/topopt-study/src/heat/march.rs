//! Time steps of heat on any computer, and the account of its heat.

use std::time::Instant;

use topopt_analysis::{Linear, Transient};
use topopt_case::subject::Bare;
use topopt_fem::ProblemView;
use topopt_linalg::{PcgOutcome, Pointwise, StopReason};

use super::restart::{Account, Reached, Restart, Resumed};
use super::rows::{Row, Rows};
use super::steps::Steps;
use crate::analysis::InTime;
use crate::computer::{Computer, Visitor};
use crate::failure::Failure;
use crate::solved::Means;

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

/// Time stepping between two checkpoints: equation, steps and state.
struct March<'a, B: Pointwise> {
    steps: &'a Steps<'a>,
    linear: Linear<'a, B>,
    transient: Transient<'a, B>,
    conductivities: B::Vector,
    /// C, and 1 at free nodes, `[n_nodes]`.
    lumped: Vec<f64>,
    is_free: Vec<f64>,
    /// The step before the first one; it has a checkpoint, if it is not 0.
    begun: usize,
    reached: Reached,
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
    /// Starts from the state that is `reached`, with a solver that keeps nothing of earlier steps.
    fn begin<C: Computer<Backend = B>>(
        steps: &'a Steps<'a>,
        computer: &'a C,
        bare: &'a Bare,
        mut reached: Reached,
    ) -> Result<(Self, Means), Failure> {
        let (part, model, backend) = (steps.part, steps.part.model, computer.backend());
        let solver = steps.conditions.solver(model, &part.filling, computer)?;
        let means = Means::of(&solver);
        let made = |equation| computer.matrix_free(equation, model.colors.as_deref());
        let storage = bare.storage.as_ref().map(made).transpose()?;
        let bare = (made(&bare.conduction)?, storage);

        let (problem, constraints) = (&model.problem, model.problem.constraints());
        let (nodes, elements) = (problem.space(), problem.elements());
        let conductivities = backend.upload(&part.filling.moduli(model), elements)?;
        let density = backend.upload(&part.filling.density, elements)?;
        let solver = solver.of_equation(&part.config.solver);
        let mut linear = Linear::new(backend, problem, solver)?;
        linear.accept_rounded(steps.conditions.rounded);
        let mut transient = Transient::new(backend, steps.timeline, bare, problem)?;
        transient.start_from(backend, &backend.upload(&reached.state, nodes)?);

        let start = Instant::now();
        transient.assemble(&mut linear, &density, &conductivities);
        linear.update_preconditioner(&conductivities)?;
        let lumped = backend.download(transient.capacity())?;
        reached.account.seconds += start.elapsed().as_secs_f64();

        let flag = |n| if constraints.is_held(n) { 0.0 } else { 1.0 };
        let march = Self {
            steps,
            linear,
            transient,
            conductivities,
            is_free: (0..nodes.points).map(flag).collect(),
            rates: vec![0.0; nodes.points],
            flows: backend.zeros(nodes)?,
            lumped,
            begun: reached.step,
            reached,
        };
        Ok((march, means))
    }

    /// The next step. Returns its iterations.
    fn step(&mut self) -> Result<usize, Failure> {
        let (steps, step) = (self.steps, self.reached.step + 1);
        let Self { linear, transient, conductivities, reached, .. } = self;
        // The device is done before: the last state was downloaded.
        let start = Instant::now();
        let mut monitor = |_| steps.conditions.monitor();
        let outcome = transient.step(linear, conductivities, step, &mut monitor)?;
        reached.account.seconds += start.elapsed().as_secs_f64();

        self.converged(&outcome)?;
        self.account()?;
        self.reached.step = step;
        Ok(outcome.iterations)
    }

    /// Counts a solve that has converged.
    fn converged(&mut self, outcome: &PcgOutcome) -> Result<(), Failure> {
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
                let remedy = steps.conditions.remedies.of(outcome.reason);
                let (outcome, tolerance) = (*outcome, self.linear.tolerance());
                Err(Failure::Unsolved { load_case, outcome, tolerance, remedy })
            }
        }
    }

    /// Computes the heat stored in the step, and records the error of the balance at free nodes.
    fn account(&mut self) -> Result<(), Failure> {
        let backend = self.linear.backend();
        let source = backend.download(self.transient.source())?;
        let state = backend.download(self.transient.state())?;
        self.transient.middle_flows(backend, &mut self.flows);
        let flows = backend.download(&self.flows)?;
        let middle = self.transient.middle(backend)?;
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
    fn stored(&mut self, state: &[f64]) -> Result<Vec<f64>, Failure> {
        let rises = state.iter().zip(&self.reached.state).map(|(after, before)| after - before);
        let rises: Vec<f64> = rises.collect();
        let backend = self.linear.backend();
        let rises = backend.upload(&rises, self.linear.nodes())?;
        self.transient.stored(backend, &rises, &mut self.flows);
        let stored = backend.download(&self.flows)?;
        Ok(stored.into_iter().map(|heat| heat / self.transient.dt()).collect())
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
            middle: self.transient.middle(self.linear.backend())?,
            middle_time: end - (1.0 - theta) * self.transient.dt(),
            state,
            rates: self.rates,
            means,
            account,
        })
    }
}
