//! Operators and preconditioners that computers build, and the memory that a run needs.

use std::collections::BTreeMap;

use topopt_fem::{ElementOperator, ElementPreconditioner};
use topopt_linalg::{Backend, BackendError, Pointwise};

use topopt_case::config;

/// Operator and preconditioner of a model.
pub struct Solver<'a, B: Backend> {
    /// K(E).
    pub operator: Box<dyn ElementOperator<B> + 'a>,
    /// Preconditioner of the operator for conjugate gradients.
    pub preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    /// How the operator was chosen if it was left to us.
    pub note: Option<String>,
}

impl<'a, B: Pointwise> Solver<'a, B> {
    /// The solver of an equation, with the other numbers of `settings`.
    pub(crate) fn of_equation(self, settings: &config::Solver) -> topopt_analysis::Solver<'a, B> {
        topopt_analysis::Solver {
            operator: self.operator,
            preconditioner: self.preconditioner,
            whole: None,
            tolerance: settings.tolerance,
            max_iterations: settings.max_iterations(),
        }
    }
}

/// Operator and preconditioner for the equation on the part of a rank.
pub struct PartSolver<'a, B: Backend> {
    /// K(E).
    pub operator: Box<dyn ElementOperator<B> + 'a>,
    /// Preconditioner and the operator that it follows; none where the diagonal of K is enough.
    pub preconditioner: Option<Preconditioning<'a, B>>,
}

/// A preconditioner and the operator that it follows.
pub type Preconditioning<'a, B> =
    (Box<dyn ElementPreconditioner<B> + 'a>, Box<dyn ElementOperator<B> + 'a>);

/// Strategy and memory of a run on a computer, known before anything is built.
pub struct Needs {
    /// The strategy, `auto` where it is measured first.
    pub strategy: &'static str,
    /// Megabytes of the computer's memory by strategy.
    pub memory_mb: BTreeMap<&'static str, f64>,
}

/// Takes the operators of a computer one after the other, each with the bytes that it stores.
pub type EachOperator<'v, B> =
    dyn FnMut(&mut dyn ElementOperator<B>, usize) -> Result<(), BackendError> + 'v;
