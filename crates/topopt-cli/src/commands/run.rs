//! `topopt run CASE`

use std::cell::Cell;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use topopt_cuda::{Cuda, Device};
use topopt_design::{
    Accuracy, Cone, Continuation, Design, DesignError, Ended, Filter, Interpolation,
    IterationReport, Law, Loads, NeighborStorage, Observer, ObserverError, OptimalityCriteria,
    Optimization, PhysicalDensity, Physics, Projection, SensitivityFilter, StopRules, WeightsOf,
};
use topopt_fem::{AveragingError, ElementOperator, ElementPreconditioner, Helmholtz};
use topopt_linalg::{Backend, Cpu, PcgProgress, Pointwise};

use crate::args::RunArgs;
use crate::case::Case;
use crate::checkpoint::{Checkpointer, Resumption};
use crate::config::{self, Config, FilterKind, FilterWeights};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::output_folder::{self, Earlier};
use crate::place::{self, OnGpu, Place};
use crate::progress::Progress;
use crate::report::{Finding, InputError};
use crate::results::Results;
use crate::starting_design::StartingDesign;
use crate::structure::Structure;
use crate::summary::{Neighbors, Preconditioner, Summary};

/// Runs a case. `interrupt` may be set at any time to end the run after the current iteration of
/// conjugate gradients. The folder of the results is touched only when all that can be refused
/// has been looked at.
pub(super) fn run(
    args: &RunArgs,
    out: &mut (dyn Write + Send),
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let start = Instant::now();
    let config = configuration(args)?;
    let earlier = match (args.resume, args.overwrite) {
        (true, _) => Earlier::Continue,
        (_, true) => Earlier::Replace,
        _ => Earlier::Keep,
    };
    output_folder::check(&config, args.start_from.as_deref(), earlier).map_err(InputError::from)?;
    let resumption = args.resume.then(|| Resumption::find(&config)).transpose()?;
    let start_from = args.start_from.as_deref().map(StartingDesign::read).transpose()?;
    thread_pool(config.solver.threads)?.install(|| {
        // A GPU takes a while to open.
        let (place, case) = rayon::join(
            || Place::of(&config),
            || Case::build_until(&config, &args.gmsh, interrupt),
        );
        let place = place.map_err(InputError::from)?;
        let structure = Structure::build(&config, case?, &place)?;
        if let Some(resumption) = &resumption {
            resumption.check(&structure, &config.output_directory()).map_err(InputError::from)?;
        }
        let start_from = start_from
            .map(|design| design.on(&structure).map(|density| (design, density)))
            .transpose()
            .map_err(InputError::from)?;
        let progress = Progress::new(args.log, config.optimizer.max_iterations, out);
        let resumption = resumption.as_ref();
        let (config, structure, start_from) = (&config, &structure, start_from.as_ref());
        let run = Run { config, structure, resumption, start_from, earlier, interrupt, start };
        match place {
            Place::Cpu { note } => run.on_cpu(note, progress),
            Place::Gpu(device) => run.on_gpu(&device, progress),
        }
    })
}

/// The case file with what the command line says instead.
fn configuration(args: &RunArgs) -> Result<Config, InputError> {
    let mut config = Config::load(&args.case, &args.set)?;
    if let Some(directory) = &args.output {
        config.output.directory = Some(directory.clone());
    }
    config.solver.device = args.device.unwrap_or(config.solver.device);
    config.solver.strategy = args.strategy.unwrap_or(config.solver.strategy);
    config.solver.preconditioner = args.preconditioner.unwrap_or(config.solver.preconditioner);
    Ok(config)
}

/// The threads of a run; all of the machine's if no number is given.
pub(super) fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, InputError> {
    ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build().map_err(|error| {
        let finding = Finding::new(format!("cannot start the threads: {error}"));
        finding.remedy("give a smaller number to `solver.threads`").into()
    })
}

