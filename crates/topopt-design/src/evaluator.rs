//! `Evaluator`: computes values and gradients of all responses from design variables.

mod trials;

use std::time::Instant;

use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, Monitor, Pointwise, Space};

use crate::densities::Densities;
use crate::equations::Equations;
use crate::functions::Functions;
use crate::measures::MaterialMeasures;
use crate::root::find_root_from;
use crate::{
    Chain, Constraint, Dependence, DesignState, DesignTransform, Evaluated, Formulation, Measures,
    Objective, Realization, Response, SensitivityFilter, Settings, SolveError, StateEquation,
    StepTimes,
};

pub(crate) use trials::Trials;

/// Evaluation chain of a design, with the physical densities of the last evaluated design and of a
/// trial.
pub(crate) struct Evaluator<'a, B: Pointwise> {
    pub equation: Equations<'a, B>,
    pub measures: Measures<B>,
    /// Measures in place of these, where elements are of several materials.
    by_material: Option<MaterialMeasures<B>>,
    /// Densities of the design evaluated last.
    pub densities: Densities<B>,
    transform: Chain<'a, B>,
    objective: Objective<'a, B>,
    constraints: Vec<Constraint<'a, B>>,
    /// Unweighted compliance per load case of the last evaluated design.
    compliances: Vec<f64>,
    trial: Densities<B>,
    /// A gradient by x̄.
    by_physical: B::Vector,
    scratch: B::Vector,
}

/// Share of the volume of the solved density that is kept as a stage begins, to a relative
/// accuracy, and the first rise of the variables that is tried.
const KEPT: f64 = 0.9;
const ACCURACY: f64 = 1e-3;
const RISE: f64 = 0.1;

impl<'a, B: Pointwise + Sync> Evaluator<'a, B> {
    pub fn new(
        equation: StateEquation<'a, B>,
        formulation: Formulation<'a, B>,
    ) -> Result<Self, BackendError> {
        let Formulation { space, transform, objective, constraints } = formulation;
        let backend = equation.backend();
        let element = || backend.zeros(transform.outputs());
        Ok(Self {
            measures: Measures::new(backend, space)?,
            by_material: MaterialMeasures::new(backend, space)?,
            densities: Densities::zeros(backend, transform.outputs(), space.sizes())?,
            trial: Densities::zeros(backend, transform.outputs(), space.sizes())?,
            by_physical: element()?,
            scratch: element()?,
            equation: Equations::new(equation),
            transform,
            objective,
            constraints,
            compliances: Vec::new(),
        })
    }

    /// Space of the design variables.
    pub fn variables(&self) -> Space {
        self.transform.inputs()
    }

    /// Takes the `settings` of an iteration.
    pub fn enter(&mut self, settings: &Settings) -> Result<(), AveragingError> {
        let backend = self.equation.backend();
        self.equation.enter(settings);
        self.transform.enter(backend, settings)?;
        self.objective.filter.iter_mut().try_for_each(|filter| filter.enter(backend, settings))
    }

    /// Limits of the constraints in an iteration with these `settings`, with their signs: largest
    /// values of responses of the density alone are exceeded in the course of a run.
    pub fn limits(&self, settings: &Settings) -> impl Iterator<Item = f64> {
        let excess = settings.excess.unwrap_or(1.0);
        self.constraints.iter().map(move |Constraint { response, sign, limit }| {
            let is_material = *sign > 0.0 && !response.dependence().is_on_states();
            sign * limit * if is_material { excess } else { 1.0 }
        })
    }

    /// Takes states and adjoint states from `state`.
    pub fn restore(&mut self, state: &DesignState) -> Result<(), BackendError> {
        let Self { equation, objective, constraints, .. } = self;
        let dependences: Vec<_> =
            terms(objective, constraints).map(|term| term.response.dependence()).collect();
        equation.restore(state, &dependences)
    }

    /// Begins a trial of the variables `design`: its physical density, and the state equation for
    /// it.
    pub fn assemble(&mut self, design: &B::Vector, begins_stage: bool) -> Result<(), SolveError> {
        let backend = self.equation.backend();
        self.trial.make(backend, &mut self.transform, design)?;
        self.begin_trial(begins_stage)
    }

    /// Begins a trial of the physical `density`, `[n_elements]`, whatever variables it belongs to.
    pub fn assemble_density(&mut self, density: &[f64]) -> Result<(), SolveError> {
        let backend = self.equation.backend();
        self.trial.take(backend, backend.upload(density, self.transform.outputs())?);
        self.begin_trial(false)
    }

