//! Coefficients of thermal expansion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use topopt_fem::stiffness_tensor::Frame;
use topopt_fem::strain::Strain;

/// Thermal expansion: strain per temperature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ThermalExpansion {
    /// Equal in all directions.
    Isotropic(f64),
    /// `[a1, a2, a3]`: along the axes of the material's law of elasticity, or without one along x,
    /// y and z.
    Orthotropic([f64; 3]),
}

impl ThermalExpansion {
    /// Strain of a unit change of temperature along the axes of the mesh; `axes` are the
    /// material's.
    pub(super) fn strain(self, axes: &Frame) -> Strain {
        let along = match self {
            Self::Isotropic(a) => return [a, a, a, 0.0, 0.0, 0.0],
            Self::Orthotropic(along) => along,
        };
        let entry = |i: usize, j: usize| -> f64 {
            axes.iter().zip(along).map(|(axis, a)| a * axis[i] * axis[j]).sum()
        };
        let shear = |i: usize, j: usize| 2.0 * entry(i, j);
        [entry(0, 0), entry(1, 1), entry(2, 2), shear(0, 1), shear(1, 2), shear(2, 0)]
    }
}