/// A run under way.
struct Run<'a> {
    config: &'a Config,
    structure: &'a Structure,
    resumption: Option<&'a Resumption>,
    /// The design to start from, and its densities on the mesh of the run.
    start_from: Option<&'a (StartingDesign, Vec<f64>)>,
    earlier: Earlier,
    interrupt: &'a Interrupt,
    start: Instant,
}

/// What a run computes with on its backend.
struct Parts<'b, B: Backend> {
    backend: &'b B,
    operator: Box<dyn ElementOperator<B> + 'b>,
    preconditioner: Box<dyn ElementPreconditioner<B> + 'b>,
    /// Makes the filter's weights.
    weights_of: WeightsOf<'b, B>,
    /// What the weights made last are like.
    neighbors: &'b Cell<Option<Neighbors>>,
}

impl<'a> Run<'a> {
    fn on_cpu(&'a self, note: Option<String>, progress: Progress<'a>) -> Result<(), Failure> {
        let strategy = place::cpu_strategy(self.config.solver.strategy);
        let strategy = strategy.map_err(InputError::from)?;
        memory::check(self.config, self.structure, strategy).map_err(InputError::from)?;
        let operator = strategy.build(&self.structure.problem);
        let filter = self.config.filter.get_ref();
        let budget = filter.neighbor_memory_mb.saturating_mul(1 << 20);
        let mesh = self.structure.problem.mesh();
        let neighbors = Cell::new(None);
        let weights_of: WeightsOf<Cpu> = Box::new(|radius| {
            if filter.weights == FilterWeights::Helmholtz {
                return Ok(Box::new(Helmholtz::new(mesh, radius)?));
            }
            let cone = Cone::new(mesh.centers(), radius, budget);
            let stored = cone.storage() == NeighborStorage::Stored;
            neighbors.set(Some(Neighbors { mean: cone.mean_neighbors(), stored }));
            Ok(Box::new(cone))
        });
        let preconditioner =
            place::cpu_preconditioner(&self.config.solver, &self.structure.problem)?;
        let neighbors = &neighbors;
        let parts = Parts { backend: &Cpu, operator, preconditioner, weights_of, neighbors };
        self.optimize(parts, note, progress)
    }

    fn on_gpu(&'a self, device: &Arc<Device>, progress: Progress<'a>) -> Result<(), Failure> {
        let backend = Cuda::<f64>::new(device)?;
        let problem = &self.structure.problem;
        let asked = self.config.solver.strategy;
        let strategy = self.resumption.map_or(asked, |resumption| resumption.strategy(asked));
        let OnGpu { operator, preconditioner, note } =
            place::on_gpu(&backend, self.structure, self.config, strategy, self.config.contrast())?;
        let neighbors = Cell::new(None);
        let weights_of: WeightsOf<Cuda<f64>> = Box::new(|radius| {
            let cone = topopt_cuda::Cone::new(device, &problem.mesh().centers(), radius)?;
            neighbors.set(Some(Neighbors { mean: cone.mean_neighbors(), stored: false }));
            Ok(Box::new(cone))
        });
        let (backend, neighbors) = (&backend, &neighbors);
        let parts = Parts { backend, operator, preconditioner, weights_of, neighbors };
        self.optimize(parts, note, progress)
    }

