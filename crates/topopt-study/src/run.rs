//! A run: the design loop on the computer of a case, and the files that it writes.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use topopt_design::{
    Accuracy, Design, DesignError, DesignTransform, Ended, IterationReport, Observer,
    ObserverError, Optimization, StateEquation, StopRules, WeightsOf, start,
};
use topopt_fem::{DIM, Diffusion, Discretization, Elasticity};
use topopt_linalg::{Backend, BackendError, Communicator, PcgProgress, Pointwise};

use crate::case::Case;
use crate::checkpoint::Checkpointer;
use crate::computer::Solvable;
use crate::computer::{Computer, Neighbors, Solver, Visitor};
use crate::config::{self, Config, PhysicsKind};
use crate::failure::Failure;
use crate::finding::InputError;
use crate::formulation;
use crate::interpolation;
use crate::interrupt::Interrupt;
use crate::meshing::Gmsh;
use crate::model::Model;
use crate::optimizer;
use crate::output_folder::{self, Earlier};
use crate::place::{Place, Setting};
use crate::ranks::Team;
use crate::results::Results;
use crate::resumption::Resumption;
use crate::starting_design::StartingDesign;
use crate::summary::{Preconditioner, Summary};
use crate::thread_pool::thread_pool;

/// What a run is asked for besides its case.
pub struct Request {
    /// What is to become of results that are there.
    pub earlier: Earlier,
    /// Results, or a file with densities, to start from.
    pub start_from: Option<PathBuf>,
    /// Makes meshes of geometries.
    pub gmsh: Gmsh,
    /// Who share the work.
    pub team: Team,
}

/// Shows how a run comes on. Nothing that it does ends the run.
pub trait Progress: Send {
    /// The run begins.
    fn start(&mut self, summary: &Summary);

    /// A solve is under way.
    fn solving(&mut self, iteration: usize, progress: PcgProgress);

    /// An iteration is done.
    fn iteration(&mut self, report: &IterationReport);

    /// The run is over; its results are in `directory`.
    fn end(&mut self, summary: &Summary, directory: &Path);
}

/// Runs a case. `interrupt` may be set at any time to end the run after the current iteration of
/// conjugate gradients. The folder of the results is touched only when all that can be refused
/// has been looked at.
///
/// # Errors
/// [`Failure`]: input that cannot be run, files that cannot be written, a device or a solve that
/// fails.
pub fn run(
    config: &Config,
    request: &Request,
    progress: &mut dyn Progress,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let run = match config.physics.kind {
        PhysicsKind::Elasticity => run_of::<Elasticity, DIM>,
        PhysicsKind::Heat => run_of::<Diffusion, 1>,
    };
    run(config, request, progress, interrupt)
}

