//! `Watcher` of the design loop: notices interruptions on every rank, reports on the first.

use std::ops::ControlFlow;
use std::time::Instant;

use topopt_case::finding::Finding;
use topopt_case::interrupt::Interrupt;
use topopt_case::model::Model;
use topopt_design::{
    Design, DesignFields, DesignState, Ended, IterationReport, Observer, ObserverError, Settings,
    StepTimes,
};
use topopt_io::WriteError;
use topopt_linalg::{BackendError, Communicator, PcgProgress, Pointwise};

use super::prepared::First;
use super::request::Asked;
use crate::checkpoint::Checkpointer;
use crate::computer::Solvable;
use crate::connection;
use crate::islands::Cleaned;
use crate::observer::{Evaluated, Fields, StudyObserver, Wanted, shared_settings};
use crate::output_folder::refused;
use crate::part_file;
use crate::results::Results;
use crate::summary::RunSummary;
use crate::whole::{Whole, fallen_apart, said_to_be_torn};

/// Watches the design loop on a rank. What is decided by a clock, a signal or an observer all ranks
/// decide together, and all take part in what it takes to have the fields of a design.
pub(super) struct Watcher<'r, 'a, K, const N: usize> {
    pub ranks: &'r dyn Communicator,
    pub interrupt: &'a Interrupt,
    /// Iterations done so far.
    pub iterations: usize,
    /// Whether the observer asked for the end that came.
    pub is_ended_by_observer: bool,
    /// On the first rank.
    pub reporter: Option<Reporter<'a, K, N>>,
}

impl<B: Pointwise, K: Solvable<N>, const N: usize> Observer<B> for Watcher<'_, '_, K, N> {
    fn solving(&mut self, iteration: usize, progress: PcgProgress) -> ControlFlow<()> {
        if let Some(reporter) = &mut self.reporter {
            reporter.observer.solving(iteration, progress);
        }
        let is_ended = self.reporter.as_ref().is_some_and(|reporter| reporter.is_ended);
        if !self.ranks.any(is_ended || self.interrupt.is_requested()) {
            return ControlFlow::Continue(());
        }
        self.is_ended_by_observer = self.ranks.any(is_ended);
        ControlFlow::Break(())
    }

    fn evaluated(
        &mut self,
        report: &IterationReport,
        design: &Design<B>,
    ) -> Result<(), ObserverError> {
        let since = Instant::now();
        self.iterations = report.iteration;
        self.keep_if_whole(report, design)?;
        let (density, fields) = self.wanted(report.iteration, design)?;
        if let Some(reporter) = &mut self.reporter {
            let density = fields.as_ref().map_or(density.as_deref(), |it| Some(&it.density));
            reporter.iteration(&Evaluated { report, density, fields: fields.as_ref(), since })?;
        }
        let is_due = |checkpointer: &Checkpointer| checkpointer.is_due(report.iteration);
        self.checkpoint_if(is_due, design)
    }

    fn change(&mut self) -> Option<Settings> {
        let wanted = self.reporter.as_mut().and_then(|reporter| reporter.observer.change());
        shared_settings(self.ranks, wanted)
    }
}

/// Compliance without islands, over that with them, from which on these were members: what goes with
/// idle pieces changes it by less than a hundredth.
const CARRYING: f64 = 2.0;

impl<K: Solvable<N>, const N: usize> Watcher<'_, '_, K, N> {
    /// Writes the last checkpoint.
    pub fn keep_state<B: Pointwise>(
        &mut self,
        design: &Design<B>,
        interrupted: bool,
    ) -> Result<(), ObserverError> {
        let iterations = self.iterations;
        let is_due =
            |checkpointer: &Checkpointer| checkpointer.is_due_at_end(iterations, interrupted);
        self.checkpoint_if(is_due, design)
    }

    /// Finds the islands of the design evaluated last, on the first rank.
    pub fn cleaned<B: Pointwise>(
        &self,
        design: &Design<B>,
    ) -> Result<Option<Cleaned>, BackendError> {
        let (density, energy) = (design.density()?, design.strain_energy()?);
        let reporter = self.reporter.as_ref();
        Ok(reporter.and_then(|reporter| Cleaned::of(reporter.model, density, &energy)))
    }

