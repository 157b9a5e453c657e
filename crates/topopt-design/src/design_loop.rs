//! The loop: solve, responses, gradients, next design [Ratnakar2022, Fig. 3.6].

mod full_part;
mod resumed;
mod settled;
mod stages;

use std::ops::ControlFlow;
use std::time::Instant;

use topopt_analysis::Effort;
use topopt_linalg::{PcgProgress, Pointwise};

use crate::evaluator::{Evaluator, Material, Trials};
use crate::functions::Functions;
use crate::halt::Halt;
use crate::{
    Design, DesignError, DesignTransform, Ended, Formulation, IterationReport, Observer, Optimizer,
    Outcome, Progress, Settings, SolveError, Stage, StateEquation, StepTimes, StopRules,
    Subproblem,
};

/// A topology optimization: state equation, formulation, optimizer and stop rules in a loop.
pub struct Optimization<'a, B: Pointwise> {
    evaluator: Evaluator<'a, B>,
    optimizer: Box<dyn Optimizer<B> + 'a>,
    stop: StopRules,
    /// Stages of the continuation, by increasing first iteration.
    stages: Vec<Stage>,
    /// Settings in force.
    settings: Settings,
    /// Design variables x to be evaluated next, and those evaluated last, `[n_inputs]` each.
    design: B::Vector,
    evaluated: B::Vector,
    /// Lower and upper bounds of the design variables, `[n_inputs]` each.
    bounds: [B::Vector; 2],
    functions: Functions<B>,
    /// Iterations done: the number of the design evaluated last.
    iteration: usize,
    /// Iterations done elsewhere, from whose last design this loop begins.
    earlier: usize,
    /// Whether `design` follows from the design evaluated last.
    has_next: bool,
    history: History,
}

/// Numbers of the designs so far that stop rules, tolerances and checkpoints need.
struct History {
    /// Objective of the design before the one evaluated last, where the two compare.
    previous: Option<f64>,
    /// Objective of the design evaluated last, where the next one compares with it.
    last: Option<f64>,
    /// Grey level of the design evaluated last, as a share of that of a uniform design.
    greyness: f64,
    /// KKT residual of the design evaluated last.
    kkt_residual: f64,
}

/// Result of one update of the design.
struct Step {
    /// Largest change of a design variable; 0 if there is no next design.
    change: f64,
    /// See [`IterationReport::kkt_residual`].
    kkt_residual: f64,
    /// Why there is no next design.
    ended: Option<Ended>,
}

impl<'a, B: Pointwise + Sync> Optimization<'a, B> {
    /// Starts from the design variables `design`, `[n_inputs]` of the transform.
    ///
    /// # Errors
    /// [`DesignError`] if the parts do not fit each other, or the device has no room.
    pub fn new(
        equation: StateEquation<'a, B>,
        formulation: Formulation<'a, B>,
        optimizer: Box<dyn Optimizer<B> + 'a>,
        stop: StopRules,
        design: &[f64],
    ) -> Result<Self, DesignError> {
        let backend = equation.backend();
        let Formulation { space, transform, objective, constraints } = &formulation;
        let sharing = objective.responses[..objective.n_sharing()].iter().map(|(r, _)| r);
        let limited = sharing.chain(constraints.iter().map(|constraint| &constraint.response));
        let dependences: Vec<_> = limited.clone().map(|response| response.dependence()).collect();
        optimizer.accepts(&dependences).map_err(|why| {
            let names: Vec<_> = limited.map(|response| response.name()).collect();
            DesignError::Unsuitable(format!("{why}; constraints: {}", names.join(", ")))
        })?;
        let variables = transform.inputs();
        let n_designed = if backend.has_values() { design.len() } else { variables.points };
        if [n_designed, space.n_elements()] != [variables.points, transform.outputs().points] {
            let message = "design variables and elements are not as many as the transform has";
            return Err(DesignError::Unsuitable(message.into()));
        }

        let bound = |values: Vec<f64>| backend.upload(&transform.inputs_for(values), variables);
        Ok(Self {
            bounds: [bound(space.floor())?, bound(space.ceiling())?],
            functions: Functions::new(backend, variables, &formulation)?,
            evaluator: Evaluator::new(equation, formulation)?,
            optimizer,
            stop,
            stages: Vec::new(),
            settings: Settings::default(),
            design: backend.upload(design, variables)?,
            evaluated: backend.zeros(variables)?,
            iteration: 0,
            earlier: 0,
            has_next: false,
            history: History { previous: None, last: None, greyness: 1.0, kkt_residual: 1.0 },
        })
    }

    /// Adds a continuation: settings that change at the first iteration of each of the `stages`.
    #[must_use]
    pub fn with_stages(self, stages: Vec<Stage>) -> Self {
        Self { stages, ..self }
    }

