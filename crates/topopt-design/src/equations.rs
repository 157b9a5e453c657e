//! `Equations`: the state equations of a design and, where both are solved, of the thicker one.

use std::ops::{Deref, DerefMut};

use topopt_analysis::{Effort, Observe};
use topopt_linalg::{BackendError, Monitor, Pointwise};

use crate::densities::Densities;
use crate::state_equation::Restored;
use crate::{
    AdjointState, Dependence, DesignState, Settings, SolveError, StateEquation, StructureState,
};

/// State equations of a design. Used as one they are that of the solved design.
pub(crate) struct Equations<'a, B: Pointwise> {
    solved: StateEquation<'a, B>,
    /// Equation of the thicker design.
    thicker: Option<StateEquation<'a, B>>,
}

impl<'a, B: Pointwise> Deref for Equations<'a, B> {
    type Target = StateEquation<'a, B>;

    fn deref(&self) -> &Self::Target {
        &self.solved
    }
}

impl<B: Pointwise> DerefMut for Equations<'_, B> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.solved
    }
}

impl<'a, B: Pointwise> Equations<'a, B> {
    /// One equation alone.
    pub fn new(solved: StateEquation<'a, B>) -> Self {
        Self { solved, thicker: None }
    }

    /// Adds the equation of the thicker design.
    pub fn add_thicker(&mut self, equation: StateEquation<'a, B>) {
        self.thicker = Some(equation);
    }

    /// The equation whose states a response with that `dependence` is of.
    pub fn of(&mut self, dependence: Dependence) -> &mut StateEquation<'a, B> {
        match (dependence, &mut self.thicker) {
            (Dependence::ThickerStates, Some(thicker)) => thicker,
            _ => &mut self.solved,
        }
    }

    fn all(&self) -> impl Iterator<Item = &StateEquation<'a, B>> {
        std::iter::once(&self.solved).chain(&self.thicker)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut StateEquation<'a, B>> {
        std::iter::once(&mut self.solved).chain(&mut self.thicker)
    }

    /// State of the structure of the thicker design's preconditioner.
    pub fn structure_of_thicker(&self) -> Option<&StructureState> {
        self.thicker.as_ref().map(StateEquation::structure)
    }

    /// Downloads the states of all load cases, equation by equation, `[n_nodes][n]` each.
    pub fn download_states(&self) -> Result<Vec<Vec<f64>>, BackendError> {
        let states = self.all().map(|equation| equation.download_states());
        Ok(states.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Downloads the states of the trial from which the next solves start; empty if there is none.
    pub fn download_trial(&self) -> Result<Vec<Vec<f64>>, BackendError> {
        let trials = self.all().map(|equation| equation.download_trial());
        Ok(trials.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Downloads the adjoint states from which the next adjoint solves start.
    pub fn download_adjoints(&self) -> Result<Vec<AdjointState>, BackendError> {
        let adjoints = self.all().map(|equation| equation.download_adjoints());
        Ok(adjoints.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

impl<B: Pointwise + Sync> Equations<'_, B> {
    /// See [`StateEquation::enter`].
    pub fn enter(&mut self, settings: &Settings) {
        self.all_mut().for_each(|equation| equation.enter(settings));
    }

    /// Takes states, adjoint states, their tolerance and the structures of the preconditioners from
    /// `state`; the responses have these `dependences`, which say whose their adjoint states are.
    pub fn restore(
        &mut self,
        state: &DesignState,
        dependences: &[Dependence],
    ) -> Result<(), BackendError> {
        let n = self.n_cases();
        let structures = [Some(&state.structure), state.thicker.as_ref()].into_iter().flatten();
        for (k, (equation, structure)) in self.all_mut().zip(structures).enumerate() {
            let is_own = |adjoint: &&AdjointState| {
                let dependence = dependences.get(adjoint.of[0]);
                (dependence == Some(&Dependence::ThickerStates)) == (k == 1)
            };
            equation.restore(&Restored {
                state,
                structure,
                displacements: state.displacements.get(k * n..).unwrap_or_default(),
                trial: state.trial.get(k * n..).unwrap_or_default(),
                adjoints: state.adjoints.iter().filter(is_own).collect(),
            })?;
        }
        Ok(())
    }

    /// See [`StateEquation::assemble`].
    pub fn assemble(
        &mut self,
        densities: &Densities<B>,
        scratch: &mut B::Vector,
    ) -> Result<(), BackendError> {
        self.solved.assemble(densities.solved(), scratch)?;
        let Some(thicker) = &mut self.thicker else { return Ok(()) };
        thicker.assemble(densities.thicker(), scratch)
    }

    /// See [`StateEquation::update_preconditioner`].
    pub fn update_preconditioner(&mut self, begins_stage: bool) -> Result<(), BackendError> {
        self.all_mut().try_for_each(|equation| equation.update_preconditioner(begins_stage))
    }

    /// See [`StateEquation::solve`].
    pub fn solve(
        &mut self,
        tolerance: f64,
        monitor: &mut Monitor,
        observe: &mut Observe<B>,
    ) -> Result<(), SolveError> {
        self.all_mut().try_for_each(|equation| equation.solve(tolerance, monitor, observe))
    }

    /// See [`StateEquation::accept`].
    pub fn accept(&mut self) {
        self.all_mut().for_each(|equation| equation.accept());
    }

    /// See [`StateEquation::accept_restored`].
    pub fn accept_restored(&mut self) {
        self.all_mut().for_each(|equation| equation.accept_restored());
    }

    /// See [`StateEquation::keep_trial`].
    pub fn keep_trial(&mut self) {
        self.all_mut().for_each(|equation| equation.keep_trial());
    }

    /// See [`StateEquation::follow_slow_solves`]; efforts are added up.
    pub fn follow_slow_solves(&mut self) -> Result<Effort, BackendError> {
        let mut efforts = self.all_mut().map(|equation| equation.follow_slow_solves());
        efforts.try_fold(Effort::default(), |sum, effort| Ok(sum.and(effort?)))
    }

    /// See [`StateEquation::forget_effort`].
    pub fn forget_effort(&mut self) {
        self.all_mut().for_each(|equation| equation.forget_effort());
    }
}