    /// Runs the design loop and writes what it gives.
    fn optimize<'b, B: Pointwise + Sync>(
        &'b self,
        parts: Parts<'b, B>,
        note: Option<String>,
        mut progress: Progress<'a>,
    ) -> Result<(), Failure> {
        let directory = self.config.output_directory();
        let (device, strategy) = (parts.backend.name(), parts.operator.strategy());
        let mut summary = Summary::new(self.config, self.structure, device, strategy);
        summary.preconditioner = Preconditioner::of(parts.preconditioner.as_ref());
        summary.notes.extend(note);
        if let Some(resumption) = self.resumption {
            summary.resume(resumption);
        }
        if let Some((design, _)) = self.start_from {
            summary.start_from(design);
        }
        let neighbors = parts.neighbors;
        let mut optimization = self.optimization(parts)?;
        summary.neighbors = neighbors.get();
        if self.interrupt.is_requested() && self.resumption.is_none() {
            return Err(Failure::Interrupted { iterations: 0, directory: None });
        }
        // From here on there is something to finish.
        let _listening = self.interrupt.listen();
        let iteration = summary.done.iterations;
        let checkpointer = Checkpointer::new(self.config, self.structure, strategy, iteration)
            .map_err(InputError::from)?;
        let results = Results::create(self.structure, self.config, self.resumption, self.earlier)
            .map_err(InputError::from)?;
        let clock = Clock { start: self.start, earlier: summary.done.seconds.total };
        summary.done.seconds.preprocess += self.start.elapsed().as_secs_f64();
        progress.start(&summary);
        let interrupt = self.interrupt;
        let mut watcher = Watcher { results, checkpointer, progress, interrupt, summary, clock };
        let ended = optimization.run(&mut watcher).and_then(|outcome| {
            let interrupted = outcome.ended == Ended::Interrupted;
            let finished = watcher.finish(&optimization.design(), interrupted);
            finished.map_err(DesignError::Observer)?;
            Ok(outcome.ended)
        });
        let Watcher { mut progress, mut summary, .. } = watcher;
        summary.close(ended.as_ref().ok());
        summary.done.seconds.total = clock.total();
        let written = summary.write(&directory);
        progress.end(&summary, &directory);
        let ended = ended?;
        written?;
        verdict(ended, summary.done.iterations, &directory, self.config)
    }

    fn optimization<'b, B: Pointwise + Sync>(
        &'b self,
        parts: Parts<'b, B>,
    ) -> Result<Optimization<'b, B>, AveragingError> {
        let Parts { backend, operator, preconditioner, weights_of, .. } = parts;
        let Config { solver, optimizer, design, material, .. } = self.config;
        let Structure { problem, space, .. } = self.structure;
        let physics = Physics {
            backend,
            problem,
            loads: Loads::new(backend, problem)?,
            operator,
            preconditioner,
            accuracy: Accuracy { loose: solver.early_tolerance(), tight: solver.tolerance },
            max_iterations: solver.max_iterations(),
        };
        let interpolation = Interpolation {
            law: match design.interpolation {
                config::Interpolation::Simp => Law::Simp,
                config::Interpolation::Ramp => Law::Ramp,
            },
            penalty: design.penalty,
            youngs_modulus: material.youngs_modulus,
        };
        let mut filter = self.filter(backend, &weights_of)?;
        let (move_limit, damping) = (optimizer.move_limit, optimizer.damping);
        let mut criteria = OptimalityCriteria::new(backend, space, move_limit, damping)?;
        let start = match (self.start_from, filter.transform()) {
            (Some((_, density)), transform) => criteria.scaled(backend, density, transform)?,
            (None, Some(transform)) => criteria.uniform(backend, space, transform)?,
            (None, None) => space.uniform(),
        };
        let stop = StopRules {
            max_iterations: optimizer.max_iterations,
            change: optimizer.change_tolerance,
            relative_compliance: optimizer.compliance_tolerance,
            absolute_compliance: optimizer.absolute_compliance_tolerance,
        };
        let optimization =
            Optimization::new(physics, interpolation, filter, criteria, stop, &start)?;
        let stages = self.structure.stages.clone();
        let optimization = optimization.with_continuation(Continuation { stages, weights_of });
        match self.resumption {
            Some(resumption) => Ok(optimization.resumed(&resumption.state)?),
            None => Ok(optimization),
        }
    }

    fn filter<'b, B: Pointwise>(
        &'b self,
        backend: &'b B,
        weights_of: &WeightsOf<'b, B>,
    ) -> Result<Filter<'b, B>, AveragingError> {
        let Structure { filter_radius, space, .. } = self.structure;
        let Some(radius) = *filter_radius else { return Ok(Filter::None) };
        let weights = weights_of(radius)?;
        let kind = self.config.filter.get_ref().kind;
        if kind.is_of_sensitivities() {
            let equal = vec![1.0; space.volumes.len()];
            let is_weighted = kind == FilterKind::Sensitivity;
            let volumes = if is_weighted { &space.volumes } else { &equal };
            return Ok(Filter::Sensitivity(SensitivityFilter::new(backend, weights, volumes)?));
        }
        let mut physical = PhysicalDensity::new(backend, weights, space)?;
        if let Some(config::Projection { sharpness, threshold }) = self.config.projection {
            let (n, floor) = (space.volumes.len(), space.density_min);
            let projection = Projection::new(backend, n, floor, threshold, sharpness)?;
            physical = physical.projected(projection);
        }
        Ok(Filter::Density(physical))
    }
}

