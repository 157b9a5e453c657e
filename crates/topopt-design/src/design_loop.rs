//! The loop: solve, compliance, sensitivities, filter, update [Ratnakar2022, Fig. 3.6].

use std::time::{Duration, Instant};

use topopt_fem::{AveragingError, ElementOperator, ElementPreconditioner, Problem, WithSprings};
use topopt_linalg::{Backend, BackendError, Pcg, PcgOptions, Pointwise, Space, StopReason, System};

use crate::{
    Accuracy, Continuation, Design, DesignError, DesignState, Ended, Filter, Interpolation,
    IterationReport, Loads, Observer, OptimalityCriteria, Outcome, Stage, StepTimes, StopRule,
    StopRules, StructureState,
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
    pub operator: Box<dyn ElementOperator<B> + 'a>,
    /// The preconditioner.
    pub preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    /// How exact a solve is.
    pub accuracy: Accuracy,
    /// Most iterations of a solve, before the preconditioner is made stronger if it can be.
    pub max_iterations: usize,
}

/// A topology optimization: minimize the compliance under a volume constraint.
pub struct Optimization<'a, B: Backend> {
    physics: Physics<'a, B>,
    interpolation: Interpolation,
    filter: Filter<'a, B>,
    optimizer: OptimalityCriteria<B>,
    stop: StopRules,
    continuation: Option<Continuation<'a, B>>,
    /// What the stages begun so far have changed.
    stage: Stage,
    state: State<B>,
    /// The iteration that evaluated the design; 0 before the first.
    iteration: usize,
    /// The compliance that the one evaluated last is compared with.
    previous: Option<f64>,
    /// What the preconditioner's structure was made for.
    structure: StructureState,
}

/// Vectors that change from iteration to iteration.
struct State<B: Backend> {
    pcg: Pcg<B>,
    /// The design variables to be evaluated, and those evaluated last.
    design: B::Vector,
    evaluated: B::Vector,
    /// The density evaluated last, and its displacements but for prescribed ones, a load case each.
    density: B::Vector,
    displacements: Vec<B::Vector>,
    /// The density and the displacements being solved for.
    trial_density: B::Vector,
    trial: Vec<B::Vector>,
    moduli: B::Vector,
    /// sum over load cases of weight u_e^T K_e u_e at unit modulus
    energies: B::Vector,
    sensitivities: B::Vector,
    scratch: B::Vector,
}

/// What the solves of an iteration gave.
struct Solved {
    iterations: usize,
    strengthened: usize,
    residual: f64,
    setup: Duration,
    pcg: Duration,
}

impl<'a, B: Pointwise + Sync> Optimization<'a, B> {
    /// Vectors of one entry an element that it holds with its optimality criteria, besides what
    /// operator, preconditioner and filter do.
    pub const ELEMENT_VECTORS: usize = 15;

    /// Vectors of three entries a node that it holds with the loads of `problem`, besides what
    /// operator and preconditioner do.
    pub fn nodal_vectors(problem: &Problem) -> usize {
        let cases = problem.load_cases();
        let moved = cases.iter().filter(|case| case.prescribed.is_some()).count();
        let of_springs = if problem.supports().springs().is_some() { 3 } else { 0 };
        4 + 3 * cases.len() + moved + usize::from(moved > 0) + of_springs
    }