/// The same of one physics.
fn run_of<K: Solvable<N>, const N: usize>(
    config: &Config,
    request: &Request,
    progress: &mut dyn Progress,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let start = Instant::now();
    let earlier = request.earlier;
    output_folder::check(config, request.start_from.as_deref(), earlier)
        .map_err(InputError::from)?;

    let resumption =
        (earlier == Earlier::Continue).then(|| Resumption::find(config)).transpose()?;
    let start_from = request.start_from.as_deref().map(StartingDesign::read).transpose()?;

    thread_pool(request.team.threads(config.solver.threads))?.install(|| {
        // A GPU takes a while to open.
        let (place, case) = rayon::join(
            || Place::of_team(config.solver.device, &request.team),
            || Case::of::<K>(config, &request.gmsh, interrupt),
        );

        let place = place.map_err(InputError::from)?;
        let model = Model::<K, N>::build(config, case?, place.needs_colors(config))?;
        if let Some(resumption) = &resumption {
            resumption.check(&model, &config.output_directory()).map_err(InputError::from)?;
        }

        let start_from = start_from
            .map(|design| design.on(&model).map(|density| (design, density)))
            .transpose()
            .map_err(InputError::from)?;

        let note = place.note_of(&request.team);
        // The first rank alone tells how it comes on.
        let shown: &mut dyn Progress = &mut *progress;
        let progress = Mutex::new(Some(shown));
        let run = |is_first: bool| Run {
            config,
            model: &model,
            note: note.as_deref(),
            resumption: resumption.as_ref(),
            start_from: start_from.as_ref(),
            earlier,
            progress: is_first.then(|| lock(&progress).take()).flatten(),
            interrupt,
            start,
        };
        let setting = Setting {
            team: &request.team,
            mesh: model.problem.mesh(),
            threads: rayon::current_num_threads(),
            results: &config.output_directory(),
        };
        place.visit_on_ranks(&setting, run)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run that is ready to begin.
struct Run<'a, K, const N: usize> {
    config: &'a Config,
    model: &'a Model<K, N>,
    /// Why it is computed where it is.
    note: Option<&'a str>,
    resumption: Option<&'a Resumption>,
    /// The design to start from, and its densities on the mesh of the run.
    start_from: Option<&'a (StartingDesign, Vec<f64>)>,
    earlier: Earlier,
    /// None on ranks other than the first.
    progress: Option<&'a mut dyn Progress>,
    interrupt: &'a Interrupt,
    start: Instant,
}

impl<K: Solvable<N>, const N: usize> Visitor for Run<'_, K, N> {
    type Output = ();

    /// Runs the design loop and writes what it gives.
    fn visit<C: Computer>(self, computer: &C) -> Result<(), Failure> {
        let (config, model) = (self.config, self.model);
        let solver =
            computer.solver(config, model, self.strategy(computer), model.contrast(config))?;
        let strategy = solver.operator.strategy();
        let mut summary = self.summary(computer, &solver);

        let neighbors = Cell::new(None);
        let bare = model.timeline.as_ref().map(|_| model.bare());
        let mut optimization = self.optimization(computer, solver, bare.as_ref(), &neighbors)?;
        summary.neighbors = neighbors.get();
        let ranks = computer.communicator();
        if ranks.any(self.interrupt.is_requested()) && self.resumption.is_none() {
            return Err(Failure::Interrupted { iterations: 0, directory: None });
        }

        // From here on there is something to finish.
        let _listening = self.interrupt.listen();
        let done = summary.done.iterations;
        let (checkpointer, results) = match ranks.rank() {
            0 => (
                Some(Checkpointer::new(config, model, strategy, done)),
                Results::create(model, config, self.resumption, self.earlier),
            ),
            _ => (None, Ok(Results::of_other_rank(model, config))),
        };
        let checkpointer = checkpointer.transpose().map_err(InputError::from)?;
        let results = results.map_err(InputError::from)?;
        let clock = Clock { start: self.start, earlier: summary.done.seconds.total };
        summary.done.seconds.preprocess += self.start.elapsed().as_secs_f64();
        let Run { mut progress, interrupt, .. } = self;
        if let Some(progress) = &mut progress {
            progress.start(&summary);
        }
        let mut watcher =
            Watcher { ranks, results, checkpointer, progress, interrupt, summary, clock };
        let ended = optimization.run(&mut watcher).and_then(|outcome| {
            let interrupted = outcome.ended == Ended::Interrupted;
            let finished = watcher.finish(&optimization.design(), interrupted);
            finished.map_err(DesignError::Observer)?;
            Ok(outcome.ended)
        });

        let directory = config.output_directory();
        let Watcher { progress, mut summary, .. } = watcher;
        summary.close(ended.as_ref().ok());
        summary.done.seconds.total = clock.total();
        let written = if ranks.rank() == 0 { summary.write(&directory) } else { Ok(()) };
        if let Some(progress) = progress {
            progress.end(&summary, &directory);
        }
        let ended = ended?;
        written?;
        verdict(ended, summary.done.iterations, &directory, config)
    }
}

impl<'a, K: Solvable<N>, const N: usize> Run<'a, K, N> {
    /// The strategy that is asked for; where that is left to us, the one that the run began with.
    fn strategy(&self, computer: &impl Computer) -> config::Strategy {
        let asked = self.config.solver.strategy;
        let begun = self.resumption.map_or(asked, |resumption| resumption.strategy(asked));
        let is_here = computer.strategies(self.model).contains(&begun.name());
        if is_here { begun } else { asked }
    }

    fn summary<C: Computer>(&self, computer: &C, solver: &Solver<C::Backend>) -> Summary<'a> {
        let (device, strategy) = (computer.backend().name(), solver.operator.strategy());
        let mut summary = Summary::new(self.config, self.model, device, strategy);
        summary.preconditioner = Preconditioner::of(solver.preconditioner.as_ref());
        summary.notes.extend(self.note.map(str::to_owned));
        summary.notes.extend(solver.note.clone());
        if let Some(resumption) = self.resumption {
            summary.resume(resumption);
        }
        if let Some((design, _)) = self.start_from {
            summary.start_from(design);
        }
        summary
    }

    /// The design loop, its filter and its start; `bare` is there for steps in time. What the weights
    /// made last are like goes to `neighbors`.
    fn optimization<'b, C: Computer>(
        &self,
        computer: &'b C,
        solver: Solver<'b, C::Backend>,
        bare: Option<&'b Discretization<Diffusion, 1>>,
        neighbors: &'b Cell<Option<Neighbors>>,
    ) -> Result<Optimization<'b, C::Backend>, DesignError>
    where
        'a: 'b,
    {
        let (config, model, backend) = (self.config, self.model, computer.backend());
        let mut equation = state_equation(config, model, backend, solver)?;
        if let (Some(timeline), Some(bare)) = (&model.timeline, bare) {
            let free = computer.diffusion(bare, model.colors.as_deref())?;
            equation = equation.in_time(timeline, free, model.problem.constraints())?;
        }

        let plan = model.filter.weights();
        let weights_of: WeightsOf<C::Backend> = Box::new(move |radius| {
            let plan = plan.expect("weights are made for a filter only");
            let (weights, found) = computer.weights(&plan, model, radius)?;
            neighbors.set(found);
            Ok(weights)
        });
        let mut formulation = formulation::of(model, backend, weights_of)?;
        let transform = &mut formulation.transform;
        let start = match self.start_from {
            Some((_, density)) => start::scaled(backend, density, &model.space, transform)?,
            None => start::uniform(backend, &model.space, transform)?,
        };

        let settings = &config.optimizer;
        let optimizer = optimizer::build(settings, backend, transform.n_inputs())?;
        let stop = StopRules {
            max_iterations: settings.max_iterations,
            change: settings.change_tolerance,
            relative_objective: settings.compliance_tolerance,
            absolute_objective: settings.absolute_compliance_tolerance,
            kkt_residual: settings.kkt_tolerance,
        };
        let optimization = Optimization::new(equation, formulation, optimizer, stop, &start)?;
        let optimization = optimization.with_stages(model.stages.clone());
        match self.resumption {
            Some(resumption) => Ok(optimization.resumed(&resumption.state)?),
            None => Ok(optimization),
        }
    }
}

