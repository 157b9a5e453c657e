//! `topopt run CASE`

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use topopt_fem::Jacobi;
use topopt_linalg::{Backend, BackendError, Cpu, PcgOptions, PcgProgress};
use topopt_simp::{
    Cone, Design, DesignError, Ended, IterationReport, Observer, ObserverError, OptimalityCriteria,
    Optimization, Physics, SensitivityFilter, Simp, StopRules,
};

use super::Failure;
use crate::args::RunArgs;
use crate::case::Case;
use crate::config::Config;
use crate::progress::Progress;
use crate::report::{Finding, InputError};
use crate::results::{self, Results};
use crate::structure::{self, Structure};
use crate::summary::Summary;

/// Runs a case. `interrupt` may be set at any time to end the run after the current iteration of
/// conjugate gradients. The folder of the results is touched only when all that can be refused
/// has been looked at.
pub(super) fn run(
    args: &RunArgs,
    out: &mut (dyn Write + Send),
    interrupt: &AtomicBool,
) -> Result<(), Failure> {
    let start = Instant::now();
    let mut config = Config::load(&args.case, &args.set)?;
    if let Some(directory) = &args.output {
        config.output.directory = Some(directory.clone());
    }
    results::check_writable(&config.output_directory()).map_err(InputError::from)?;
    thread_pool(config.solver.threads)?.install(|| {
        let structure = Structure::build(&config, Case::build(&config)?)?;
        let progress = Progress::new(args.log, config.optimizer.max_iterations, out);
        Run { config: &config, structure: &structure, interrupt, start }.on_cpu(progress)
    })
}

fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, InputError> {
    ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build().map_err(|error| {
        let finding = Finding::new(format!("cannot start the threads: {error}"));
        finding.remedy("give a smaller number to `solver.threads`").into()
    })
}

/// A run under way.
struct Run<'a> {
    config: &'a Config,
    structure: &'a Structure,
    interrupt: &'a AtomicBool,
    start: Instant,
}

impl<'a> Run<'a> {
    fn on_cpu(&'a self, mut progress: Progress<'a>) -> Result<(), Failure> {
        let directory = self.config.output_directory();
        let cone = self.cone();
        let mut optimization = self.optimization(&Cpu, cone.as_ref())?;
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted { iterations: 0, directory: None });
        }
        let results = Results::create(&directory, self.structure, &self.config.output)
            .map_err(InputError::from)?;
        let mut summary = Summary::new(self.config, self.structure, Cpu.name(), cone.as_ref());
        summary.seconds.preprocess = self.start.elapsed().as_secs_f64();
        progress.start(&summary);
        let mut watcher = Watcher { results, progress, interrupt: self.interrupt, summary };
        let ended = optimization.run(&mut watcher).and_then(|outcome| {
            watcher.finish(&optimization.design()).map_err(DesignError::Observer)?;
            Ok(outcome.ended)
        });
        let Watcher { mut progress, mut summary, .. } = watcher;
        summary.close(ended.as_ref().ok(), self.start.elapsed());
        let written = summary.write(&directory);
        progress.end(&summary, &directory);
        let ended = ended?;
        written?;
        verdict(ended, self.config.solver.tolerance, summary.iterations, &directory)
    }

    /// The filter's neighbours.
    fn cone(&self) -> Option<Cone> {
        let radius = self.structure.filter_radius?;
        let budget = self.config.filter.get_ref().neighbour_memory_mb.saturating_mul(1 << 20);
        Some(Cone::new(self.structure.problem.mesh().centres(), radius, budget))
    }

    fn optimization<'b>(
        &'b self,
        backend: &'b Cpu,
        cone: Option<&'b Cone>,
    ) -> Result<Optimization<'b, Cpu>, BackendError> {
        let Config { solver, optimizer, design, material, .. } = self.config;
        let Structure { problem, space, .. } = self.structure;
        let physics = Physics {
            backend,
            problem,
            operator: structure::strategy(solver.strategy).build(problem),
            preconditioner: Box::new(Jacobi::new(backend, problem.n_dofs())?),
            pcg: PcgOptions { tolerance: solver.tolerance, max_iterations: solver.max_iterations },
        };
        let simp = Simp { penalty: design.penalty, youngs_modulus: material.youngs_modulus };
        let filter = cone.map(|cone| SensitivityFilter::new(backend, cone)).transpose()?;
        let (move_limit, damping) = (optimizer.move_limit, optimizer.damping);
        let criteria = OptimalityCriteria::new(backend, space, move_limit, damping)?;
        let stop = StopRules {
            max_iterations: optimizer.max_iterations,
            change: optimizer.change_tolerance,
            relative_compliance: optimizer.compliance_tolerance,
            absolute_compliance: optimizer.absolute_compliance_tolerance,
        };
        Optimization::new(physics, simp, filter, criteria, stop, &space.uniform())
    }
}

/// Watches the design loop: writes, tells, and looks for an interruption.
struct Watcher<'a> {
    results: Results<'a>,
    progress: Progress<'a>,
    interrupt: &'a AtomicBool,
    summary: Summary<'a>,
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
        self.results.row(report, start.elapsed())?;
        self.summary.add(report, start.elapsed());
        self.progress.iteration(report);
        Ok(())
    }
}

impl Watcher<'_> {
    /// Writes the design evaluated last, if there is one.
    fn finish<B: Backend>(&mut self, design: &Design<B>) -> Result<(), ObserverError> {
        let start = Instant::now();
        if self.summary.iterations > 0 {
            self.results.finish(self.summary.iterations, design)?;
        }
        self.summary.seconds.add_output(start.elapsed());
        Ok(())
    }
}

/// What the end of the run means for the exit status.
fn verdict(
    ended: Ended,
    tolerance: f64,
    iterations: usize,
    directory: &Path,
) -> Result<(), Failure> {
    match ended {
        Ended::Rule(_) => Ok(()),
        Ended::Interrupted => {
            Err(Failure::Interrupted { iterations, directory: Some(directory.into()) })
        }
        Ended::Solver { iteration, load_case, outcome } => {
            Err(Failure::Solver { iteration, load_case, outcome, tolerance })
        }
    }
}
