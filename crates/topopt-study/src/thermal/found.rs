//! Results of an analysis of heat, as analysis.json has them.

use serde::Serialize;
use topopt_case::unit_names::UnitNames;

use crate::summary::Preconditioner;

/// Results of `topopt solve` for heat. Units are those of the case; nodes and elements have the
/// numbers of the mesh file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThermalAnalysis {
    /// Version of the program.
    pub topopt: &'static str,
    /// Title of the case.
    pub title: Option<String>,
    /// Nothing where the case does not say.
    pub units: Option<UnitNames>,
    /// Path of the case file.
    pub case: String,
    /// Path of the design that was solved; none for the full part.
    pub design: Option<String>,
    /// Nodes of the mesh.
    pub nodes: usize,
    /// Elements of the mesh.
    pub elements: usize,
    /// Temperatures that are not held.
    pub free_dofs: usize,
    /// Mean width of an element.
    pub element_width: f64,
    /// Volume of the material.
    pub volume: f64,
    /// Every load case; in time the end.
    pub load_cases: Vec<ThermalCase>,
    /// How it went in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<InTime>,
    /// Name of the compute target.
    pub device: String,
    /// How the conduction was applied.
    pub strategy: &'static str,
    /// The preconditioner and its levels.
    pub preconditioner: Preconditioner,
    /// Iterations of conjugate gradients, summed over solves.
    pub pcg_iterations: usize,
    /// Largest relative residual of a solve.
    pub pcg_residual: f64,
    /// Wall time of the preconditioner and of conjugate gradients, in seconds.
    pub seconds: f64,
    /// Notes on what was left out or changed in reading the mesh, a sentence each.
    pub notes: Vec<String>,
    /// Warnings, a sentence each.
    pub warnings: Vec<String>,
}

/// Results of one load case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThermalCase {
    /// Name of the load case.
    pub name: String,
    /// Thermal compliance (heat times temperature); none in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compliance: Option<f64>,
    /// The lowest temperature of a node with material.
    pub coldest: Extreme,
    /// The highest one.
    pub hottest: Extreme,
    /// Heat flows into and out of the part; in time at the end of the last step.
    pub heat: HeatBalance,
}

/// A temperature at a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Extreme {
    /// The temperature.
    pub temperature: f64,
    /// Number of the node.
    pub node: u64,
    /// Coordinates of the node.
    pub at: [f64; 3],
}

/// Heat per time into the part, positive where it comes in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatBalance {
    /// Heat from the loads.
    pub loads: f64,
    /// Heat from convection.
    pub convection: f64,
    /// Through each support; a node of two counts for the first.
    pub supports: Vec<SupportHeat>,
    /// Heat that is stored.
    pub stored: f64,
    /// All that comes in, less what is stored: 0 except for the error of the solve.
    pub sum: f64,
}

/// Heat through a support.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SupportHeat {
    /// Name of the set.
    pub set: String,
    /// Heat per time into the part.
    pub heat: f64,
}

/// How an analysis went in time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InTime {
    /// Time steps.
    pub steps: usize,
    /// The end.
    pub end: f64,
    /// Theta of the scheme.
    pub theta: f64,
    /// Heat that is stored in the part since the beginning.
    pub stored: f64,
    /// Largest difference of what came in and what was stored in a step, as a share of the largest
    /// heat that went anywhere in a step.
    pub imbalance: f64,
}