/// The state equation of a case.
fn state_equation<'b, B: Pointwise + Sync, K: Solvable<N>, const N: usize>(
    config: &Config,
    model: &'b Model<K, N>,
    backend: &'b B,
    solver: Solver<'b, B>,
) -> Result<StateEquation<'b, B>, BackendError> {
    let settings = &config.solver;
    let accuracy = Accuracy { loose: settings.early_tolerance(), tight: settings.tolerance };
    let solver = solver.of_equation(settings, accuracy);
    StateEquation::new(
        backend,
        &model.problem,
        interpolation::of(config, K::coefficient(config)),
        solver,
    )
}

/// Watches the design loop: writes, tells, and looks for an interruption.
struct Watcher<'r, 'a, K, const N: usize> {
    /// Who do the same: what is decided here by a clock or a signal they decide together.
    ranks: &'r dyn Communicator,
    results: Results<'a, K, N>,
    /// None on ranks other than the first, as `progress`.
    checkpointer: Option<Checkpointer>,
    progress: Option<&'a mut dyn Progress>,
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

impl<B: Pointwise, K: Solvable<N>, const N: usize> Observer<B> for Watcher<'_, '_, K, N> {
    fn solving(&mut self, iteration: usize, progress: PcgProgress) -> ControlFlow<()> {
        if let Some(shown) = &mut self.progress {
            shown.solving(iteration, progress);
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
        self.results.snapshot(report.iteration, design)?;
        self.results.row(report, start.elapsed())?;
        self.summary.done.add(self.summary.posed, report, start.elapsed());
        if let Some(progress) = &mut self.progress {
            progress.iteration(report);
        }
        let is_due = |checkpointer: &Checkpointer| checkpointer.is_due(report.iteration);
        if self.ranks.any(self.checkpointer.as_ref().is_some_and(is_due)) {
            self.checkpoint(design)?;
        }
        Ok(())
    }
}

impl<K: Solvable<N>, const N: usize> Watcher<'_, '_, K, N> {
    /// Writes the checkpoint and the design evaluated last, if there is one.
    fn finish<B: Pointwise>(
        &mut self,
        design: &Design<B>,
        interrupted: bool,
    ) -> Result<(), ObserverError> {
        let iterations = self.summary.done.iterations;
        let is_due =
            |checkpointer: &Checkpointer| checkpointer.is_due_at_end(iterations, interrupted);
        if self.ranks.any(self.checkpointer.as_ref().is_some_and(is_due)) {
            self.checkpoint(design)?;
        }
        let start = Instant::now();
        if iterations > 0 {
            self.results.finish(iterations, design)?;
        }
        self.summary.done.seconds.add_output(start.elapsed());
        Ok(())
    }

    fn checkpoint<B: Pointwise>(&mut self, design: &Design<B>) -> Result<(), ObserverError> {
        let start = Instant::now();
        let state = design.state()?;
        let done = &mut self.summary.done;
        done.seconds.total = self.clock.total();
        if let Some(checkpointer) = &mut self.checkpointer {
            checkpointer.write(&state, done)?;
        }
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
        Ended::Filter { iteration, outcome } => {
            Err(Failure::Filter { iteration, iterations, outcome })
        }
        Ended::Sensitivities { iteration } => Err(Failure::Sensitivities { iteration }),
        Ended::Solver { iteration, load_case, outcome, tolerance } => {
            let other_cycle = config.solver.other_cycle();
            Err(Failure::Solver { iteration, load_case, outcome, tolerance, other_cycle })
        }
    }
}
