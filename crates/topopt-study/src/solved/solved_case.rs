//! A load case by itself.

use serde::{Deserialize, Serialize};

use super::balance::Balance;
use super::gauss_points::PeakStress;
use super::measures::{Displacement, Stress};
use super::nodal::{MeshError, NodalPeaks};
use super::safety::Safety;

/// Results of a solve for one load case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SolvedCase {
    /// Name of the load case.
    pub name: String,
    /// Weight of the load case in the compliance.
    pub weight: f64,
    /// Compliance without the weight (force times length).
    pub compliance: f64,
    /// Largest displacement.
    pub largest_displacement: Displacement,
    /// Stresses of von Mises.
    pub von_mises: Stress,
    /// The largest stresses of von Mises at nodes; none of densities between solid and void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodal_von_mises: Option<NodalPeaks>,
    /// Estimated error of the mesh; none of densities between solid and void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh_error: Option<MeshError>,
    /// Safety factors by these stresses, of each material with a yield strength.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub safety_factors: Vec<Safety>,
    /// Applied forces and reactions.
    #[serde(flatten)]
    pub balance: Balance,
    /// The largest stress of von Mises at a Gauss point, of an analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gauss_points: Option<PeakStress>,
    /// Safety factors by the stresses at the Gauss points, of each material with a yield strength.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gauss_point_safety_factors: Vec<Safety>,
}