    /// Starts from the design variables `design`, \[n_elements\].
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        mut physics: Physics<'a, B>,
        interpolation: Interpolation,
        filter: Filter<'a, B>,
        optimizer: OptimalityCriteria<B>,
        stop: StopRules,
        design: &[f64],
    ) -> Result<Self, BackendError> {
        let Physics { backend, problem, .. } = physics;
        let cases = problem.load_cases();
        let elements = Space::elements(design.len());
        let nodal = || backend.zeros(problem.space());
        let element = || backend.zeros(elements);
        physics.operator = Box::new(WithSprings::new(backend, problem, physics.operator)?);
        let state = State {
            pcg: Pcg::new(backend, problem.space())?,
            design: backend.upload(design, elements)?,
            evaluated: element()?,
            density: element()?,
            trial_density: element()?,
            displacements: cases.iter().map(|_| nodal()).collect::<Result<_, _>>()?,
            trial: cases.iter().map(|_| nodal()).collect::<Result<_, _>>()?,
            moduli: element()?,
            energies: element()?,
            sensitivities: element()?,
            scratch: element()?,
        };
        let (continuation, stage) = (None, Stage::default());
        let (iteration, previous, structure) = (0, None, StructureState::default());
        Ok(Self {
            physics,
            interpolation,
            filter,
            optimizer,
            stop,
            continuation,
            stage,
            state,
            iteration,
            previous,
            structure,
        })
    }

    /// With settings that change in the course of the run.
    #[must_use]
    pub fn with_continuation(self, continuation: Continuation<'a, B>) -> Self {
        Self { continuation: Some(continuation), ..self }
    }

    /// The optimization going on from `state`, which one with the same settings has left. What
    /// follows is the same to the last bit, but for times.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn resumed(mut self, state: &DesignState) -> Result<Self, BackendError> {
        let backend = self.physics.backend;
        self.state.design = backend.upload(&state.design, Space::elements(state.design.len()))?;
        for (u, values) in self.state.displacements.iter_mut().zip(&state.displacements) {
            *u = backend.upload(values, self.physics.problem.space())?;
        }
        (self.iteration, self.previous) = (state.iteration, state.previous_compliance);
        self.structure = state.structure.clone();
        if !self.structure.void.is_empty() {
            self.physics.preconditioner.restructure(backend, &self.structure.void)?;
        }
        Ok(self)
    }

    /// Runs until a stop rule is met, an observer breaks off, or a solve fails. Afterwards
    /// [`Optimization::design`] is the design evaluated last.
    ///
    /// # Errors
    /// [`DesignError`] if the device or an observer fails.
    pub fn run(&mut self, observer: &mut dyn Observer<B>) -> Result<Outcome, DesignError> {
        let (mut last, mut greyness) = (None, 1.0);
        self.enter(self.iteration.max(1))?;
        if self.iteration > 0 {
            let iterations = self.iteration;
            let (compliance, change) = self.restore()?;
            let change = match change {
                Ok(change) => change,
                Err(ended) => return Ok(Outcome { iterations, ended }),
            };
            if let Some(rule) = self.rule_met(compliance, change) {
                return Ok(Outcome { iterations: self.iteration, ended: Ended::Rule(rule) });
            }
            last = self.compared_with_next(compliance);
            let [volume_fraction, grey_level] = self.material()?;
            greyness = greyness_of(volume_fraction, grey_level);
        }
        loop {
            let iteration = self.iteration + 1;
            let tolerance = self.physics.accuracy.tolerance(greyness, self.previous, last);
            let solved = match self.solve(iteration, tolerance, observer)? {
                Ok(solved) => solved,
                Err(ended) => return Ok(Outcome { iterations: iteration - 1, ended }),
            };
            (self.iteration, self.previous) = (iteration, last);
            let compliance = self.compliance()?;
            let stage = self.stages().iter().filter(|stage| stage.from <= iteration).count();
            let (change, mut times) = self.next_design(iteration, compliance)?;
            (times.setup, times.pcg) = (solved.setup, solved.pcg);
            let [volume_fraction, grey_level] = self.material()?;
            greyness = greyness_of(volume_fraction, grey_level);
            let start = Instant::now();
            self.follow_with_structure(solved.iterations)?;
            times.setup += start.elapsed();

            let report = IterationReport {
                iteration,
                stage,
                compliance,
                volume_fraction,
                grey_level,
                change: *change.as_ref().unwrap_or(&0.0),
                pcg_iterations: solved.iterations,
                strengthened: solved.strengthened,
                pcg_residual: solved.residual,
                times,
            };
            observer.evaluated(&report, &self.design()).map_err(DesignError::Observer)?;
            let change = match change {
                Ok(change) => change,
                Err(ended) => return Ok(Outcome { iterations: iteration, ended }),
            };
            if let Some(rule) = self.rule_met(compliance, change) {
                return Ok(Outcome { iterations: iteration, ended: Ended::Rule(rule) });
            }
            last = self.compared_with_next(compliance);
        }
    }

    /// The design evaluated last.
    pub fn design(&self) -> Design<'_, B> {
        Design {
            backend: self.physics.backend,
            iteration: self.iteration,
            previous_compliance: self.previous,
            structure: &self.structure,
            design: &self.state.evaluated,
            density: &self.state.density,
            loads: &self.physics.loads,
            displacements: &self.state.displacements,
            moduli: &self.state.moduli,
            energies: &self.state.energies,
        }
    }

    /// What follows a solve, with displacements that are known. Returns compliance and change.
    fn restore(&mut self) -> Result<(f64, Result<f64, Ended>), AveragingError> {
        self.assemble()?;
        let state = &mut self.state;
        std::mem::swap(&mut state.moduli, &mut state.scratch);
        std::mem::swap(&mut state.density, &mut state.trial_density);
        let compliance = self.compliance()?;
        let (change, _) = self.next_design(self.iteration, compliance)?;
        Ok((compliance, change))
    }

    /// Density of the current design, its moduli, in `scratch`, stiffness and loads.
    fn assemble(&mut self) -> Result<(), AveragingError> {
        let Physics { backend, loads, operator, .. } = &mut self.physics;
        let backend = *backend;
        let State { design, trial_density: density, scratch, sensitivities, .. } = &mut self.state;
        match self.filter.transform() {
            Some(transform) => transform.forward(backend, design, density)?,
            None => backend.copy(design, density),
        }
        self.interpolation.moduli(backend, density, sensitivities, scratch);
        operator.set_coefficients(&[scratch]);
        Ok(loads.assemble(backend, density, scratch)?)
    }

    /// Solves all load cases for the current density, from the displacements of the last one.
    fn solve(
        &mut self,
        iteration: usize,
        tolerance: f64,
        observer: &mut dyn Observer<B>,
    ) -> Result<Result<Solved, Ended>, BackendError> {
        let start = Instant::now();
        if let Some(ended) = filter_end(self.assemble(), iteration)? {
            return Ok(Err(ended));
        }
        self.follow_stage_with_structure(iteration)?;
        let Physics { backend, problem, loads, operator, preconditioner, max_iterations, .. } =
            &mut self.physics;
        let backend = *backend;
        let pcg = PcgOptions { tolerance, max_iterations: *max_iterations };
        let state = &mut self.state;
        preconditioner.update(backend, operator.as_ref(), &[&state.scratch])?;
        let (mut iterations, mut strengthened, mut residual) = (0, 0, 0.0f64);
        let setup = start.elapsed();
        let start = Instant::now();
        for (case, load_case) in problem.load_cases().iter().enumerate() {
            let (a, m) = (operator.as_ref(), preconditioner.as_ref());
            let system = System { backend, a, m, f: loads.forces(case) };
            let u = &mut state.trial[case];
            backend.copy(&state.displacements[case], u);
            let mut monitor = |progress| observer.solving(iteration, progress);
            let outcome = state.pcg.solve(&system, u, pcg, &mut monitor)?;
            iterations += outcome.iterations;
            strengthened += outcome.strengthened;
            match outcome.reason {
                StopReason::Converged => {}
                StopReason::Interrupted => return Ok(Err(Ended::Interrupted)),
                _ => {
                    let load_case = load_case.name.clone();
                    return Ok(Err(Ended::Solver { iteration, load_case, outcome, tolerance }));
                }
            }
            residual = residual.max(outcome.relative_residual);
        }
        std::mem::swap(&mut state.moduli, &mut state.scratch);
        std::mem::swap(&mut state.density, &mut state.trial_density);
        std::mem::swap(&mut state.displacements, &mut state.trial);
        Ok(Ok(Solved { iterations, strengthened, residual, setup, pcg: start.elapsed() }))
    }

    /// Lets the structure of the preconditioner follow the design solved last, where solves have been
    /// slow for as long as that takes.
    fn follow_with_structure(&mut self, iterations: usize) -> Result<(), BackendError> {
        let Physics { backend, problem, preconditioner, .. } = &self.physics;
        let Some(cost) = preconditioner.structure_cost() else { return Ok(()) };
        if !self.structure.is_due(iterations, problem.load_cases().len(), cost) {
            return Ok(());
        }
        self.structure.excess = 0;
        let moduli = backend.download(&self.state.moduli)?;
        self.restructure(&moduli)
    }

    /// The same before the first solve of a stage, which may change the whole design at once.
    fn follow_stage_with_structure(&mut self, iteration: usize) -> Result<(), BackendError> {
        let Physics { backend, preconditioner, .. } = &self.physics;
        let begins = self.stages().iter().any(|stage| stage.from == iteration);
        if !begins || preconditioner.structure_cost().is_none() {
            return Ok(());
        }
        let moduli = backend.download(&self.state.scratch)?;
        self.restructure(&moduli)
    }

    /// Makes the structure for a design of `moduli`, if they differ enough from those it was made for.
    fn restructure(&mut self, moduli: &[f64]) -> Result<(), BackendError> {
        if let Some(void) = self.structure.changed(moduli) {
            let Physics { backend, preconditioner, .. } = &mut self.physics;
            preconditioner.restructure(*backend, &void)?;
            self.structure.void = void;
        }
        Ok(())
    }

    /// The weighted compliance of the design solved last.
    fn compliance(&mut self) -> Result<f64, BackendError> {
        let Physics { backend, loads, operator, .. } = &mut self.physics;
        let State { moduli, displacements, scratch, .. } = &mut self.state;
        loads.compliance(*backend, operator.as_ref(), moduli, displacements, scratch)
    }

    /// Volume fraction and grey level of the design solved last.
    fn material(&mut self) -> Result<[f64; 2], BackendError> {
        let (backend, density) = (self.physics.backend, &self.state.density);
        let volume_fraction = self.optimizer.volume_fraction(backend, density)?;
        Ok([volume_fraction, self.optimizer.grey_level(backend, density)?])
    }

    /// Sensitivities, filter, update. Afterwards `design` is the next one. Returns the largest
    /// change, or why there is no next design, and the times of the steps.
    fn next_design(
        &mut self,
        iteration: usize,
        compliance: f64,
    ) -> Result<(Result<f64, Ended>, StepTimes), BackendError> {
        let Physics { backend, loads, operator, .. } = &mut self.physics;
        let backend = *backend;
        let state = &mut self.state;
        let mut times = StepTimes::default();
        let start = Instant::now();
        let State { density, displacements, energies, scratch, sensitivities, .. } = state;
        loads.energies(backend, operator.as_ref(), displacements, scratch, energies);
        self.interpolation.sensitivities(backend, density, energies, scratch, sensitivities);
        loads.add_sensitivities(backend, displacements, sensitivities)?;
        times.sensitivity = start.elapsed();
        let start = Instant::now();
        let filtered = self.filter.sensitivities(backend, density, sensitivities, scratch);
        if let Some(ended) = filter_end(filtered, iteration)? {
            backend.copy(&state.design, &mut state.evaluated);
            return Ok((Err(ended), times));
        }
        times.filter = start.elapsed();
        let start = Instant::now();
        // One that is not a number makes the sum so.
        let sum = backend.value(&backend.dot(density, sensitivities))?;
        if !compliance.is_finite() || !sum.is_finite() || sum == 0.0 {
            backend.copy(&state.design, &mut state.evaluated);
            return Ok((Err(Ended::Sensitivities { iteration }), times));
        }
        let mut change = 0.0;
        let updated = self.update(iteration).map(|found| change = found);
        if let Some(ended) = filter_end(updated, iteration)? {
            backend.copy(&self.state.design, &mut self.state.evaluated);
            return Ok((Err(ended), times));
        }
        times.update = start.elapsed();
        Ok((Ok(change), times))
    }

    /// The next design from the sensitivities, for the settings of the next iteration. Returns the
    /// largest change.
    fn update(&mut self, iteration: usize) -> Result<f64, AveragingError> {
        let backend = self.physics.backend;
        let State { design, density, sensitivities, scratch, .. } = &mut self.state;
        let mut scale = None;
        if let Some(transform) = self.filter.transform() {
            let (optimizer, point) = (&mut self.optimizer, [&*design, &*density]);
            scale = Some(optimizer.prepare(backend, transform, point, sensitivities, scratch)?);
        }
        // The next design is to have its volume by the transform that it will be evaluated with.
        self.enter(iteration + 1)?;
        let State { design, evaluated, trial_density: next, sensitivities, .. } = &mut self.state;
        match (scale, self.filter.transform()) {
            (Some(scale), Some(transform)) => {
                self.optimizer.meet_volume(backend, transform, scale, next)?;
            }
            _ => self.optimizer.update(backend, design, sensitivities, next)?,
        }
        let change = backend.value(&backend.max_difference(design, next))?;
        std::mem::swap(design, next);
        std::mem::swap(evaluated, next);
        Ok(change)
    }

    /// The stop rule that is met after the evaluated design.
    fn rule_met(&self, compliance: f64, change: f64) -> Option<StopRule> {
        let rules = self.stop_rules(self.iteration);
        rules.met(self.iteration, compliance, self.previous, change)
    }

    /// `compliance`, unless a stage begins: compliances of different stages are not compared.
    fn compared_with_next(&self, compliance: f64) -> Option<f64> {
        (self.stage.from != self.iteration + 1).then_some(compliance)
    }

    fn stages(&self) -> &[Stage] {
        self.continuation.as_ref().map_or(&[], |continuation| &continuation.stages)
    }

    /// The rules that hold in `iteration`: tolerances from the last stage on.
    fn stop_rules(&self, iteration: usize) -> StopRules {
        match self.stages().last().is_some_and(|last| iteration < last.from) {
            true => self.stop.without_tolerances(),
            false => self.stop,
        }
    }

    /// Takes the settings of `iteration`.
    fn enter(&mut self, iteration: usize) -> Result<(), AveragingError> {
        let Some(Continuation { stages, weights_of }) = &self.continuation else { return Ok(()) };
        let stage = Stage::in_force(stages, iteration);
        self.interpolation.penalty = stage.penalty.unwrap_or(self.interpolation.penalty);
        self.physics.accuracy = stage.tolerance.map_or(self.physics.accuracy, Accuracy::fixed);
        if let Some(sharpness) = stage.sharpness {
            self.filter.set_sharpness(sharpness);
        }
        if let Some(radius) = stage.filter_radius
            && self.stage.filter_radius != Some(radius)
        {
            self.filter.set_weights(self.physics.backend, weights_of(radius)?)?;
        }
        self.stage = stage;
        Ok(())
    }
}

/// The end of the run in `iteration` that a filter makes which is not solved.
fn filter_end(
    result: Result<(), AveragingError>,
    iteration: usize,
) -> Result<Option<Ended>, BackendError> {
    match result {
        Ok(()) => Ok(None),
        Err(AveragingError::NotSolved(outcome)) => Ok(Some(Ended::Filter { iteration, outcome })),
        Err(AveragingError::Backend(error)) => Err(error),
    }
}

/// The grey level as a share of that of a uniform design of the same volume.
fn greyness_of(volume_fraction: f64, grey_level: f64) -> f64 {
    grey_level / (4.0 * volume_fraction * (1.0 - volume_fraction))
}
