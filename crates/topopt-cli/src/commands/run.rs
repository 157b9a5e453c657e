//! `topopt run CASE`

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;
use topopt_fem::{Jacobi, Strategy};
use topopt_linalg::{Backend, Cpu, PcgOptions, PcgProgress};
use topopt_simp::{
    Cone, Design, DesignError, Ended, IterationReport, NeighbourStorage, Observer, ObserverError,
    OptimalityCriteria, Optimization, Physics, SensitivityFilter, Simp, StopRules,
};

use super::Failure;
use crate::args::RunArgs;
use crate::case::Case;
use crate::config::{self, Config};
use crate::progress::Progress;
use crate::report::{Finding, InputError};
use crate::results::Results;
use crate::structure::Structure;
use crate::summary::{Neighbours, Seconds, Settings, Summary};

/// Runs a case. `interrupt` may be set at any time to end the run after the current iteration of
/// conjugate gradients.
pub(super) fn run(
    args: &RunArgs,
    out: &mut (dyn Write + Send),
    interrupt: &AtomicBool,
) -> Result<(), Failure> {
    let start = Instant::now();
    let mut overrides = args.set.clone();
    if let Some(directory) = &args.output {
        overrides.push(format!("output.directory={:?}", directory.display().to_string()));
    }
    let config = Config::load(&args.case, &overrides)?;
    let threads = config.solver.threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        InputError::from(Finding::new(format!("cannot start {threads} threads: {error}")))
    })?;
    pool.install(|| {
        let structure = Structure::build(&config, Case::build(&config)?)?;
        let max_iterations = config.optimizer.max_iterations;
        let progress = Progress::new(args.log, max_iterations, out);
        Run { config: &config, structure: &structure, interrupt, start }.on_cpu(progress)
    })
}

/// A run under way.
struct Run<'a> {
    config: &'a Config,
    structure: &'a Structure,
    interrupt: &'a AtomicBool,
    start: Instant,
}

impl Run<'_> {
    fn on_cpu<'p>(&'p self, mut progress: Progress<'p>) -> Result<(), Failure> {
        let (config, structure) = (self.config, self.structure);
        let backend = &Cpu;
        let problem = &structure.problem;
        let directory = config.output_directory();
        let results =
            Results::create(&directory, structure, &config.output).map_err(InputError::from)?;
        let strategy = strategy(config.solver.strategy);
        let cone = structure.filter_radius.map(|radius| {
            let budget = config.filter.get_ref().neighbour_memory_mb << 20;
            Cone::new(problem.mesh().centres(), radius, budget)
        });
        let filter = match &cone {
            Some(cone) => Some(SensitivityFilter::new(backend, cone)?),
            None => None,
        };
        let physics = Physics {
            backend,
            problem,
            operator: strategy.build(problem),
            preconditioner: Box::new(Jacobi::new(backend, problem.n_dofs())?),
            pcg: PcgOptions {
                tolerance: config.solver.tolerance,
                max_iterations: config.solver.max_iterations,
            },
        };
        let mut summary = self.summary(&backend.name(), strategy.name(), cone.as_ref());
        progress.line(&opening(&summary))?;
        progress.event(&json!({ "event": "start", "elements": summary.elements,
            "nodes": summary.nodes, "strategy": summary.strategy, "device": summary.device }))?;
        let optimizer = &config.optimizer;
        let criteria = OptimalityCriteria::new(
            backend,
            &structure.space,
            optimizer.move_limit,
            optimizer.damping,
        )?;
        let design = structure.space.uniform();
        let mut optimization =
            Optimization::new(physics, self.simp(), filter, criteria, self.stop_rules(), &design)?;
        let seconds =
            Seconds { preprocess: self.start.elapsed().as_secs_f64(), ..Seconds::default() };
        let mut watcher = Watcher {
            results,
            progress,
            interrupt: self.interrupt,
            seconds,
            last: None,
            pcg_iterations: 0,
        };
        let outcome = optimization.run(&mut watcher);
        watcher.progress.finish();
        let ended = outcome?.ended;
        watcher.write_design(&optimization.design())?;
        watcher.seconds.total = self.start.elapsed().as_secs_f64();
        summary.close(&ended, watcher.last.as_ref());
        summary.pcg_iterations = watcher.pcg_iterations;
        summary.seconds = watcher.seconds;
        summary.write(&directory)?;
        watcher.progress.line(&summary.lines(&directory))?;
        watcher.progress.event(&json!({ "event": "end", "status": summary.status,
            "compliance": summary.compliance, "directory": directory }))?;
        verdict(ended, &config.solver, summary.iterations, &directory)
    }

    fn simp(&self) -> Simp {
        let youngs_modulus = self.config.material.youngs_modulus;
        Simp { penalty: self.config.design.penalty, youngs_modulus }
    }

    fn stop_rules(&self) -> StopRules {
        let optimizer = &self.config.optimizer;
        StopRules {
            max_iterations: optimizer.max_iterations,
            change: optimizer.change_tolerance,
            relative_compliance: optimizer.compliance_tolerance,
            absolute_compliance: optimizer.absolute_compliance_tolerance,
        }
    }

    /// The summary before the first iteration.
    fn summary(&self, device: &str, strategy: &'static str, cone: Option<&Cone>) -> Summary<'_> {
        let (config, structure) = (self.config, self.structure);
        Summary {
            topopt: env!("CARGO_PKG_VERSION"),
            title: config.title.as_deref(),
            case: config.path().display().to_string(),
            status: "running",
            stopped_by: None,
            nodes: structure.mesh.n_nodes(),
            elements: structure.mesh.n_elements(),
            free_dofs: structure.n_free_dofs(),
            solid_elements: structure.space.solid.len(),
            load_cases: structure.problem.load_cases().iter().map(|c| c.name.as_str()).collect(),
            element_width: structure.element_width,
            filter_radius: structure.filter_radius,
            neighbours: cone.map(|cone| Neighbours {
                mean: cone.mean_neighbours(),
                stored: cone.storage() == NeighbourStorage::Stored,
            }),
            device: device.into(),
            strategy,
            preconditioner: "jacobi",
            iterations: 0,
            compliance: None,
            volume_fraction: None,
            change: None,
            pcg_iterations: 0,
            seconds: Seconds::default(),
            peak_memory_mb: None,
            settings: Settings {
                material: &config.material,
                volume_fraction: structure.space.volume_fraction,
                penalty: config.design.penalty,
                density_min: config.design.density_min,
                filter: config.filter.get_ref(),
                optimizer: &config.optimizer,
                solver: &config.solver,
                output: &config.output,
            },
            notes: &structure.notes,
        }
    }
}

