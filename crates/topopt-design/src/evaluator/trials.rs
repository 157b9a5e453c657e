//! `Trials`: the functions at other designs than the one evaluated last.

use topopt_linalg::{Monitor, Pointwise};

use super::{Evaluator, terms};
use crate::{Dependence, DesignTransform, Evaluated, OtherDesigns, SolveError};

/// The functions at trials of other designs.
pub(crate) struct Trials<'s, 'a, B: Pointwise> {
    pub evaluator: &'s mut Evaluator<'a, B>,
    pub monitor: &'s mut Monitor<'s>,
    /// Relative residual of a solve.
    pub tolerance: f64,
    /// Whether a stage begins with the next design.
    pub begin_a_stage: bool,
}

impl<B: Pointwise> Trials<'_, '_, B> {
    /// Dependence of constraint `i`, those that share the largest of them first.
    fn dependence(&self, i: usize) -> Dependence {
        let Evaluator { objective, constraints, .. } = &*self.evaluator;
        let shared = || objective.responses[i].0.dependence();
        let limited = i.checked_sub(objective.n_sharing());
        limited.map_or_else(shared, |i| constraints[i].response.dependence())
    }
}

impl<B: Pointwise + Sync> OtherDesigns<B> for Trials<'_, '_, B> {
    fn begin_a_stage(&self) -> bool {
        self.begin_a_stage
    }

    fn is_linear(&self, i: usize) -> bool {
        self.evaluator.transform.is_identity() && self.dependence(i) == Dependence::Linear
    }

    fn is_of_design(&self, i: usize) -> bool {
        !self.dependence(i).is_on_states()
    }

    fn constraint(&mut self, i: usize, design: &B::Vector) -> Result<f64, SolveError> {
        let evaluator = &mut *self.evaluator;
        let Evaluator { transform, objective, constraints, equation, measures, .. } = evaluator;
        let (density, scratch) = (&mut evaluator.trial.built, &mut evaluator.scratch);
        let backend = equation.backend();
        transform.forward(backend, design, density)?;
        let number = i + usize::from(objective.n_sharing() == 0);
        let mut at = Evaluated { backend, response: number, density, measures, equation, scratch };
        let term = terms(objective, constraints).nth(number);
        term.map_or(Ok(f64::NAN), |term| Ok(term.factor * term.response.value(&mut at)?))
    }

    fn values(&mut self, design: &B::Vector) -> Result<Vec<f64>, SolveError> {
        let Self { evaluator, monitor, tolerance, .. } = self;
        evaluator.assemble(design, false)?;
        evaluator.solve(*tolerance, *monitor)?;

        // The trial takes the place of the evaluated design for as long as it is looked at.
        evaluator.accept();
        let values = evaluator.values();
        evaluator.accept();
        evaluator.equation.keep_trial();

        let is_bound = evaluator.objective.n_sharing() > 0;
        let bound = is_bound.then_some(0.0).into_iter();
        Ok(bound.chain(values?).collect())
    }
}
