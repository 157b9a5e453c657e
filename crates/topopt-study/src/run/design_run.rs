//! The design loop of a run, on every rank.

use std::cell::Cell;

use topopt_analysis::Whole;
use topopt_case::config::{self, Style};
use topopt_case::design_loop::{self, Parts};
use topopt_case::finding::InputError;
use topopt_case::full_part::{self, FullPart};
use topopt_case::subject::{Bare, Subject};
use topopt_design::{DesignError, DesignState, Ended, Optimization};
use topopt_linalg::{Backend, BackendError};

use super::prepared::{First, Prepared};
use super::request::Asked;
use super::settled::{Settled, is_interrupted, settle_last, until_interrupted};
use super::watcher::{Reporter, Watcher};
use crate::computer::{Computer, Neighbors, Solvable, Solver, Visitor};
use crate::doubts;
use crate::failure::Failure;
use crate::fingerprint::fingerprint;
use crate::observer::StudyObserver;
use crate::summary::{Preconditioner, RunSummary};

/// A prepared run on one rank.
pub(super) struct DesignRun<'a, K, const N: usize> {
    pub asked: Asked<'a>,
    pub subject: Subject<'a, K, N>,
    /// See [`Prepared::strategy`].
    pub strategy: config::Strategy,
    /// State of the design to resume from; none for a new run.
    pub state: Option<&'a DesignState>,
    /// Number of designs on a coarser mesh before the first.
    pub begun: usize,
    /// Densities to start from; empty on ranks after the first.
    pub densities: Option<&'a [f64]>,
    /// Case and observer, on the first rank alone.
    pub first: Option<First<'a, K, N>>,
}

impl<'a, K: Solvable<N>, const N: usize> DesignRun<'a, K, N> {
    /// Builds the run of the first rank, which computes `subject`.
    pub fn of_first(
        asked: Asked<'a>,
        prepared: &'a Prepared<K, N>,
        subject: Subject<'a, K, N>,
        observer: &'a mut dyn StudyObserver,
    ) -> Self {
        Self {
            asked,
            subject,
            strategy: prepared.strategy(asked.config.solver.strategy),
            state: prepared.state(),
            begun: prepared.n_begun(),
            densities: prepared.densities(),
            first: Some(First { prepared, observer }),
        }
    }

    /// Builds a run on a coarser mesh, which nobody observes.
    pub fn of_coarse(asked: Asked<'a>, prepared: &'a Prepared<K, N>) -> Self {
        Self {
            asked,
            subject: prepared.model.subject_of_run(),
            strategy: prepared.strategy(asked.config.solver.strategy),
            state: None,
            begun: 0,
            densities: None,
            first: None,
        }
    }
}

