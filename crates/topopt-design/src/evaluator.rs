//! From design variables to the values and gradients of all responses.

use std::time::Instant;

use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, Monitor, Pointwise, Space};

use crate::{
    Chain, Constraint, Dependence, DesignTransform, Evaluated, Formulation, Function, Measures,
    Objective, OtherDesigns, SolveError, Stage, StateEquation, StepTimes,
};

/// What a design passes through, with the physical density evaluated last and that of a trial.
pub(crate) struct Evaluator<'a, B: Pointwise> {
    pub equation: StateEquation<'a, B>,
    pub measures: Measures<B>,
    /// x̄ of the design evaluated last, `[n_elements]`.
    pub physical: B::Vector,
    transform: Chain<'a, B>,
    objective: Objective<'a, B>,
    constraints: Vec<Constraint<'a, B>>,
    trial_physical: B::Vector,
    /// A gradient by x̄.
    by_physical: B::Vector,
    scratch: B::Vector,
}

/// The functions of an optimization: what is minimized, then the constraints.
pub(crate) struct Functions<B: Pointwise> {
    pub objective: Function<B>,
    pub constraints: Vec<Function<B>>,
}

impl<'a, B: Pointwise + Sync> Evaluator<'a, B> {
    /// Vectors of one entry per element that it holds, besides what equation and transform do.
    pub const ELEMENT_VECTORS: usize = 5;

    pub fn new(
        equation: StateEquation<'a, B>,
        formulation: Formulation<'a, B>,
    ) -> Result<Self, BackendError> {
        let Formulation { space, transform, objective, constraints } = formulation;
        let backend = equation.backend();
        let element = || backend.zeros(Space::elements(transform.n_outputs()));
        Ok(Self {
            measures: Measures::new(backend, space)?,
            physical: element()?,
            trial_physical: element()?,
            by_physical: element()?,
            scratch: element()?,
            equation,
            transform,
            objective,
            constraints,
        })
    }

    /// Takes the settings of `stage`.
    pub fn enter(&mut self, stage: &Stage) -> Result<(), AveragingError> {
        let backend = self.equation.backend();
        self.equation.enter(stage);
        self.transform.enter(backend, stage)?;
        self.objective.filter.iter_mut().try_for_each(|filter| filter.enter(backend, stage))
    }

    /// Begins a trial of the variables `design`: its physical density, and the state equation for
    /// it.
    pub fn assemble(&mut self, design: &B::Vector, begins_stage: bool) -> Result<(), SolveError> {
        let backend = self.equation.backend();
        self.transform.forward(backend, design, &mut self.trial_physical)?;
        self.equation.assemble(&self.trial_physical, &mut self.scratch)?;
        Ok(self.equation.update_preconditioner(begins_stage)?)
    }

    /// Swaps the trial, once it is solved, and the design evaluated last.
    pub fn accept(&mut self) {
        self.equation.accept();
        std::mem::swap(&mut self.physical, &mut self.trial_physical);
    }

    /// The trial is the design evaluated last, with states that were restored.
    pub fn accept_restored(&mut self) {
        self.equation.accept_restored();
        std::mem::swap(&mut self.physical, &mut self.trial_physical);
    }

    /// Finds the values of all functions at the design evaluated last, and its energies.
    pub fn evaluate(&mut self, functions: &mut Functions<B>) -> Result<(), BackendError> {
        let mut values = self.values()?.into_iter();
        for function in functions.iter_mut() {
            function.value = values.next().unwrap_or(f64::NAN);
        }
        self.equation.update_energies(&mut self.scratch);
        Ok(())
    }

    /// Finds their gradients by the design variables.
    pub fn find_gradients(
        &mut self,
        functions: &mut Functions<B>,
        monitor: &mut Monitor,
        times: &mut StepTimes,
    ) -> Result<(), SolveError> {
        let backend = self.equation.backend();
        let Self { objective: Objective { response, filter }, constraints, .. } = self;
        let others = constraints.iter_mut().map(|constraint| (&mut constraint.response, None));
        let responses = [(response, filter.as_ref())].into_iter().chain(others);
        for ((response, filter), function) in responses.zip(functions.iter_mut()) {
            let start = Instant::now();
            let mut at = Evaluated {
                backend,
                density: &self.physical,
                measures: &self.measures,
                equation: &mut self.equation,
                scratch: &mut self.scratch,
            };
            response.gradient(&mut at, monitor, &mut self.by_physical)?;
            times.sensitivity += start.elapsed();

            let start = Instant::now();
            if let Some(filter) = filter {
                filter.apply(backend, &self.physical, &mut self.by_physical, &mut self.scratch)?;
            }
            self.transform.backward(backend, &self.by_physical, &mut function.gradient)?;
            times.filter += start.elapsed();
        }
        Ok(())
    }