/// The operator that the configuration asks for.
pub(super) fn strategy(asked: config::Strategy) -> Strategy {
    match asked {
        config::Strategy::Auto | config::Strategy::Mf => Strategy::Mf,
        config::Strategy::Ebe => Strategy::Ebe,
        config::Strategy::Nbn => Strategy::Nbn,
    }
}

fn opening(summary: &Summary) -> String {
    let mut lines = format!(
        "{}: {} elements, {} nodes, {} unknowns; {} with {} on {}",
        summary.title.unwrap_or(&summary.case),
        summary.elements,
        summary.nodes,
        summary.free_dofs,
        summary.strategy,
        summary.preconditioner,
        summary.device
    );
    for note in summary.notes {
        lines += &format!("\nnote: {note}");
    }
    lines
}

/// Watches the design loop: writes, tells, and looks for an interruption.
struct Watcher<'a> {
    results: Results<'a>,
    progress: Progress<'a>,
    interrupt: &'a AtomicBool,
    seconds: Seconds,
    last: Option<IterationReport>,
    pcg_iterations: usize,
}

impl<B: Backend> Observer<B> for Watcher<'_> {
    fn solving(&mut self, iteration: usize, progress: PcgProgress) -> ControlFlow<()> {
        self.progress.solving(iteration, progress);
        match self.interrupt.load(Ordering::Relaxed) {
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
        self.results.row(report, start.elapsed().as_secs_f64())?;
        self.seconds.add_output(start.elapsed());
        self.seconds.add(&report.times);
        self.pcg_iterations += report.pcg_iterations;
        self.last = Some(*report);
        Ok(self.progress.iteration(report)?)
    }
}

impl Watcher<'_> {
    /// Writes the design evaluated last, if there is one.
    fn write_design<B: Backend>(&mut self, design: &Design<B>) -> Result<(), Failure> {
        let Some(last) = &self.last else { return Ok(()) };
        let start = Instant::now();
        self.results.finish(last.iteration, design).map_err(DesignError::Observer)?;
        self.seconds.add_output(start.elapsed());
        Ok(())
    }
}

/// What the end of the run means for the exit status.
fn verdict(
    ended: Ended,
    solver: &config::Solver,
    iterations: usize,
    directory: &Path,
) -> Result<(), Failure> {
    match ended {
        Ended::Rule(_) => Ok(()),
        Ended::Interrupted => {
            Err(Failure::Interrupted { iterations, directory: PathBuf::from(directory) })
        }
        Ended::Solver { iteration, load_case, outcome } => Err(Failure::Solver {
            iteration,
            load_case,
            outcome,
            tolerance: solver.tolerance,
            iterations,
        }),
    }
}
