//! Strains of changes of temperature, and the forces of elements that are held against them.
//!
//! A material strains by a T without stress, with its coefficients of expansion a and the change of
//! temperature T, so that its stress is D (B u - a T). An element takes T as linear: in hexahedra
//! the mean acts with the mean gradient, and slopes with the linear modes of [`crate::StrainMode`],
//! as far as these can follow; by full integration, whose elements bend too little, the mean acts
//! alone. A free body expands without stress, and with modes bends so under a uniform gradient.

use serde::Serialize;

use crate::TemperatureChange;
use crate::strain_tensor::Strain;

/// Thermal strains of all elements: coefficients of expansion times changes of temperature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThermalStrains {
    /// Strains of a unit change, of each material.
    expansions: Vec<Strain>,
    /// Number of the expansion of each element, `[n_elements]`.
    of_element: Vec<u32>,
    /// Changes, `[n_elements]`.
    changes: Vec<TemperatureChange>,
}

/// Forces and energy of an element that is held against its thermal strain, at unit coefficient.
#[derive(Debug, Clone, Default)]
pub struct Restrained<const N: usize> {
    /// Forces on its nodes, `[E][N]`; empty for an element that does not expand.
    pub forces: Vec<[f64; N]>,
    /// Twice its energy.
    pub energy: f64,
}

impl ThermalStrains {
    /// Takes strains of a unit change, the number of that of each element, and the changes.
    pub fn new(
        expansions: Vec<Strain>,
        of_element: Vec<u32>,
        changes: Vec<TemperatureChange>,
    ) -> Self {
        debug_assert_eq!(of_element.len(), changes.len());
        Self { expansions, of_element, changes }
    }

    /// Returns the strains of some elements, in their order.
    #[must_use]
    pub fn of_elements(&self, elements: &[u32]) -> Self {
        Self {
            expansions: self.expansions.clone(),
            of_element: elements.iter().map(|&e| self.of_element[e as usize]).collect(),
            changes: elements.iter().map(|&e| self.changes[e as usize]).collect(),
        }
    }

    /// Elements that expand or shrink, increasing.
    pub(crate) fn elements(&self) -> Vec<u32> {
        let numbers = 0..self.changes.len() as u32;
        numbers.filter(|&e| self.expands(e as usize)).collect()
    }

    /// Whether all numbers are finite, and there is one for each of `n_elements`.
    pub(crate) fn is_usable(&self, n_elements: usize) -> bool {
        self.changes.len() == n_elements
            && self.changes.iter().all(TemperatureChange::is_finite)
            && self.expansions.as_flattened().iter().all(|a| a.is_finite())
    }

    /// Change of element `e`.
    pub(crate) fn change(&self, e: usize) -> &TemperatureChange {
        &self.changes[e]
    }

    fn expands(&self, e: usize) -> bool {
        !self.changes[e].is_zero() && self.expansion(e, 1.0) != [0.0; 6]
    }

    /// The strain of element `e` by a `change`.
    pub(crate) fn expansion(&self, e: usize, change: f64) -> Strain {
        self.expansions[self.of_element[e] as usize].map(|a| a * change)
    }
}