    /// Counts so many iterations as done elsewhere, from which the start results: stages and
    /// numbers of designs continue from there.
    #[must_use]
    pub fn after(self, earlier: usize) -> Self {
        Self { iteration: earlier, earlier, ..self }
    }

    /// Adds the equation of the thicker design, which responses [`OfThicker`](crate::OfThicker) are
    /// of.
    #[must_use]
    pub fn with_thicker(mut self, equation: StateEquation<'a, B>) -> Self {
        self.evaluator.equation.add_thicker(equation);
        self
    }

    /// Runs until a stop rule is met, an observer breaks off, or a solve fails. Afterwards
    /// [`Optimization::design`] is the design evaluated last.
    ///
    /// # Errors
    /// [`DesignError`] if the device or an observer fails.
    pub fn run(&mut self, observer: &mut dyn Observer<B>) -> Result<Outcome, DesignError> {
        match self.iterate(observer) {
            Ok(ended) | Err(Halt::Ended(ended)) => {
                Ok(Outcome { iterations: self.iteration, ended })
            }
            Err(Halt::Failed(error)) => Err(error),
        }
    }

    /// The design evaluated last.
    pub fn design(&self) -> Design<'_, 'a, B> {
        Design {
            iteration: self.iteration,
            previous_objective: self.history.previous,
            kkt_residual: self.history.kkt_residual,
            equation: &self.evaluator.equation,
            design: &self.evaluated,
            next: self.has_next.then_some(&self.design),
            density: &self.evaluator.densities.built,
            optimizer: self.optimizer.as_ref(),
        }
    }

    /// Compliance of each load case of the design evaluated last, without its weight (force times
    /// length); an objective that is the compliance is their sum with the weights.
    pub fn compliances(&self) -> &[f64] {
        self.evaluator.compliances()
    }

    fn iterate(&mut self, observer: &mut dyn Observer<B>) -> Result<Ended, Halt> {
        if self.iteration == self.earlier {
            self.enter(self.iteration + 1)?;
        } else {
            self.enter(self.iteration)?;
            let step = self.restore(observer)?;
            let greyness = self.evaluator.material()?.greyness();
            if let Some(ended) = self.ended(&step, greyness) {
                return Ok(ended);
            }
        }
        loop {
            if let Some(ended) = self.iteration(observer)? {
                return Ok(ended);
            }
        }
    }

    /// Does one iteration, and returns why the run ends after it, if it does.
    fn iteration(&mut self, observer: &mut dyn Observer<B>) -> Result<Option<Ended>, Halt> {
        let iteration = self.iteration + 1;
        let mut times = StepTimes::default();

        // 1. The physical density of the design, and its states.
        self.solve(iteration, observer, &mut times)?;

        // 2. The objective and the constraints. From here on the design counts as evaluated.
        let start = Instant::now();
        self.evaluator.evaluate(&mut self.functions)?;
        self.iteration = iteration;
        self.history.previous = self.history.last;
        times.sensitivity = start.elapsed();

        // 3. Their gradients by the design variables, and the next design.
        let step = self.step(observer, &mut times)?;
        self.history.kkt_residual = step.kkt_residual;

        // 4. The preconditioner follows the design; after all solves for it, since a new structure
        // needs an update before use.
        let start = Instant::now();
        let effort = self.evaluator.equation.follow_slow_solves()?;
        times.setup += start.elapsed();

        // 5. The report.
        let material = self.evaluator.material()?;
        let report = self.report(&step, material, effort, times);
        observer.evaluated(&report, &self.design()).map_err(DesignError::Observer)?;
        if let Some(settings) = observer.change() {
            self.change(&settings);
        }

        // 6. The stop rules.
        Ok(self.ended(&step, material.greyness()))
    }

    /// Collects the numbers of the design evaluated last.
    fn report(
        &self,
        step: &Step,
        material: Material,
        effort: Effort,
        times: StepTimes,
    ) -> IterationReport {
        let iteration = self.iteration;
        IterationReport {
            iteration,
            stage: self.stages.iter().filter(|stage| stage.from <= iteration).count(),
            objective: self.functions.objective_value(),
            constraints: self.functions.limited_values(),
            compliance: self.evaluator.compliance(),
            volume_fraction: material.volume_fraction,
            grey_level: material.grey_level,
            change: step.change,
            kkt_residual: step.kkt_residual,
            pcg_iterations: effort.iterations,
            pcg_products: effort.products,
            strengthened: effort.strengthened,
            short_solves: effort.short,
            pcg_residual: effort.residual,
            times,
        }
    }

