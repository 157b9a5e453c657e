//! Responses that a caller computes by itself, beside those of the case file.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use topopt_design::{HostFunction, HostValue};
use topopt_fem::ProblemView;
use topopt_linalg::{BackendError, Pointwise};
use topopt_mesh::HexMesh;

use super::form::{Measure, Measured, Numbers, Part, PosedForm};

/// A response of a caller, whose function takes and returns values in the user's numbering.
#[derive(Clone)]
pub struct OwnResponse {
    /// Description in words, which is also its column in the history.
    pub label: String,
    /// The function.
    pub function: Arc<dyn HostFunction>,
    /// Part that it plays.
    pub role: Role,
}

/// Part that a response plays in an optimization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// Objective in place of that of the case, to be minimized.
    Minimized,
    /// Objective in place of that of the case, to be maximized.
    Maximized,
    /// Response with a largest value.
    AtMost(f64),
    /// Response with a smallest value.
    AtLeast(f64),
}

impl OwnResponse {
    /// Whether it is the objective.
    pub fn is_objective(&self) -> bool {
        matches!(self.role, Role::Minimized | Role::Maximized)
    }

    /// Returns its form on `mesh`.
    pub(super) fn form(&self, mesh: &HexMesh) -> Own {
        let numbers = |n: usize| (0..n as u32).collect();
        Own {
            function: Some(Function(self.function.clone())),
            nodes: numbers(mesh.n_nodes()),
            elements: numbers(mesh.n_elements()),
        }
    }
}

/// Form of a response of a caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Own {
    #[serde(skip)]
    function: Option<Function>,
    /// Node of the problem by node of the user, `[n_nodes]`.
    nodes: Vec<u32>,
    /// Element of the problem by element of the user, `[n_elements]`.
    elements: Vec<u32>,
}

#[derive(Clone)]
struct Function(Arc<dyn HostFunction>);

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

impl PosedForm for Own {
    fn numbers(&mut self) -> Option<Numbers<'_>> {
        Some(Numbers::Order { nodes: &mut self.nodes, elements: &mut self.elements })
    }
}

impl Measured for Own {
    fn measure<'a, B: Pointwise + Sync + 'a>(
        &self,
        Part { problem, .. }: Part<'a>,
        _backend: &B,
        _zero: f64,
    ) -> Result<Measure<'a, B>, BackendError> {
        let function = self.function.clone().map(|Function(function)| function);
        let Some(function) = function else { return Err(elsewhere()) };
        Ok(Measure::Host(Arc::new(Renumbered {
            function,
            nodes: self.nodes.clone(),
            elements: self.elements.clone(),
            is_held: is_held(problem),
        })))
    }
}

/// Whether a component is held, `[n_nodes][n]`.
pub(crate) fn is_held(problem: &dyn ProblemView) -> Vec<bool> {
    let n = problem.unknowns().unknowns;
    let components = (0..problem.unknowns().points * n).map(|i| problem.is_held(i / n, i % n));
    components.collect()
}

/// Error on ranks, which do not share the memory of the caller.
fn elsewhere() -> BackendError {
    BackendError {
        device: "this rank".into(),
        operation: "evaluating a response of the caller".into(),
        message: "the function is in another process".into(),
    }
}

/// A function of values in the user's numbering, on those of the problem.
struct Renumbered {
    function: Arc<dyn HostFunction>,
    nodes: Vec<u32>,
    elements: Vec<u32>,
    is_held: Vec<bool>,
}

impl HostFunction for Renumbered {
    fn evaluate(&self, density: &[f64], states: &[Vec<f64>]) -> Result<HostValue, BackendError> {
        let of_user = |state: &Vec<f64>| gathered(&self.nodes, state);
        let states: Vec<Vec<f64>> = states.iter().map(of_user).collect();
        let mut found = self.function.evaluate(&gathered(&self.elements, density), &states)?;
        found.by_density = scattered(&self.elements, &found.by_density);
        for slope in found.by_states.iter_mut().filter(|slope| !slope.is_empty()) {
            *slope = scattered(&self.nodes, slope);
            clear_held(slope, &self.is_held);
        }
        Ok(found)
    }
}

/// Sets values at held components to 0.
pub(crate) fn clear_held(values: &mut [f64], is_held: &[bool]) {
    let held = values.iter_mut().zip(is_held).filter(|(_, is_held)| **is_held);
    held.for_each(|(value, _)| *value = 0.0);
}

/// Returns rows of `values` in the order of `numbers`.
pub(crate) fn gathered(numbers: &[u32], values: &[f64]) -> Vec<f64> {
    let n = values.len() / numbers.len();
    numbers.iter().flat_map(|&row| &values[n * row as usize..][..n]).copied().collect()
}

/// Returns `values`, whose rows are in the order of `numbers`, in that of the rows.
pub(crate) fn scattered(numbers: &[u32], values: &[f64]) -> Vec<f64> {
    let n = values.len() / numbers.len();
    let mut rows = vec![0.0; values.len()];
    for (&row, values) in numbers.iter().zip(values.chunks(n)) {
        rows[n * row as usize..][..n].copy_from_slice(values);
    }
    rows
}