    /// Says where the thinner design is cut that the loop solved last, of this density on the first
    /// rank.
    pub fn doubt_thinner(&mut self, density: Option<&[f64]>) {
        if let (Some(reporter), Some(density)) = (&mut self.reporter, density) {
            let said = connection::doubts_of_thinner(reporter.model, density);
            reporter.summary.ending.extend(said);
        }
    }

    /// Takes a design as it is built, without islands, as the last one.
    pub fn take(&mut self, report: &IterationReport, cleaned: Option<&Cleaned>) {
        if let Some(reporter) = &mut self.reporter {
            let RunSummary { record, posed, ending, .. } = &mut reporter.summary;
            let of_loop = record.done.compliance;
            record.done.take(posed, report);
            record.islands = cleaned.map(|cleaned| cleaned.islands);
            let of_both = of_loop.zip(record.done.compliance);
            ending.extend(of_both.and_then(|(thinner, built)| fallen_apart(thinner / built)));
        }
    }

    /// Whether the design of a report has lost members with the islands that it leaves out, on the
    /// first rank: pieces may hang together by elements that count as empty. Limits of states that
    /// were kept are to be kept without them.
    pub fn has_lost_members(&self, report: &IterationReport) -> bool {
        let Some((last, kept_limits)) = self.last() else { return false };
        let is_for_limits = self.whole().is_some_and(Whole::is_for_limits);
        let misses = is_for_limits && kept_limits && !self.keeps_limits(report);
        misses || report.compliance > CARRYING * last
    }

    /// Compliance of the last design, and whether it keeps its limits, on the first rank.
    fn last(&self) -> Option<(f64, bool)> {
        let RunSummary { record, posed, .. } = &self.reporter.as_ref()?.summary;
        Some((record.done.compliance?, posed.are_met(&record.done.answer.limited)))
    }

    /// Whether the design of a report keeps all limits, on the first rank.
    fn keeps_limits(&self, report: &IterationReport) -> bool {
        let posed = self.reporter.as_ref().map(|reporter| reporter.summary.posed);
        posed.is_some_and(|posed| posed.are_met(&posed.limited_values(report)))
    }

    /// Memory of the last whole design, on the first rank of a run that keeps one.
    fn whole(&self) -> Option<&Whole> {
        self.reporter.as_ref()?.whole.as_ref()
    }

    /// Density of the design to go back to, `[n_elements]`, on the first rank: where members have
    /// broken since it was kept, limits are missed, or the solve after the last design
    /// `has_failed`.
    pub fn before_tear(&self, has_failed: bool) -> Option<Vec<f64>> {
        let kept = self.whole()?.before_tear(self.iterations, self.last()?, has_failed)?;
        Some(kept.density.clone())
    }

    /// Whether the design of a report, the kept one, is a better end than the last one, on the
    /// first rank.
    pub fn is_better(&self, report: &IterationReport) -> bool {
        let now = (report.compliance, self.keeps_limits(report));
        self.whole().zip(self.last()).is_some_and(|(whole, (last, _))| whole.is_better(now, last))
    }

    /// Says of the last design, which stays, where members have broken.
    pub fn stay(&mut self) {
        let last = self.last().map(|(compliance, _)| compliance);
        let Some(reporter) = &mut self.reporter else { return };
        let RunSummary { record, ending, config, .. } = &mut reporter.summary;
        let whole = reporter.whole.as_ref().zip(last);
        record.torn_by = whole.and_then(|(whole, last)| whole.torn_by(last));
        ending.extend(record.torn_by.map(|times| said_to_be_torn(config.quality(), times)));
    }

