//! The loop: solve, compliance, sensitivities, filter, update [Ratnakar2022, Fig. 3.6].

use std::time::{Duration, Instant};

use topopt_fem::{ElasticityOperator, ElasticityPreconditioner, Problem, WithSprings};
use topopt_linalg::{Backend, BackendError, Pcg, PcgOptions, PcgOutcome, StopReason, System};

use crate::{
    Design, Interpolation, IterationReport, Loads, Observer, ObserverError, OptimalityCriteria,
    SensitivityFilter, StepTimes, StopRule, StopRules,
};

/// How displacements are found.
pub struct Physics<'a, B: Backend> {
    /// Where everything lives.
    pub backend: &'a B,
    /// The structure.
    pub problem: &'a Problem,
    /// Its loads.
    pub loads: Loads<B>,
    /// Its stiffness, without the springs to the ground.
    pub operator: Box<dyn ElasticityOperator<B> + 'a>,
    /// The preconditioner.
    pub preconditioner: Box<dyn ElasticityPreconditioner<B> + 'a>,
    /// When a solve stops.
    pub pcg: PcgOptions,
}

/// A topology optimisation: minimise the compliance under a volume constraint.
pub struct Optimization<'a, B: Backend> {
    physics: Physics<'a, B>,
    interpolation: Interpolation,
    filter: Option<SensitivityFilter<'a, B>>,
    optimizer: OptimalityCriteria<B>,
    stop: StopRules,
    state: State<B>,
}

/// Vectors that change from iteration to iteration.
struct State<B: Backend> {
    pcg: Pcg<B>,
    /// The design to be evaluated.
    density: B::Vector,
    /// The design evaluated last, and its displacements but for prescribed ones, a load case each.
    evaluated: B::Vector,
    displacements: Vec<B::Vector>,
    /// Displacements being solved for.
    trial: Vec<B::Vector>,
    moduli: B::Vector,
    /// sum over load cases of weight u_e^T K_e u_e at unit modulus
    energies: B::Vector,
    sensitivities: B::Vector,
    scratch: B::Vector,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Iterations whose design was evaluated.
    pub iterations: usize,
    /// Why it ended.
    pub ended: Ended,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// A stop rule was met.
    Rule(StopRule),
    /// An observer asked to stop.
    Interrupted,
    /// A solve did not converge.
    Solver {
        /// Iteration of the design.
        iteration: usize,
        /// Name of the load case.
        load_case: String,
        /// How the solve ended.
        outcome: PcgOutcome,
    },
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// An observer failed.
    #[error(transparent)]
    Observer(ObserverError),
}

/// What the solves of an iteration gave.
struct Solved {
    iterations: usize,
    residual: f64,
    setup: Duration,
    pcg: Duration,
}

