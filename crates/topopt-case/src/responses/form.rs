//! The form of a response on a mesh, and ways to measure it.

use std::sync::Arc;

use topopt_design::{DesignSpace, HostFunction, StateFunction};
use topopt_fem::ProblemView;
use topopt_linalg::{BackendError, Pointwise};

/// Nodes or elements that a form holds numbers of: renumbering, stripping and restriction follow
/// from them.
pub enum Numbers<'a> {
    /// Elements, sorted.
    Elements(&'a mut Vec<u32>),
    /// Nodes, sorted.
    Nodes(&'a mut Vec<u32>),
    /// Nodes with weights of their states in a sum.
    Weights(&'a mut Vec<(u32, [f64; 3])>),
    /// All nodes and elements, in the user's order.
    Order {
        /// Nodes, `[n_nodes]`.
        nodes: &'a mut [u32],
        /// Elements, `[n_elements]`.
        elements: &'a mut [u32],
    },
}

/// Part that is measured: the first of several ranks has all of its values, the others none.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// Designs allowed, with volumes.
    pub space: &'a DesignSpace,
    /// The problem.
    pub problem: &'a dyn ProblemView,
    /// Mass per volume that the factors of the mass are multiples of.
    pub mass_density: f64,
}

/// Way to measure a response.
pub enum Measure<'a, B: Pointwise> {
    /// The compliance of all load cases with their weights, or of one without it.
    Compliance(Option<usize>),
    /// The share of the design volume that material fills.
    Volume,
    /// The sum of the densities with weights, `[n_elements]`.
    Densities(Vec<f64>),
    /// A function of the state of a load case.
    State(usize, Box<dyn StateFunction<B> + 'a>),
    /// A function of the caller's.
    Host(Arc<dyn HostFunction>),
}

/// A form of a response.
pub trait PosedForm {
    /// Returns the load case that it belongs to, if it belongs to one.
    fn case(&self) -> Option<usize> {
        None
    }

    /// Returns the numbers of nodes or elements that it holds.
    fn numbers(&mut self) -> Option<Numbers<'_>> {
        None
    }

    /// Whether the iterations report it anyway.
    fn is_usual(&self) -> bool {
        false
    }

    /// Whether it is the volume of the whole design, which is reported as a share.
    fn is_share(&self) -> bool {
        false
    }

    /// Whether it is a mass.
    fn is_mass(&self) -> bool {
        false
    }

    /// Whether it falls with every bit of material, in a steady state under constant loads.
    fn only_falls(&self) -> bool {
        false
    }

    /// Whether more material helps to keep `limit`, unless the part is a mechanism or has weight.
    fn is_helped_by_material(&self, is_upper: bool, _limit: f64) -> bool {
        is_upper
    }

    /// Whether it has a sign, so that the output of a mechanism may be worse by too much material
    /// as well as by too little.
    fn has_sign(&self) -> bool {
        false
    }

    /// Computes the true maximum that a p-norm approximates, from a state `[n_nodes][n]`.
    fn largest(&self, _state: &[f64], _n: usize) -> Option<f64> {
        None
    }
}

/// Measures a form on a backend.
pub trait Measured: PosedForm {
    /// Measures the response on `part`; it counts from `zero`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn measure<'a, B: Pointwise + Sync + 'a>(
        &self,
        part: Part<'a>,
        backend: &B,
        zero: f64,
    ) -> Result<Measure<'a, B>, BackendError>;
}

impl Part<'_> {
    /// Returns the shares of the elements in the design volume, `[n_elements]`.
    pub(crate) fn volume_shares(&self) -> Vec<f64> {
        shares(self.space.design_volumes())
    }
}

/// Returns `values` as shares of their sum.
pub(super) fn shares(values: Vec<f64>) -> Vec<f64> {
    let total: f64 = values.iter().sum();
    values.into_iter().map(|value| value / total).collect()
}

/// Returns the `values` of `elements`, 0 elsewhere, `[n_elements]`.
pub(super) fn within(elements: &[u32], values: &[f64]) -> Vec<f64> {
    let mut weights = vec![0.0; values.len()];
    elements.iter().for_each(|&e| weights[e as usize] = values[e as usize]);
    weights
}
