//! A loop that goes on from a checkpoint.

use topopt_linalg::{BackendError, Pointwise};

use super::{Optimization, Step};
use crate::halt::Halt;
use crate::{DesignState, Observer, StepTimes};

impl<B: Pointwise + Sync> Optimization<'_, B> {
    /// Resumes from `state`, saved by an optimization with the same settings. Later iterations are
    /// the same to the last bit, except for times.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn resumed(mut self, state: &DesignState) -> Result<Self, BackendError> {
        let backend = self.evaluator.equation.backend();
        let variables = self.evaluator.variables();
        self.design = backend.upload(&state.design, variables)?;
        if let Some(next) = &state.next {
            self.evaluated = backend.upload(next, variables)?;
        }
        self.has_next = state.next.is_some();
        self.iteration = state.iteration;
        self.history.previous = state.previous_objective;
        self.history.kkt_residual = state.kkt_residual;
        self.optimizer.restore(backend, &state.memory)?;
        self.evaluator.restore(state)?;
        Ok(self)
    }

    /// Repeats responses and update of a resumed design, whose states come from the checkpoint.
    pub(super) fn restore(&mut self, observer: &mut dyn Observer<B>) -> Result<Step, Halt> {
        let iteration = self.iteration;
        let backend = self.evaluator.equation.backend();
        let assembled = self.evaluator.assemble(&self.design, false);
        assembled.map_err(|error| Halt::by(error, iteration))?;
        let mut monitor = |progress| observer.solving(iteration, progress);
        let restored = self.evaluator.accept_restored(&mut monitor);
        restored.map_err(|error| Halt::by(error, iteration))?;
        self.evaluator.evaluate(&mut self.functions)?;
        if !self.has_next {
            return Ok(self.step(observer, &mut StepTimes::default())?);
        }
        self.enter(self.iteration + 1)?;
        let change = backend.value(&backend.max_difference(&self.design, &self.evaluated))?;
        std::mem::swap(&mut self.design, &mut self.evaluated);
        Ok(Step { change, kkt_residual: self.history.kkt_residual, ended: None })
    }
}