impl<K: Solvable<N>, const N: usize> Visitor for DesignRun<'_, K, N> {
    type Output = ();

    /// Runs the design loop before its observers.
    fn visit<C: Computer>(mut self, computer: &C) -> Result<(), Failure> {
        let (Asked { config, interrupt, .. }, subject) = (self.asked, self.subject);
        let (strategy, contrast) = (self.strategy(computer), subject.task.contrast);
        let model = self.first.as_ref().map(|first| &first.prepared.model);

        // Warnings and the checksum are collected while the solver is set up on its device.
        let (mut doubtful, mut sum) = (Vec::new(), None);
        let is_kept = self.asked.request.files.is_some();
        let kept = model.filter(|_| is_kept);
        let solver = rayon::in_place_scope(|scope| {
            scope.spawn(|_| doubtful = model.map_or(Vec::new(), |model| doubts::of(config, model)));
            scope.spawn(|_| sum = kept.map(fingerprint));
            computer.solver(config, subject, strategy, contrast)
        })?;
        let fingerprint = sum.transpose().map_err(InputError::from)?;
        let thicker = self.of_thicker(computer, &solver)?;
        let first = self.first.take();
        let first = first.map(|first| (self.summary(&first, computer, &solver, doubtful), first));

        let neighbors = Cell::new(None);
        let bare = subject.task.timeline.as_ref().map(|_| subject.bare());
        let mut optimization =
            self.optimization(computer, (solver, thicker), bare.as_ref(), &neighbors)?;
        let ranks = computer.communicator();
        if is_interrupted(ranks, interrupt) && self.state.is_none() {
            return Err(Failure::Interrupted { iterations: 0, directory: None });
        }

        let full_part = self.full_part(computer, &mut optimization, first.is_some())?;

        // From here on an interruption leaves results to be reported.
        let _listening = interrupt.listen();
        let begun = first.as_ref().and_then(|(_, first)| first.prepared.begun.as_ref());
        let reporter = first.map(|(mut summary, first)| {
            summary.record.neighbors = neighbors.get();
            full_part.into_iter().for_each(|full_part| summary.hold_against(full_part));
            Reporter::start(self.asked, first, summary, fingerprint)
        });
        let mut watcher = Watcher {
            ranks,
            interrupt,
            iterations: self.state.map_or(0, |state| state.iteration),
            is_ended_by_observer: false,
            reporter: reporter.transpose().map_err(InputError::from)?,
        };
        if let (Some((begun, _)), Some(reporter)) = (begun, &mut watcher.reporter) {
            let reported = begun.reports.iter().try_for_each(|report| reporter.coarse(report));
            reported.map_err(DesignError::Observer)?;
        }
        let ended = optimization.run(&mut watcher).and_then(|outcome| {
            let interrupted = outcome.ended == Ended::Interrupted;
            let kept = watcher.keep_state(&optimization.design(), interrupted);
            kept.map_err(DesignError::Observer)?;
            watcher.doubt_thinner(optimization.thinner()?.as_deref());
            let is_crisp = config.design.style == Style::Crisp;
            let settled = settle_last(&mut optimization, &mut watcher, &outcome.ended, is_crisp)?;
            let (ended, went_back) = match settled {
                Settled::Last => (outcome.ended, false),
                Settled::Kept => (outcome.ended, true),
                Settled::Interrupted => {
                    let kept = watcher.keep_state(&optimization.design(), true);
                    kept.map_err(DesignError::Observer)?;
                    (Ended::Interrupted, false)
                }
            };
            watcher.finish(&optimization.design()).map_err(DesignError::Observer)?;
            Ok((ended, went_back))
        });

        let Watcher { iterations, is_ended_by_observer, reporter, .. } = watcher;
        let as_ended = ended.as_ref().ok().map(|(ended, _)| ended);
        let reported = reporter.map(|reporter| reporter.close(as_ended));
        let (ended, went_back) = ended?;
        reported.transpose()?;
        match ended {
            Ended::Solver { .. } if went_back => Ok(()),
            Ended::Interrupted if is_ended_by_observer => Ok(()),
            ended => verdict(ended, iterations, self.asked),
        }
    }
}

impl<'a, K: Solvable<N>, const N: usize> DesignRun<'a, K, N> {
    /// The strategy of the first part of a resumed run, if all ranks still have it.
    pub fn strategy(&self, computer: &impl Computer) -> config::Strategy {
        let is_here = computer.strategies(self.subject).contains(&self.strategy.name());
        match computer.communicator().any(!is_here) {
            true => self.asked.config.solver.strategy,
            false => self.strategy,
        }
    }

