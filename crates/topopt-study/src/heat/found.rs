//! Results of a load case of heat: temperatures and heat flows.

use serde::{Deserialize, Serialize};

/// Results of one load case of heat, in units of the case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatCase {
    /// Name of the load case.
    pub name: String,
    /// Thermal compliance (heat times temperature); none for a transient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compliance: Option<f64>,
    /// The lowest temperature at a node with material.
    pub coldest: Extreme,
    /// The highest temperature at a node with material.
    pub hottest: Extreme,
    /// Heat flows into and out of the part, where they are known; for a transient in the last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatBalance>,
    /// Heat per time into all nodes, where no other flow is known.
    #[serde(skip)]
    pub into_nodes: Option<f64>,
}

/// A temperature at a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extreme {
    /// The temperature.
    pub temperature: f64,
    /// Number of the node, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<u64>,
    /// Coordinates of the node.
    pub at: [f64; 3],
}

/// Heat per time into the part; heat that leaves it is negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatBalance {
    /// Heat from the loads.
    pub loads: f64,
    /// Heat from convection.
    pub convection: f64,
    /// Heat through each support; a node of two supports counts for the first.
    pub supports: Vec<SupportHeat>,
    /// Heat stored in the part.
    pub stored: f64,
    /// Sum of all flows less the heat stored: 0 except for the error of the solve.
    pub sum: f64,
}

/// Heat through a support.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SupportHeat {
    /// Name of the set.
    pub set: String,
    /// Heat per time into the part.
    pub heat: f64,
}
