//! `Watcher` of the design loop: notices interruptions on every rank, writes results on the first.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use topopt_case::finding::Finding;
use topopt_case::interrupt::Interrupt;
use topopt_case::model::Model;
use topopt_design::{
    Design, DesignFields, DesignState, Ended, IterationReport, Observer, ObserverError,
};
use topopt_io::WriteError;
use topopt_linalg::{Communicator, PcgProgress, Pointwise};

use super::prepared::First;
use super::request::{Asked, Progress};
use crate::checkpoint::Checkpointer;
use crate::computer::Solvable;
use crate::connection;
use crate::results::Results;
use crate::summary::RunSummary;

/// Watches the design loop on a rank. What is decided by a clock or a signal all ranks decide
/// together, and all take part in what it takes to have the fields of a design.
pub(super) struct Watcher<'r, 'a, K, const N: usize> {
    pub ranks: &'r dyn Communicator,
    pub interrupt: &'a Interrupt,
    /// See [`topopt_case::config::Output::snapshot_every`].
    pub snapshot_every: usize,
    /// Iterations done so far.
    pub iterations: usize,
    /// On the first rank.
    pub writer: Option<Writer<'a, K, N>>,
}

impl<B: Pointwise, K: Solvable<N>, const N: usize> Observer<B> for Watcher<'_, '_, K, N> {
    fn solving(&mut self, iteration: usize, progress: PcgProgress) -> ControlFlow<()> {
        if let Some(writer) = &mut self.writer {
            writer.progress.solving(iteration, progress);
        }
        if self.ranks.any(self.interrupt.is_requested()) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn evaluated(
        &mut self,
        report: &IterationReport,
        design: &Design<B>,
    ) -> Result<(), ObserverError> {
        let start = Instant::now();
        self.iterations = report.iteration;
        let every = self.snapshot_every;
        let is_snapshot = every > 0 && report.iteration.is_multiple_of(every);
        let fields = if is_snapshot { design.fields()? } else { None };
        if let Some(writer) = &mut self.writer {
            writer.iteration(report, fields, start)?;
        }
        let is_due = |checkpointer: &Checkpointer| checkpointer.is_due(report.iteration);
        self.checkpoint_if(is_due, design)
    }
}

impl<K: Solvable<N>, const N: usize> Watcher<'_, '_, K, N> {
    /// Writes the checkpoint and the design evaluated last, if there is one.
    pub fn finish<B: Pointwise>(
        &mut self,
        design: &Design<B>,
        interrupted: bool,
    ) -> Result<(), ObserverError> {
        let iterations = self.iterations;
        let is_due =
            |checkpointer: &Checkpointer| checkpointer.is_due_at_end(iterations, interrupted);
        self.checkpoint_if(is_due, design)?;
        if iterations == 0 {
            return Ok(());
        }

        let start = Instant::now();
        if let (Some(fields), Some(writer)) = (design.fields()?, &mut self.writer) {
            writer.summary.ending.extend(connection::doubts(writer.model, &fields.density));
            writer.results.finish(iterations, fields)?;
            writer.summary.record.done.seconds.add_output(start.elapsed());
        }
        Ok(())
    }

    /// Writes a checkpoint where the first rank says that it is due.
    fn checkpoint_if<B: Pointwise>(
        &mut self,
        is_due: impl Fn(&Checkpointer) -> bool,
        design: &Design<B>,
    ) -> Result<(), ObserverError> {
        if !self.ranks.any(self.writer.as_ref().is_some_and(|w| is_due(&w.checkpointer))) {
            return Ok(());
        }
        let start = Instant::now();
        let state = design.state()?;
        match &mut self.writer {
            Some(writer) => writer.checkpoint(&state, start),
            None => Ok(()),
        }
    }
}

/// Writes and shows what becomes of a run.
pub(super) struct Writer<'a, K, const N: usize> {
    model: &'a Model<K, N>,
    results: Results<'a, K, N>,
    checkpointer: Checkpointer,
    progress: &'a mut dyn Progress,
    summary: RunSummary<'a>,
    clock: Clock,
}

/// The time of the run, its earlier parts included.
#[derive(Clone, Copy)]
struct Clock {
    start: Instant,
    /// Seconds of the run before the checkpoint that it resumes from.
    earlier: f64,
}

impl Clock {
    fn total(self) -> f64 {
        self.earlier + self.start.elapsed().as_secs_f64()
    }
}

impl<'a, K: Solvable<N>, const N: usize> Writer<'a, K, N> {
    /// Makes the folder of the results; the run begins.
    ///
    /// # Errors
    /// Those of [`Results::create`].
    pub fn start(
        Asked { config, request, start, .. }: Asked,
        First { prepared, progress }: First<'a, K, N>,
        mut summary: RunSummary<'a>,
    ) -> Result<Self, Finding> {
        let (model, resumption) = (&prepared.model, prepared.resumption.as_ref());
        let record = &mut summary.record;
        let (strategy, iteration) = (record.strategy.as_str(), record.done.iterations);
        let checkpointer = Checkpointer::new(config, model, strategy, iteration)?;
        let results = Results::create(model, config, resumption, request.earlier)?;
        let clock = Clock { start, earlier: record.done.seconds.total };
        record.done.seconds.preprocess += start.elapsed().as_secs_f64();
        progress.start(&summary);
        Ok(Self { model, results, checkpointer, progress, summary, clock })
    }

    /// Takes an iteration, with the fields for a snapshot if one is due; its output began at `start`.
    fn iteration(
        &mut self,
        report: &IterationReport,
        fields: Option<DesignFields>,
        start: Instant,
    ) -> Result<(), ObserverError> {
        if let Some(fields) = fields {
            self.results.snapshot(report.iteration, fields)?;
        }
        self.results.row(report, start.elapsed())?;
        self.summary.record.done.add(self.summary.posed, report, start.elapsed());
        self.progress.iteration(report);
        Ok(())
    }

    fn checkpoint(&mut self, state: &DesignState, start: Instant) -> Result<(), ObserverError> {
        let done = &mut self.summary.record.done;
        done.seconds.total = self.clock.total();
        self.checkpointer.write(state, done)?;
        done.seconds.add_output(start.elapsed());
        Ok(())
    }

    /// The run is over, and has `ended` like this if it has not failed.
    ///
    /// # Errors
    /// A summary that cannot be written.
    pub fn close(mut self, ended: Option<&Ended>, directory: &Path) -> Result<(), WriteError> {
        self.summary.close(ended);
        self.summary.record.done.seconds.total = self.clock.total();
        let written = self.summary.record.write(directory);
        self.progress.end(&self.summary, directory);
        written
    }
}