    /// The solver for the thicker design, where that is solved as well, by the strategy of `solver`.
    pub fn of_thicker<'b, C: Computer>(
        &self,
        computer: &'b C,
        solver: &Solver<'b, C::Backend>,
    ) -> Result<Option<Solver<'b, C::Backend>>, Failure>
    where
        'a: 'b,
    {
        let (Asked { config, .. }, subject) = (self.asked, self.subject);
        let strategy = config::Strategy::named(solver.operator.strategy());
        let strategy = strategy.unwrap_or(self.strategy);
        let made = || computer.solver(config, subject, strategy, subject.task.contrast);
        subject.task.space.solves_both().then(made).transpose()
    }

    /// Compares the limits with the full part, by one solve, at the start of a new run whose limits
    /// may be out of reach. All ranks do; the first one reports a refusal.
    fn full_part<C: Computer>(
        &self,
        computer: &C,
        optimization: &mut Optimization<C::Backend>,
        is_first: bool,
    ) -> Result<Option<FullPart>, Failure> {
        let Asked { config, interrupt, .. } = self.asked;
        let posed = &self.subject.task.posed;
        if self.state.is_some() || !full_part::is_of_use(posed) {
            return Ok(None);
        }

        let ranks = computer.communicator();
        let mut monitor = |_| until_interrupted(ranks, interrupt);

        let values = optimization.full_part(&mut monitor)?;
        if is_interrupted(ranks, interrupt) {
            return Err(Failure::Interrupted { iterations: 0, directory: None });
        }

        let found = values.map(|values| FullPart::of(config, posed, self.subject.problem, &values));
        found.transpose().map_err(|refused| match is_first {
            true => InputError::from(refused).into(),
            false => Failure::ReportedByFirst,
        })
    }

    fn summary<C: Computer>(
        &self,
        first: &First<'a, K, N>,
        computer: &C,
        solver: &Solver<C::Backend>,
        doubtful: Vec<String>,
    ) -> RunSummary<'a> {
        let Prepared { model, notes, resumption, start_from, begun, .. } = first.prepared;
        let (device, strategy) = (computer.backend().name(), solver.operator.strategy());
        let mut summary = RunSummary::new(self.asked.config, model, doubtful, (device, strategy));
        summary.record.preconditioner = Preconditioner::of(solver.preconditioner.as_ref());
        summary.record.notes.extend(notes.iter().cloned());
        summary.record.notes.extend(solver.note.clone());
        if let Some(resumption) = resumption {
            summary.resume(resumption);
        }
        if let Some((design, _)) = start_from {
            summary.start_from(design);
        }
        if let Some((begun, _)) = begun {
            summary.begin_coarse(&begun.start);
        }
        summary
    }

    /// Adds the whole equation to the `solver` of the half, where that is solved.
    fn with_whole<'b, C: Computer>(
        &self,
        computer: &'b C,
        solver: topopt_design::Solver<'b, C::Backend>,
    ) -> Result<topopt_design::Solver<'b, C::Backend>, BackendError>
    where
        'a: 'b,
    {
        let Subject { problem, equation, task, half } = self.subject;
        let Some(half) = half else { return Ok(solver) };
        let operator = computer.matrix_free(equation, task.colors.as_deref())?;
        let whole = Whole::new(computer.backend(), problem, &half.model, operator)?;
        Ok(topopt_design::Solver { whole: Some(whole), ..solver })
    }

    /// Builds the design loop with its filter and start; `bare` is given for steps in time. The
    /// size of the filter's weights is written to `neighbors`.
    pub fn optimization<'b, C: Computer>(
        &self,
        computer: &'b C,
        (solver, thicker): (Solver<'b, C::Backend>, Option<Solver<'b, C::Backend>>),
        bare: Option<&'b Bare>,
        neighbors: &'b Cell<Option<Neighbors>>,
    ) -> Result<Optimization<'b, C::Backend>, DesignError>
    where
        'a: 'b,
    {
        let (Asked { config, .. }, subject) = (self.asked, self.subject);
        let made = |equation| computer.matrix_free(equation, subject.task.colors.as_deref());
        let bare = bare.map(|Bare { conduction, storage }| {
            Ok::<_, BackendError>((made(conduction)?, storage.as_ref().map(made).transpose()?))
        });

        let plan = subject.task.filter.weights();
        let parts = Parts {
            solver: self.with_whole(computer, solver.of_equation(&config.solver))?,
            thicker: thicker.map(|solver| solver.of_equation(&config.solver)),
            bare: bare.transpose()?,
            weights_of: Box::new(move |radius| {
                let (plan, _) = plan.expect("weights are made for a filter only");
                let (weights, found) = computer.weights(&plan, subject, radius)?;
                neighbors.set(found);
                Ok(weights)
            }),
            corners: config.has_half_width().then(|| computer.corners(subject)).transpose()?,
        };

        let stop = design_loop::stop_rules(&config.optimizer);
        let backend = computer.backend();
        let optimization = design_loop::of(config, subject, backend, parts, stop, self.densities)?;
        match self.state {
            Some(state) => Ok(optimization.resumed(state)?),
            None => Ok(optimization.after(self.begun)),
        }
    }
}

/// Converts the end of the run to success or a [`Failure`], which sets the exit status.
pub(super) fn verdict(ended: Ended, iterations: usize, asked: Asked) -> Result<(), Failure> {
    match ended {
        Ended::Rule(_) => Ok(()),
        Ended::Interrupted => {
            Err(Failure::Interrupted { iterations, directory: asked.directory() })
        }
        Ended::Filter { iteration, outcome } => {
            Err(Failure::Filter { iteration, iterations, outcome })
        }
        Ended::Sensitivities { iteration } => Err(Failure::Sensitivities { iteration }),
        Ended::Solver { iteration, load_case, outcome, tolerance } => {
            let other_cycle = asked.config.solver.other_cycle();
            Err(Failure::Solver { iteration, load_case, outcome, tolerance, other_cycle })
        }
    }
}
