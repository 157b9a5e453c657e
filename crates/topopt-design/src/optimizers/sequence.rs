//! Optimizers that take turns, as the stages of a run say.

use topopt_linalg::{Backend, BackendError};

use crate::{Dependence, Memory, Optimizer, Settings, SolveError, Subproblem};

/// Optimizers by number: that of [`Settings::optimizer`] is in force, and the first until a stage
/// names one. Their memories have different names.
pub struct Sequence<'a, B: Backend> {
    optimizers: Vec<Box<dyn Optimizer<B> + 'a>>,
    in_force: usize,
}

impl<'a, B: Backend> Sequence<'a, B> {
    /// Lets `optimizers`, at least one, take turns.
    pub fn new(optimizers: Vec<Box<dyn Optimizer<B> + 'a>>) -> Self {
        Self { optimizers, in_force: 0 }
    }
}

impl<B: Backend> Optimizer<B> for Sequence<'_, B> {
    fn accepts(&self, constraints: &[Dependence]) -> Result<(), String> {
        self.optimizers.iter().try_for_each(|optimizer| optimizer.accepts(constraints))
    }

    fn enter(&mut self, settings: &Settings) {
        self.in_force = settings.optimizer.unwrap_or(self.in_force);
        self.optimizers[self.in_force].enter(settings);
    }

    fn is_cautious(&self) -> bool {
        self.optimizers[self.in_force].is_cautious()
    }

    fn next(
        &mut self,
        problem: &mut Subproblem<B>,
        next: &mut B::Vector,
    ) -> Result<Vec<f64>, SolveError> {
        self.optimizers[self.in_force].next(problem, next)
    }

    fn memory(&self) -> Vec<(&'static str, &B::Vector)> {
        self.optimizers.iter().flat_map(|optimizer| optimizer.memory()).collect()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.optimizers.iter().flat_map(|optimizer| optimizer.numbers()).collect()
    }

    fn restore(&mut self, backend: &B, memory: &Memory) -> Result<(), BackendError> {
        self.optimizers.iter_mut().try_for_each(|optimizer| optimizer.restore(backend, memory))
    }
}
