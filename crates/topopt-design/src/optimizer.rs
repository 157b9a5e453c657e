//! `Optimizer`: computes the next design from values and gradients at a design.

use topopt_linalg::{Backend, BackendError};

use crate::{Dependence, Memory, Settings, SolveError};

/// Finds the next design.
pub trait Optimizer<B: Backend> {
    /// Whether it can take these constraints.
    ///
    /// # Errors
    /// What it cannot do, in words.
    fn accepts(&self, _constraints: &[Dependence]) -> Result<(), String> {
        Ok(())
    }

    /// Takes its part of the `settings` of the iteration that will evaluate the next design.
    fn enter(&mut self, _settings: &Settings) {}

    /// Whether it takes shorter moves than it may, so that small changes are no sign of an optimum.
    fn is_cautious(&self) -> bool {
        false
    }

    /// Writes the next design to `next`, which is not the design of `problem` and is overwritten.
    /// Returns the multipliers of the constraints that it was found with, `[m]`, not negative.
    ///
    /// # Errors
    /// [`SolveError`] if the device fails, or a solve of [`OtherDesigns::values`]. Its memory is
    /// then as it was.
    fn next(
        &mut self,
        problem: &mut Subproblem<B>,
        next: &mut B::Vector,
    ) -> Result<Vec<f64>, SolveError>;

    /// Vectors that the optimizer keeps from one design to the next, by name, with one entry per
    /// design variable; a checkpoint holds them. The design itself is not among them.
    fn memory(&self) -> Vec<(&'static str, &B::Vector)> {
        Vec::new()
    }

    /// Numbers that the optimizer keeps besides [`Optimizer::memory`], by name, any number of them.
    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        Vec::new()
    }

    /// Takes back what [`Optimizer::memory`] and [`Optimizer::numbers`] gave.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn restore(&mut self, _backend: &B, _memory: &Memory) -> Result<(), BackendError> {
        Ok(())
    }
}

/// Downloads the memory of `optimizer` to the host.
pub(crate) fn memory_of<B: Backend>(
    backend: &B,
    optimizer: &dyn Optimizer<B>,
) -> Result<Memory, BackendError> {
    let vectors = optimizer.memory().into_iter();
    let numbers = optimizer.numbers().into_iter();
    Ok(Memory {
        vectors: vectors
            .map(|(name, vector)| Ok((name.into(), backend.download(vector)?)))
            .collect::<Result<_, BackendError>>()?,
        numbers: numbers.map(|(name, numbers)| (name.into(), numbers)).collect(),
    })
}

/// Problem of an optimizer: minimize f(x) + z subject to g_i(x) <= limit_i + a_i z, z >= 0 and
/// bounds of x.
pub struct Subproblem<'s, B: Backend> {
    /// Backend of the vectors.
    pub backend: &'s B,
    /// The design variables x.
    pub design: &'s B::Vector,
    /// Smallest and largest values of the design variables.
    pub bounds: [&'s B::Vector; 2],
    /// f
    pub objective: &'s Function<B>,
    /// g_i
    pub constraints: &'s [Function<B>],
    /// The functions at other designs.
    pub others: &'s mut dyn OtherDesigns<B>,
}

impl<'s, B: Backend> Subproblem<'s, B> {
    /// f and then all g_i.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &'s Function<B>> + use<'s, B> {
        std::iter::once(self.objective).chain(self.constraints)
    }
}

/// A function of the design variables at a design.
pub struct Function<B: Backend> {
    /// Value at the design.
    pub value: f64,
    /// Gradient by the design variables, `[n_inputs]`.
    pub gradient: B::Vector,
    /// The largest value allowed; infinite for an objective.
    pub limit: f64,
    /// a, for a constraint that is one of those whose largest is minimized; else 0.
    pub share: f64,
}

/// Largest excess at which a limit counts as kept.
pub(crate) const KEPT: f64 = 1e-3;

impl<B: Backend> Function<B> {
    /// Part of the value beyond the limit, over the limit; negative within it.
    pub(crate) fn excess(&self) -> f64 {
        (self.value - self.limit) / self.limit.abs()
    }
}

/// The functions of a [`Subproblem`] at designs other than its own, with the settings of the
/// iteration that will evaluate the next design.
pub trait OtherDesigns<B: Backend> {
    /// Whether they differ from those of the [`Subproblem`], since a stage begins with the next
    /// design.
    fn begin_a_stage(&self) -> bool {
        false
    }

    /// Whether constraint `i` is a linear function of the design variables: its gradient times
    /// them.
    fn is_linear(&self, i: usize) -> bool;

    /// Whether constraint `i` depends on the design variables alone, and on no state.
    fn is_of_design(&self, i: usize) -> bool {
        self.is_linear(i)
    }

    /// Constraint `i` at `design`, for one that does not depend on the states.
    ///
    /// # Errors
    /// [`SolveError`] if the device or a filter fails.
    fn constraint(&mut self, i: usize, design: &B::Vector) -> Result<f64, SolveError>;

    /// The objective at `design`, then the constraints, by solving for the states.
    ///
    /// # Errors
    /// [`SolveError`] if the device or a solve fails.
    fn values(&mut self, design: &B::Vector) -> Result<Vec<f64>, SolveError>;
}