    /// Takes the kept design as the last one, as a report of its solve has it.
    pub fn go_back(&mut self, report: &IterationReport, has_failed: bool) {
        let Some(reporter) = &mut self.reporter else { return };
        let RunSummary { record, posed, ending, config, .. } = &mut reporter.summary;
        let torn = record.done.compliance.filter(|_| !has_failed);
        record.done.take(posed, report);
        record.islands = None;
        ending.clear();
        if let Some(whole) = &reporter.whole {
            record.went_back_to = whole.kept().map(|kept| kept.iteration);
            ending.extend(whole.said(config.quality(), report.compliance, torn));
        }
    }

    /// Reports the design evaluated last, if there is one.
    pub fn finish<B: Pointwise>(&mut self, design: &Design<B>) -> Result<(), ObserverError> {
        let iterations = self.iterations;
        if iterations == 0 {
            return Ok(());
        }

        let since = Instant::now();
        if let (Some(fields), Some(reporter)) = (design.fields()?, &mut self.reporter) {
            reporter.last(iterations, fields, since)?;
        }
        Ok(())
    }

    /// Keeps a design to go back to, where the first rank says so.
    fn keep_if_whole<B: Pointwise>(
        &mut self,
        report: &IterationReport,
        design: &Design<B>,
    ) -> Result<(), BackendError> {
        let keeps_limits = self.keeps_limits(report);
        let mut whole = self.reporter.as_mut().and_then(|reporter| reporter.whole.as_mut());
        let is_wanted = whole.as_mut().is_some_and(|whole| whole.wants(report, keeps_limits));
        if !self.ranks.any(is_wanted) {
            return Ok(());
        }
        let density = design.density()?;
        if let Some(whole) = whole {
            whole.keep(report, density);
        }
        Ok(())
    }

    /// Fetches densities or fields of a design, where the first rank says that they are wanted.
    fn wanted<B: Pointwise>(
        &self,
        iteration: usize,
        design: &Design<B>,
    ) -> Result<(Option<Vec<f64>>, Option<Fields>), BackendError> {
        let wanted = self.reporter.as_ref().map_or(Wanted::Numbers, |it| it.wanted(iteration));
        if self.ranks.any(wanted == Wanted::Fields) {
            let fields = design.fields()?.zip(self.reporter.as_ref());
            return Ok((None, fields.map(|(fields, it)| Fields::of(it.model, fields))));
        }
        if !self.ranks.any(wanted == Wanted::Density) {
            return Ok((None, None));
        }
        let density = design.density()?;
        let renumbering = self.reporter.as_ref().map(|it| &it.model.renumbering);
        Ok((renumbering.map(|it| it.elements_to_original(&density)), None))
    }

    /// Writes a checkpoint where the first rank says that it is due.
    fn checkpoint_if<B: Pointwise>(
        &mut self,
        is_due: impl Fn(&Checkpointer) -> bool,
        design: &Design<B>,
    ) -> Result<(), ObserverError> {
        let files = self.reporter.as_ref().and_then(|reporter| reporter.files.as_ref());
        if !self.ranks.any(files.is_some_and(|files| is_due(&files.checkpointer))) {
            return Ok(());
        }
        let start = Instant::now();
        let state = design.state()?;
        match &mut self.reporter {
            Some(reporter) => reporter.checkpoint(&state, start),
            None => Ok(()),
        }
    }
}

/// Reports a run to its observers: the files of the results, then that of the caller.
pub(super) struct Reporter<'a, K, const N: usize> {
    model: &'a Model<K, N>,
    files: Option<Files<'a, K, N>>,
    observer: &'a mut dyn StudyObserver,
    /// Whether an observer asked to end the run.
    is_ended: bool,
    summary: RunSummary<'a>,
    /// Memory of the last whole design, where the run may go back to it.
    whole: Option<Whole>,
    clock: Clock,
}

/// Files of a run.
struct Files<'a, K, const N: usize> {
    results: Results<'a, K, N>,
    checkpointer: Checkpointer,
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