    /// Makes the state equation for the physical density of the trial.
    fn begin_trial(&mut self, begins_stage: bool) -> Result<(), SolveError> {
        self.equation.assemble(&self.trial, &mut self.scratch)?;
        Ok(self.equation.update_preconditioner(begins_stage)?)
    }

    /// Solves for the states of the trial, and shows them to the responses in time.
    pub fn solve(&mut self, tolerance: f64, monitor: &mut Monitor) -> Result<(), SolveError> {
        let Self { equation, objective, constraints, .. } = self;
        equation.solve(tolerance, monitor, &mut |moment| {
            terms(objective, constraints).try_for_each(|term| term.response.observe(moment))
        })
    }

    /// Swaps the trial, once it is solved, and the design evaluated last.
    pub fn accept(&mut self) {
        self.equation.accept();
        std::mem::swap(&mut self.densities, &mut self.trial);
    }

    /// The trial is the design evaluated last, with states that were restored; its history is
    /// stepped through again, which gives the same bits.
    pub fn accept_restored(&mut self, monitor: &mut Monitor) -> Result<(), SolveError> {
        if self.equation.is_in_time() {
            let tolerance = self.equation.next_tolerance(1.0, None, None);
            self.solve(tolerance, monitor)?;
            self.equation.forget_effort();
            self.accept();
            return Ok(());
        }
        self.equation.accept_restored();
        std::mem::swap(&mut self.densities, &mut self.trial);
        Ok(())
    }

    /// Finds the values of all functions at the design evaluated last, its compliances and its
    /// energies.
    pub fn evaluate(&mut self, functions: &mut Functions<B>) -> Result<(), BackendError> {
        let values = self.values()?;
        for (function, value) in functions.of_responses().zip(values) {
            function.value = value;
        }
        self.compliances = self.equation.compliances(&mut self.scratch)?.to_vec();
        self.equation.update_energies(&mut self.scratch)
    }

    /// Finds their gradients by the design variables.
    pub fn find_gradients(
        &mut self,
        functions: &mut Functions<B>,
        monitor: &mut Monitor,
        times: &mut StepTimes,
    ) -> Result<(), SolveError> {
        let backend = self.equation.backend();
        let terms = terms(&mut self.objective, &mut self.constraints);
        for (number, (term, function)) in terms.zip(functions.of_responses()).enumerate() {
            let Term { response, factor, filter, .. } = term;
            let start = Instant::now();
            let dependence = response.dependence();
            let (realization, density) = self.densities.differentiated(dependence);
            let mut at = Evaluated {
                backend,
                response: number,
                density,
                measures: &self.measures,
                equation: self.equation.of(dependence),
                scratch: &mut self.scratch,
            };
            response.gradient(&mut at, monitor, &mut self.by_physical)?;
            // The limit of the thicker design follows its ratio to the built one.
            let factor = match dependence {
                Dependence::Linear if realization == Realization::Dilated => {
                    function.value / response.value(&mut at)?
                }
                _ => factor,
            };
            times.sensitivity += start.elapsed();

            let start = Instant::now();
            if let Some(filter) = filter {
                filter.apply(backend, density, &mut self.by_physical, &mut self.scratch)?;
            }
            if factor != 1.0 {
                backend.axpby(0.0, density, factor, &mut self.by_physical);
            }
            self.transform.realize(realization);
            self.transform.backward(backend, &self.by_physical, &mut function.gradient)?;
            times.filter += start.elapsed();
        }
        self.transform.realize(Realization::Built);
        Ok(())
    }

    /// Raises all variables of the next `design`, within `bounds`, where the solved density loses
    /// more than a tenth of its volume as a stage begins: what a sharper projection takes from grey
    /// members would break them, and no step mends that. Limits of the volume hold again some steps
    /// later.
    pub fn lift(
        &mut self,
        design: &mut B::Vector,
        bounds: [&B::Vector; 2],
    ) -> Result<(), SolveError> {
        let backend = self.equation.backend();
        let wanted = KEPT * self.measures.volume(backend, self.densities.solved())?;
        if self.solved_volume(design)? >= wanted {
            return Ok(());
        }

        let variables = self.transform.inputs();
        let (mut start, mut raised) = (backend.zeros(variables)?, backend.zeros(variables)?);
        backend.copy(design, &mut start);
        find_root_from(
            0.0,
            |_| RISE,
            1.0,
            ACCURACY * wanted,
            |rise| {
                backend.fill(rise, &mut raised);
                backend.axpby(1.0, &start, 1.0, &mut raised);
                backend.scale_within(1.0, &raised, bounds, design);
                Ok(self.solved_volume(design)? - wanted)
            },
        )
    }

