//! Checkpoint data of a run.

use serde::{Deserialize, Serialize};

use crate::StructureState;

/// All that a run needs to continue from an evaluated design, see
/// [`Optimization::resumed`](crate::Optimization::resumed).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignState {
    /// The iteration that evaluated it, from 1.
    pub iteration: usize,
    /// The objective that its own is compared with by the stop rules.
    pub previous_objective: Option<f64>,
    /// KKT residual of the evaluated design.
    pub kkt_residual: f64,
    /// Relative residual of its solves; that of a first design where it is left out.
    pub tolerance: Option<f64>,
    /// Design variables, `[n_inputs]` of the transform.
    pub design: Vec<f64>,
    /// Design variables of the next design, which is found again from this one where it is left
    /// out.
    pub next: Option<Vec<f64>>,
    /// Memory of the optimizer, see [`Optimizer::memory`](crate::Optimizer::memory).
    pub memory: Memory,
    /// Displacements of each load case except for prescribed ones, `[n_nodes][3]`.
    pub displacements: Vec<Vec<f64>>,
    /// Displacements of the optimizer's last trial, `[n_nodes][3]` per load case, from which the
    /// solve of the next design starts; empty if there was no trial.
    pub trial: Vec<Vec<f64>>,
    /// Adjoint states from which the adjoint solves of the next design start.
    pub adjoints: Vec<AdjointState>,
    /// State of the structure of the preconditioner.
    pub structure: StructureState,
    /// State of the structure for the thicker design, where that is solved as well; its
    /// displacements follow those of the solved one.
    pub thicker: Option<StructureState>,
}

/// An adjoint state on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdjointState {
    /// Numbers of the response, objectives first, and of the load case.
    pub of: [usize; 2],
    /// Values, `[n_nodes][3]`.
    pub values: Vec<f64>,
}

/// Memory of an optimizer, on the host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// One entry per design variable each.
    pub vectors: Vec<NamedVector>,
    /// Any number of entries, such as multipliers or the size of a step.
    pub numbers: Vec<NamedVector>,
}

impl DesignState {
    /// Returns a copy without vectors, for ranks after the first, which alone has them.
    #[must_use]
    pub fn without_values(&self) -> Self {
        let vectors = self.memory.vectors.iter().map(|(name, _)| (name.clone(), Vec::new()));
        Self {
            design: Vec::new(),
            next: self.next.as_ref().map(|_| Vec::new()),
            memory: Memory { vectors: vectors.collect(), numbers: self.memory.numbers.clone() },
            displacements: vec![Vec::new(); self.displacements.len()],
            trial: vec![Vec::new(); self.trial.len()],
            adjoints: self.adjoints.iter().map(AdjointState::without_values).collect(),
            structure: self.structure.clone(),
            thicker: self.thicker.clone(),
            ..*self
        }
    }
}

impl AdjointState {
    fn without_values(&self) -> Self {
        Self { of: self.of, values: Vec::new() }
    }
}

impl Memory {
    /// The vector of this name.
    pub fn vector(&self, name: &str) -> Option<&[f64]> {
        find(&self.vectors, name)
    }

    /// The numbers of this name.
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        find(&self.numbers, name)
    }
}

fn find<'m>(values: &'m [NamedVector], name: &str) -> Option<&'m [f64]> {
    values.iter().find(|(other, _)| other == name).map(|(_, values)| values.as_slice())
}

/// A vector on the host, and its name.
pub type NamedVector = (String, Vec<f64>);