    /// Solves for the states of the design, and accepts it as the one to be evaluated.
    fn solve(
        &mut self,
        iteration: usize,
        observer: &mut dyn Observer<B>,
        times: &mut StepTimes,
    ) -> Result<(), Halt> {
        let start = Instant::now();
        let begins_stage = self.stages.iter().any(|stage| stage.from == iteration);
        let assembled = self.evaluator.assemble(&self.design, begins_stage);
        assembled.map_err(|error| Halt::by(error, iteration))?;
        times.setup = start.elapsed();

        let start = Instant::now();
        let History { previous, last, greyness, .. } = self.history;
        let tolerance = self.evaluator.equation.next_tolerance(greyness, previous, last);
        let mut monitor = |progress| observer.solving(iteration, progress);
        self.evaluator
            .solve(tolerance, &mut monitor)
            .map_err(|error| Halt::by(error, iteration))?;
        self.evaluator.accept();
        times.pcg = start.elapsed();
        Ok(())
    }

    /// Finds the next design, or why there is none.
    fn step(
        &mut self,
        observer: &mut dyn Observer<B>,
        times: &mut StepTimes,
    ) -> Result<Step, DesignError> {
        let iteration = self.iteration;
        let mut monitor = |progress| observer.solving(iteration, progress);
        let next = self.next_design(&mut monitor, times);
        self.has_next = next.is_ok();
        match next {
            Ok(step) => Ok(step),
            Err(Halt::Ended(ended)) => {
                let backend = self.evaluator.equation.backend();
                backend.copy(&self.design, &mut self.evaluated);
                Ok(Step { change: 0.0, kkt_residual: 1.0, ended: Some(ended) })
            }
            Err(Halt::Failed(error)) => Err(error),
        }
    }

    /// Computes gradients and update; `design` is then the next design.
    fn next_design(
        &mut self,
        monitor: &mut dyn FnMut(PcgProgress) -> ControlFlow<()>,
        times: &mut StepTimes,
    ) -> Result<Step, Halt> {
        let backend = self.evaluator.equation.backend();
        let iteration = self.iteration;
        let halt = |error: SolveError| Halt::by(error, iteration);
        self.evaluator.find_gradients(&mut self.functions, monitor, times).map_err(halt)?;
        let start = Instant::now();
        if !self.functions.are_usable(backend, &self.design)? {
            return Err(Halt::Ended(Ended::Sensitivities { iteration }));
        }

        // The stage of the evaluated design updates it, and before the update the next one begins,
        // where it does: the next design must meet its constraints with the transform of its
        // own stage.
        self.optimizer.enter(&self.settings);
        self.enter(iteration + 1)?;
        if self.solves_thinner() {
            self.functions.approach();
        }
        let tolerance = self.evaluator.equation.tolerance();
        let [floor, ceiling] = &self.bounds;
        let begins_a_stage = self.stages.iter().any(|stage| stage.from == iteration + 1);
        let mut subproblem = Subproblem {
            backend,
            design: &self.design,
            bounds: [floor, ceiling],
            objective: &self.functions.objective,
            constraints: &self.functions.constraints,
            others: &mut Trials {
                evaluator: &mut self.evaluator,
                monitor,
                tolerance,
                begin_a_stage: begins_a_stage,
            },
        };
        // Reuses the memory of the design before: it is not needed again.
        let next = &mut self.evaluated;
        let multipliers = self.optimizer.next(&mut subproblem, next).map_err(halt)?;
        if begins_a_stage {
            self.evaluator.lift(next, [floor, ceiling]).map_err(halt)?;
        }
        let change = backend.value(&backend.max_difference(&self.design, next))?;
        let at = (&self.design, [floor, ceiling]);
        let kkt_residual = self.functions.kkt_residual(backend, at, &multipliers)?;
        std::mem::swap(&mut self.design, next);
        times.update = start.elapsed();
        Ok(Step { change, kkt_residual, ended: None })
    }

    /// Returns why the run ends after the evaluated design, if it does.
    fn ended(&mut self, step: &Step, greyness: f64) -> Option<Ended> {
        if step.ended.is_some() {
            return step.ended.clone();
        }
        let (iteration, objective) = (self.iteration, self.functions.minimized());
        // Tolerances count in the last stage alone, and within limits: until then stages are there
        // to move the design.
        let is_at_end = |last: &Stage| iteration >= last.settles() && !self.functions.miss_limits();
        let counts = self.stages.last().is_none_or(is_at_end) && !self.optimizer.is_cautious();
        let rules = if counts { self.stop } else { self.stop.without_tolerances() };
        let &Step { change, kkt_residual, .. } = step;
        let previous = self.history.previous;
        let progress = Progress { iteration, objective, previous, change, kkt_residual };
        if let Some(rule) = rules.met(&progress) {
            return Some(Ended::Rule(rule));
        }

        // Objectives of different stages do not compare: their penalties differ.
        self.history.last = (self.settings.from != iteration + 1).then_some(objective);
        self.history.greyness = greyness;
        None
    }
}