/// Watches the design loop: writes, tells, and looks for an interruption.
struct Watcher<'a> {
    results: Results<'a>,
    checkpointer: Checkpointer,
    progress: Progress<'a>,
    interrupt: &'a Interrupt,
    summary: Summary<'a>,
    clock: Clock,
}

/// The time of the run, its earlier parts included.
#[derive(Clone, Copy)]
struct Clock {
    start: Instant,
    /// Seconds before the checkpoint that it goes on from.
    earlier: f64,
}

impl Clock {
    fn total(self) -> f64 {
        self.earlier + self.start.elapsed().as_secs_f64()
    }
}

impl<B: Backend> Observer<B> for Watcher<'_> {
    fn solving(&mut self, iteration: usize, progress: PcgProgress) -> ControlFlow<()> {
        self.progress.solving(iteration, progress);
        match self.interrupt.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn evaluated(
        &mut self,
        report: &IterationReport,
        design: &Design<B>,
    ) -> Result<(), ObserverError> {
        let start = Instant::now();
        self.results.snapshot(report.iteration, design)?;
        self.results.row(report, start.elapsed())?;
        self.summary.done.add(report, start.elapsed());
        self.progress.iteration(report);
        if self.checkpointer.is_due(report.iteration) {
            self.checkpoint(design)?;
        }
        Ok(())
    }
}

impl Watcher<'_> {
    /// Writes the checkpoint and the design evaluated last, if there is one.
    fn finish<B: Backend>(
        &mut self,
        design: &Design<B>,
        interrupted: bool,
    ) -> Result<(), ObserverError> {
        let iterations = self.summary.done.iterations;
        if self.checkpointer.is_due_at_end(iterations, interrupted) {
            self.checkpoint(design)?;
        }
        let start = Instant::now();
        if iterations > 0 {
            self.results.finish(iterations, design)?;
        }
        self.summary.done.seconds.add_output(start.elapsed());
        Ok(())
    }

    fn checkpoint<B: Backend>(&mut self, design: &Design<B>) -> Result<(), ObserverError> {
        let start = Instant::now();
        let done = &mut self.summary.done;
        done.seconds.total = self.clock.total();
        self.checkpointer.write(&design.state()?, done)?;
        done.seconds.add_output(start.elapsed());
        Ok(())
    }
}

/// What the end of the run means for the exit status.
fn verdict(
    ended: Ended,
    iterations: usize,
    directory: &Path,
    config: &Config,
) -> Result<(), Failure> {
    match ended {
        Ended::Rule(_) => Ok(()),
        Ended::Interrupted => {
            Err(Failure::Interrupted { iterations, directory: Some(directory.into()) })
        }
        Ended::Sensitivities { iteration } => Err(Failure::Sensitivities { iteration }),
        Ended::Filter { iteration, outcome } => {
            Err(Failure::Filter { iteration, iterations, outcome })
        }
        Ended::Solver { iteration, load_case, outcome, tolerance } => {
            let other_cycle = config.solver.other_cycle();
            Err(Failure::Solver { iteration, load_case, outcome, tolerance, other_cycle })
        }
    }
}