    /// Volume of the density that is solved for the variables `design`.
    fn solved_volume(&mut self, design: &B::Vector) -> Result<f64, SolveError> {
        let Self { equation, trial, transform, measures, .. } = self;
        trial.make(equation.backend(), transform, design)?;
        Ok(measures.volume(equation.backend(), trial.solved())?)
    }

    /// Volume fraction and grey level of the design evaluated last.
    pub fn material(&mut self) -> Result<Material, BackendError> {
        let Self { measures, by_material, equation, densities, scratch, .. } = self;
        let (backend, physical) = (equation.backend(), &densities.built);
        if let Some(by_material) = by_material {
            let [volume_fraction, grey_level] =
                by_material.filled_and_grey(backend, measures, physical)?;
            return Ok(Material { volume_fraction, grey_level });
        }
        Ok(Material {
            volume_fraction: measures.volume_fraction(backend, physical)?,
            grey_level: measures.grey_level(backend, physical, scratch)?,
        })
    }

    /// Compliances of the load cases of the design evaluated last, without their weights.
    pub fn compliances(&self) -> &[f64] {
        &self.compliances
    }

    /// The sum of these with the weights of the load cases.
    pub fn compliance(&self) -> f64 {
        self.equation.weights().zip(&self.compliances).map(|(weight, c)| weight * c).sum()
    }

    /// The limited responses of the variables `design`, by solves that leave no trace: the design
    /// evaluated last and its states stay.
    pub fn limited_at(
        &mut self,
        design: &B::Vector,
        monitor: &mut Monitor,
    ) -> Result<Vec<f64>, SolveError> {
        self.assemble(design, false)?;
        let solved = self.solve(self.equation.tolerance(), monitor);
        self.equation.forget_effort();
        solved?;

        self.accept();
        let values = self.values();
        self.accept();
        let n_limited = self.constraints.len();
        let signed = values?.into_iter().rev().take(n_limited).rev().zip(&self.constraints);
        Ok(signed.map(|(value, constraint)| constraint.sign * value).collect())
    }

    /// The functions of all responses at the design evaluated last, the objectives counted from
    /// their zeros.
    fn values(&mut self) -> Result<Vec<f64>, BackendError> {
        let Self { equation, measures, densities, objective, constraints, scratch, .. } = self;
        let mut values = Vec::new();
        for (number, term) in terms(objective, constraints).enumerate() {
            let Term { response, factor, zero, .. } = term;
            let dependence = response.dependence();
            let (density, equation) = (densities.valued(dependence), equation.of(dependence));
            let backend = equation.backend();
            let mut at =
                Evaluated { backend, response: number, density, measures, equation, scratch };
            values.push(factor * (response.value(&mut at)? - zero));
        }
        Ok(values)
    }
}

/// A response, and how a function to be minimized or kept below a limit is made of it: factor times
/// its distance from zero.
struct Term<'e, 'a, B: Pointwise> {
    response: &'e mut (dyn Response<B> + 'a),
    factor: f64,
    /// See [`Response::zero`]; limits count from 0.
    zero: f64,
    filter: Option<&'e SensitivityFilter<'a, B>>,
}

/// The responses in the order of their functions.
fn terms<'e, 'a, B: Pointwise>(
    objective: &'e mut Objective<'a, B>,
    constraints: &'e mut [Constraint<'a, B>],
) -> impl Iterator<Item = Term<'e, 'a, B>> {
    let Objective { responses, sign, filter } = objective;
    let (sign, filter) = (*sign, filter.as_ref());
    let objectives = responses.iter_mut().map(move |(response, weight)| {
        let (factor, zero) = (sign * *weight, response.zero());
        Term { response: response.as_mut(), factor, zero, filter }
    });
    let limited = constraints.iter_mut().map(|constraint| {
        let Constraint { response, sign, .. } = constraint;
        Term { response: response.as_mut(), factor: *sign, zero: 0.0, filter: None }
    });
    objectives.chain(limited)
}

/// Volume and greyness of a design.
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