    /// Volume fraction and grey level of the design evaluated last.
    pub fn material(&mut self) -> Result<Material, BackendError> {
        let Self { measures, equation, physical, scratch, .. } = self;
        let backend = equation.backend();
        Ok(Material {
            volume_fraction: measures.volume_fraction(backend, physical)?,
            grey_level: measures.grey_level(backend, physical, scratch)?,
        })
    }

    /// Compliances of the load cases of the design evaluated last.
    pub fn compliances(&mut self) -> Result<Vec<f64>, BackendError> {
        self.equation.compliances(&mut self.scratch)
    }

    /// The objective and the constraints at the design evaluated last.
    fn values(&mut self) -> Result<Vec<f64>, BackendError> {
        let mut at = Evaluated {
            backend: self.equation.backend(),
            density: &self.physical,
            measures: &self.measures,
            equation: &mut self.equation,
            scratch: &mut self.scratch,
        };
        let others = self.constraints.iter_mut().map(|constraint| &mut constraint.response);
        let responses = [&mut self.objective.response].into_iter().chain(others);
        responses.map(|response| response.value(&mut at)).collect()
    }
}

/// How much material there is, and how grey it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Material {
    pub volume_fraction: f64,
    pub grey_level: f64,
}

impl Material {
    /// The grey level as a share of that of a uniform design of the same volume.
    pub fn greyness(self) -> f64 {
        self.grey_level / (4.0 * self.volume_fraction * (1.0 - self.volume_fraction))
    }
}

impl<B: Pointwise> Functions<B> {
    /// For `n` design variables and constraints with these limits.
    pub fn new(
        backend: &B,
        n: usize,
        limits: impl Iterator<Item = f64>,
    ) -> Result<Self, BackendError> {
        let function = |limit| {
            Ok(Function {
                value: f64::NAN,
                gradient: backend.zeros(Space::elements(n))?,
                limit,
                share: 0.0,
            })
        };
        Ok(Self {
            objective: function(f64::INFINITY)?,
            constraints: limits.map(function).collect::<Result<_, BackendError>>()?,
        })
    }

    /// The objective, then the constraints.
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Function<B>> {
        [&mut self.objective].into_iter().chain(&mut self.constraints)
    }

    /// Whether a next design can follow from them at `design`: all numbers are finite, and the
    /// gradient of the objective does not vanish.
    pub fn are_usable(&mut self, backend: &B, design: &B::Vector) -> Result<bool, BackendError> {
        let mut sums = Vec::new();
        for function in self.iter_mut() {
            // An entry that is not a number makes the sum so; x is positive.
            let sum = backend.value(&backend.dot(design, &function.gradient))?;
            if !function.value.is_finite() || !sum.is_finite() {
                return Ok(false);
            }
            sums.push(sum);
        }
        Ok(sums[0] != 0.0)
    }
}

/// The functions at trials of other designs.
pub(crate) struct Trials<'s, 'a, B: Pointwise> {
    pub evaluator: &'s mut Evaluator<'a, B>,
    pub monitor: &'s mut Monitor<'s>,
    /// Relative residual of a solve.
    pub tolerance: f64,
    /// Whether a stage begins with the next design.
    pub begin_a_stage: bool,
}

impl<B: Pointwise + Sync> OtherDesigns<B> for Trials<'_, '_, B> {
    fn begin_a_stage(&self) -> bool {
        self.begin_a_stage
    }

    fn is_linear(&self, i: usize) -> bool {
        let Evaluator { transform, constraints, .. } = &*self.evaluator;
        transform.is_identity() && constraints[i].response.dependence() == Dependence::Linear
    }

    fn constraint(&mut self, i: usize, design: &B::Vector) -> Result<f64, SolveError> {
        let evaluator = &mut *self.evaluator;
        let Evaluator { transform, constraints, equation, measures, .. } = evaluator;
        let (trial_physical, scratch) = (&mut evaluator.trial_physical, &mut evaluator.scratch);
        let backend = equation.backend();
        transform.forward(backend, design, trial_physical)?;
        let density = &*trial_physical;
        let mut at = Evaluated { backend, density, measures, equation, scratch };
        Ok(constraints[i].response.value(&mut at)?)
    }

    fn values(&mut self, design: &B::Vector) -> Result<Vec<f64>, SolveError> {
        let Self { evaluator, monitor, tolerance, .. } = self;
        evaluator.assemble(design, false)?;
        evaluator.equation.solve(*tolerance, *monitor)?;

        // The trial takes the place of the evaluated design for as long as it is looked at.
        evaluator.accept();
        let values = evaluator.values();
        evaluator.accept();
        evaluator.equation.keep_trial();
        Ok(values?)
    }
}