impl<'a, B: Backend + Sync> Optimization<'a, B> {
    /// Starts from `density`, \[n_elements\].
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        mut physics: Physics<'a, B>,
        interpolation: Interpolation,
        filter: Option<SensitivityFilter<'a, B>>,
        optimizer: OptimalityCriteria<B>,
        stop: StopRules,
        density: &[f64],
    ) -> Result<Self, BackendError> {
        let Physics { backend, problem, .. } = physics;
        let cases = problem.load_cases();
        let nodal = || backend.zeros(problem.n_dofs());
        let element = || backend.zeros(density.len());
        physics.operator = Box::new(WithSprings::new(backend, problem, physics.operator)?);
        let state = State {
            pcg: Pcg::new(backend, problem.n_dofs())?,
            density: backend.upload(density, 1)?,
            evaluated: element()?,
            displacements: cases.iter().map(|_| nodal()).collect::<Result<_, _>>()?,
            trial: cases.iter().map(|_| nodal()).collect::<Result<_, _>>()?,
            moduli: element()?,
            energies: element()?,
            sensitivities: element()?,
            scratch: element()?,
        };
        Ok(Self { physics, interpolation, filter, optimizer, stop, state })
    }

    /// Runs until a stop rule is met, an observer breaks off, or a solve fails. Afterwards
    /// [`Optimization::design`] is the design evaluated last.
    ///
    /// # Errors
    /// [`DesignError`] if the device or an observer fails.
    pub fn run(&mut self, observer: &mut dyn Observer<B>) -> Result<Outcome, DesignError> {
        let mut previous = None;
        let mut iteration = 0;
        loop {
            iteration += 1;
            let solved = match self.solve(iteration, observer)? {
                Ok(solved) => solved,
                Err(ended) => return Ok(Outcome { iterations: iteration - 1, ended }),
            };
            let compliance = self.compliance()?;
            let (change, mut times) = self.next_design()?;
            (times.setup, times.pcg) = (solved.setup, solved.pcg);
            let volume_fraction =
                self.optimizer.volume_fraction(self.physics.backend, &self.state.evaluated)?;
            let report = IterationReport {
                iteration,
                compliance,
                volume_fraction,
                change,
                pcg_iterations: solved.iterations,
                pcg_residual: solved.residual,
                times,
            };
            observer.evaluated(&report, &self.design()).map_err(DesignError::Observer)?;
            if let Some(rule) = self.stop.met(iteration, compliance, previous, change) {
                return Ok(Outcome { iterations: iteration, ended: Ended::Rule(rule) });
            }
            previous = Some(compliance);
        }
    }

    /// The design evaluated last.
    pub fn design(&self) -> Design<'_, B> {
        Design {
            backend: self.physics.backend,
            density: &self.state.evaluated,
            loads: &self.physics.loads,
            displacements: &self.state.displacements,
            moduli: &self.state.moduli,
            energies: &self.state.energies,
        }
    }

    /// Solves all load cases for the current density, from the displacements of the last one.
    fn solve(
        &mut self,
        iteration: usize,
        observer: &mut dyn Observer<B>,
    ) -> Result<Result<Solved, Ended>, BackendError> {
        let Physics { backend, problem, loads, operator, preconditioner, pcg } = &mut self.physics;
        let backend = *backend;
        let state = &mut self.state;
        let start = Instant::now();
        let State { density, scratch, sensitivities, .. } = state;
        self.interpolation.moduli(backend, density, sensitivities, scratch);
        operator.set_moduli(scratch);
        loads.assemble(backend, density, scratch);
        preconditioner.update(backend, operator.as_ref(), &state.scratch)?;
        let (mut iterations, mut residual) = (0, 0.0f64);
        let setup = start.elapsed();
        let start = Instant::now();
        for (case, load_case) in problem.load_cases().iter().enumerate() {
            let (a, m) = (operator.as_ref(), preconditioner.as_ref());
            let system = System { backend, a, m, f: loads.forces(case) };
            let u = &mut state.trial[case];
            backend.copy(&state.displacements[case], u);
            let mut monitor = |progress| observer.solving(iteration, progress);
            let outcome = state.pcg.solve(&system, u, *pcg, &mut monitor)?;
            match outcome.reason {
                StopReason::Converged => {}
                StopReason::Interrupted => return Ok(Err(Ended::Interrupted)),
                _ => {
                    let load_case = load_case.name.clone();
                    return Ok(Err(Ended::Solver { iteration, load_case, outcome }));
                }
            }
            iterations += outcome.iterations;
            residual = residual.max(outcome.relative_residual);
        }
        std::mem::swap(&mut state.moduli, &mut state.scratch);
        std::mem::swap(&mut state.displacements, &mut state.trial);
        Ok(Ok(Solved { iterations, residual, setup, pcg: start.elapsed() }))
    }

    /// The weighted compliance of the design solved last.
    fn compliance(&mut self) -> Result<f64, BackendError> {
        let Physics { backend, loads, operator, .. } = &mut self.physics;
        let State { moduli, displacements, scratch, .. } = &mut self.state;
        loads.compliance(*backend, operator.as_ref(), moduli, displacements, scratch)
    }

    /// Sensitivities, filter, update. Afterwards `evaluated` is the design just evaluated,
    /// `density` the next one. Returns the largest change and the times of the steps.
    fn next_design(&mut self) -> Result<(f64, StepTimes), BackendError> {
        let Physics { backend, loads, operator, .. } = &mut self.physics;
        let backend = *backend;
        let state = &mut self.state;
        let mut times = StepTimes::default();
        let start = Instant::now();
        let State { density, displacements, energies, scratch, sensitivities, evaluated, .. } =
            state;
        loads.energies(backend, operator.as_ref(), displacements, scratch, energies);
        self.interpolation.sensitivities(backend, density, energies, scratch, sensitivities);
        loads.add_sensitivities(backend, displacements, scratch, sensitivities);
        times.sensitivity = start.elapsed();
        let start = Instant::now();
        if let Some(filter) = &mut self.filter {
            filter.apply(backend, density, sensitivities);
        }
        times.filter = start.elapsed();
        let start = Instant::now();
        self.optimizer.update(backend, density, sensitivities, evaluated)?;
        let change = backend.value(&backend.max_difference(density, evaluated))?;
        std::mem::swap(density, evaluated);
        times.update = start.elapsed();
        Ok((change, times))
    }
}
