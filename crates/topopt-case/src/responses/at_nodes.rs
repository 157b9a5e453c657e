//! Responses of the states at nodes: a mean along a direction, and the norm of a largest value.

use serde::{Deserialize, Serialize};
use topopt_design::{LargestState, StateMean, StateNorm};
use topopt_fem::surface_load;
use topopt_linalg::{BackendError, Pointwise};
use topopt_mesh::SetKind;
use topopt_mesh::vector::unit;

use super::form::{Measure, Measured, Numbers, Part, PosedForm};
use crate::config::ResponseKeys;
use crate::finding::Finding;
use crate::lookup::Lookup;

/// Exponent where the case leaves it out: the norm of a hundred equal lengths is 1.17 of them.
pub(super) const EXPONENT: f64 = 30.0;

/// A function of the state of a load case at nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum AtNodes {
    /// The mean of a component.
    Mean {
        /// Number of the load case.
        case: usize,
        /// Weights of the nodal states in the sum: node and vector.
        weights: Vec<(u32, [f64; 3])>,
    },
    /// The p-norm of displacements, or of temperatures above the zero of the response.
    Largest {
        /// Number of the load case.
        case: usize,
        /// The nodes, sorted.
        nodes: Vec<u32>,
        /// p
        exponent: f64,
    },
}

impl AtNodes {
    /// Returns the mean over nodes with `shares` along `direction`, of any length.
    pub(super) fn mean(case: usize, shares: &[(u32, f64)], direction: [f64; 3]) -> Self {
        let direction = unit(direction).unwrap_or_default();
        let along = |&(node, share): &(u32, f64)| (node, direction.map(|d| share * d));
        Self::Mean { case, weights: shares.iter().map(along).collect() }
    }

    /// Returns the norm over nodes with `shares`.
    pub(super) fn largest(case: usize, shares: &[(u32, f64)], exponent: f64) -> Self {
        Self::Largest { case, nodes: shares.iter().map(|(node, _)| *node).collect(), exponent }
    }
}

impl PosedForm for AtNodes {
    fn case(&self) -> Option<usize> {
        match self {
            Self::Mean { case, .. } | Self::Largest { case, .. } => Some(*case),
        }
    }

    fn numbers(&mut self) -> Option<Numbers<'_>> {
        Some(match self {
            Self::Mean { weights, .. } => Numbers::Weights(weights),
            Self::Largest { nodes, .. } => Numbers::Nodes(nodes),
        })
    }

    fn is_helped_by_material(&self, is_upper: bool, limit: f64) -> bool {
        // Along a direction a displacement has a sign.
        is_upper || matches!(self, Self::Mean { .. }) && limit < 0.0
    }

    fn has_sign(&self) -> bool {
        matches!(self, Self::Mean { .. })
    }

    /// Finds the largest length, or temperature.
    fn largest(&self, state: &[f64], n: usize) -> Option<f64> {
        let Self::Largest { nodes, .. } = self else { return None };
        let value = |node: &u32| match &state[*node as usize * n..][..n] {
            [temperature] => *temperature,
            u => u.iter().map(|u| u * u).sum::<f64>().sqrt(),
        };
        nodes.iter().map(value).reduce(f64::max)
    }
}

impl Measured for AtNodes {
    fn measure<'a, B: Pointwise + Sync + 'a>(
        &self,
        Part { problem, .. }: Part<'a>,
        backend: &B,
        zero: f64,
    ) -> Result<Measure<'a, B>, BackendError> {
        let n = problem.unknowns().unknowns;

        Ok(match self {
            Self::Mean { case, weights } => {
                let points = if backend.has_values() { problem.unknowns().points } else { 0 };
                let mut all = vec![0.0; n * points];
                for (node, weight) in weights {
                    all[*node as usize * n..][..n].copy_from_slice(&weight[..n]);
                }
                let mean = StateMean::new(backend, problem, all)?.counted_from(zero);
                Measure::State(*case, Box::new(mean))
            }
            // One unknown per node has a sign, several have a length.
            Self::Largest { case, nodes, exponent } if n == 1 => {
                let largest = LargestState::new(problem, nodes.clone(), *exponent, zero);
                Measure::State(*case, Box::new(largest))
            }
            Self::Largest { case, nodes, exponent } => {
                Measure::State(*case, Box::new(StateNorm::new(problem, nodes.clone(), *exponent)))
            }
        })
    }
}

impl Lookup<'_> {
    /// Returns the nodes of the set of `keys` with their shares in it: by the areas that they stand
    /// for if it has faces, else alike.
    pub(super) fn shares(
        &self,
        keys: ResponseKeys,
        findings: &mut Vec<Finding>,
    ) -> Vec<(u32, f64)> {
        let Some(set) = keys.set else { return Vec::new() };
        let kinds = self.sets.kinds_of(set.get_ref());
        let is_face_first = kinds.first().is_some_and(|(kind, _)| *kind == SetKind::Face);
        let by_area = keys.kind.is_some() || is_face_first;
        let faces = if by_area { self.faces(set, keys.kind) } else { None };

        let mut shares: Vec<(u32, f64)> = match faces {
            Some(faces) => surface_load::areas(self.mesh, &faces),
            None => {
                let nodes = self.nodes(set, keys.kind, findings);
                nodes.into_iter().map(|node| (node, 1.0)).collect()
            }
        };
        let total: f64 = shares.iter().map(|(_, share)| share).sum();
        shares.iter_mut().for_each(|(_, share)| *share /= total);
        shares
    }
}
