//! What a checkpoint holds of a run.

use serde::{Deserialize, Serialize};

use crate::StructureState;

/// All that a run needs to go on from an evaluated design, see
/// [`Optimization::resumed`](crate::Optimization::resumed).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignState {
    /// The iteration that evaluated it, from 1.
    pub iteration: usize,
    /// The objective that its own is compared with by the stop rules.
    pub previous_objective: Option<f64>,
    /// Its KKT residual.
    pub kkt_residual: f64,
    /// Design variables, `[n_inputs]` of the transform.
    pub design: Vec<f64>,
    /// Design variables of the next design, which is found again from this one where it is left
    /// out.
    pub next: Option<Vec<f64>>,
    /// What the optimizer remembers besides, see
    /// [`Optimizer::memory`](crate::Optimizer::memory).
    pub memory: Memory,
    /// Displacements of each load case except for prescribed ones, `[n_nodes][3]`.
    pub displacements: Vec<Vec<f64>>,
    /// The same of the optimizer's last trial. The solve of the next design starts from it; none if
    /// there was no trial.
    pub trial: Vec<Vec<f64>>,
    /// What the preconditioner's structure was made for.
    pub structure: StructureState,
}

/// What an optimizer remembers, on the host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// One entry per design variable each.
    pub vectors: Vec<NamedVector>,
    /// Any number of entries, such as multipliers or the size of a step.
    pub numbers: Vec<NamedVector>,
}

impl DesignState {
    /// The same without vectors, for ranks after the first, which has them.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        let vectors = self.memory.vectors.iter().map(|(name, _)| (name.clone(), Vec::new()));
        Self {
            design: Vec::new(),
            next: self.next.as_ref().map(|_| Vec::new()),
            memory: Memory { vectors: vectors.collect(), numbers: self.memory.numbers.clone() },
            displacements: vec![Vec::new(); self.displacements.len()],
            trial: vec![Vec::new(); self.trial.len()],
            structure: self.structure.clone(),
            ..*self
        }
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