impl<'a, K: Solvable<N>, const N: usize> Reporter<'a, K, N> {
    /// Makes the folder of the results, if there is one, of a model with this checksum; the run
    /// begins.
    ///
    /// # Errors
    /// Those of [`Results::create`].
    pub fn start(
        Asked { config, request, start, .. }: Asked,
        First { prepared, observer }: First<'a, K, N>,
        mut summary: RunSummary<'a>,
        fingerprint: Option<u32>,
    ) -> Result<Self, Finding> {
        let (model, resumption) = (&prepared.model, prepared.resumption.as_ref());
        let record = &mut summary.record;
        let files = request.files.zip(fingerprint).map(|(earlier, fingerprint)| {
            let begun = (fingerprint, record.strategy.as_str(), record.done.iterations);
            let checkpointer = Checkpointer::new(config, model, begun)?;
            let results = Results::create(model, config, resumption, earlier)?;
            let part = prepared.part.as_ref();
            part.map_or(Ok(()), |part| part_file::write(&config.output_directory(), part))
                .map_err(|error| refused(error.to_string()))?;
            Ok::<_, Finding>(Files { results, checkpointer })
        });
        let files = files.transpose()?;

        let whole = resumption.and_then(|resumption| resumption.whole.clone());
        let whole = whole.or_else(|| Whole::of(config));
        let clock = Clock { start, earlier: record.done.seconds.total };
        record.done.seconds.preprocess += start.elapsed().as_secs_f64();
        observer.start(&summary);
        Ok(Self { model, files, observer, is_ended: false, summary, whole, clock })
    }

    /// Reports a design of a coarser mesh, whose time has passed before the first one of this mesh.
    pub fn coarse(&mut self, report: &IterationReport) -> Result<(), ObserverError> {
        let design = Evaluated { report, density: None, fields: None, since: Instant::now() };
        if let Some(files) = &mut self.files {
            let _ = files.results.evaluated(&design)?;
        }
        let untimed = IterationReport { times: StepTimes::default(), ..report.clone() };
        self.summary.record.done.add(self.summary.posed, &untimed, design.since.elapsed());
        self.is_ended |= self.observer.evaluated(&design)?.is_break();
        Ok(())
    }

    fn wanted(&self, iteration: usize) -> Wanted {
        let files = self.files.as_ref().map(|files| files.results.wanted(iteration));
        self.observer.wanted(iteration).max(files.unwrap_or(Wanted::Numbers))
    }

    fn iteration(&mut self, design: &Evaluated) -> Result<(), ObserverError> {
        let is_ended = match &mut self.files {
            Some(files) => files.results.evaluated(design)?.is_break(),
            None => false,
        };
        self.summary.record.done.add(self.summary.posed, design.report, design.since.elapsed());
        self.is_ended |= self.observer.evaluated(design)?.is_break() || is_ended;
        Ok(())
    }

    /// Reports the `fields` of the design of the last iteration; their output began at `since`.
    fn last(
        &mut self,
        iteration: usize,
        fields: DesignFields,
        since: Instant,
    ) -> Result<(), ObserverError> {
        // Before the fields take the user's numbering.
        let filled = self.model.space.candidates().filled(&fields.density);
        self.summary.ending.extend(connection::doubts(self.summary.config, self.model, &filled));
        let fields = Fields::of(self.model, fields);
        if let Some(files) = &mut self.files {
            files.results.last(iteration, &fields)?;
        }
        self.summary.record.done.seconds.add_output(since.elapsed());
        self.observer.last(iteration, &fields)
    }

    fn checkpoint(&mut self, state: &DesignState, start: Instant) -> Result<(), ObserverError> {
        let done = &mut self.summary.record.done;
        done.seconds.total = self.clock.total();
        if let Some(files) = &mut self.files {
            files.checkpointer.write(state, done, self.whole.as_ref())?;
        }
        done.seconds.add_output(start.elapsed());
        Ok(())
    }

    /// Reports the end of the run, which has `ended` like this if it has not failed.
    ///
    /// # Errors
    /// A summary that cannot be written.
    pub fn close(mut self, ended: Option<&Ended>) -> Result<(), WriteError> {
        self.summary.close(ended);
        self.summary.record.done.seconds.total = self.clock.total();
        let written = self.files.as_mut().map(|files| files.results.end(&self.summary));
        let observed = self.observer.end(&self.summary);
        written.transpose()?;
        observed
    }
}
