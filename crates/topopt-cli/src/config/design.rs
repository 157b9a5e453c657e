//! The keys of `[design]`, `[filter]` and `[optimizer]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// What is optimised.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// Share of the design volume that the material may fill.
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub volume_fraction: Spanned<f64>,
    /// Exponent p of the SIMP law E = density^p * youngs_modulus.
    #[serde(default = "three")]
    #[schemars(extend("minimum" = 1))]
    pub penalty: f64,
    /// Smallest density, which stands for void.
    #[serde(default = "one_percent")]
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "exclusiveMaximum" = 1,
        "x-remedy" = "with density 0 the stiffness matrix is singular; 0.01 is usual"
    ))]
    pub density_min: f64,
    /// Element sets that stay solid; they are no part of the design volume.
    #[serde(default)]
    #[schemars(with = "Vec<String>", extend("uniqueItems" = true))]
    pub solid: Vec<Spanned<String>>,
    /// Element sets that stay at `density_min`; they are no part of the design volume.
    #[serde(default)]
    #[schemars(with = "Vec<String>", extend("uniqueItems" = true))]
    pub void: Vec<Spanned<String>>,
}

/// The filter. `sensitivity` needs one of `radius` and `radius_in_elements`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Which filter.
    pub kind: FilterKind,
    /// Radius as a length.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Radius in element widths; a width is the cube root of the mean element volume.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius_in_elements: Option<f64>,
    /// Memory in MB for the lists of neighbours; where they need more, neighbours are searched
    /// afresh in every iteration.
    pub neighbour_memory_mb: usize,
}

/// A filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterKind {
    /// Sigmund's sensitivity filter.
    Sensitivity,
    /// No filter: the result depends on the mesh.
    None,
}

/// The optimiser. It stops at `max_iterations`, or as soon as any of the tolerances is met; a
/// tolerance of 0 is switched off.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Optimizer {
    /// Method of the update.
    pub method: Method,
    /// Largest number of iterations.
    #[schemars(range(min = 1))]
    pub max_iterations: usize,
    /// Largest change of a density in one iteration.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub move_limit: f64,
    /// Exponent eta of the optimality criteria.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub damping: f64,
    /// Stop when no density changes by more than this.
    #[schemars(extend("minimum" = 0))]
    pub change_tolerance: f64,
    /// Stop when the compliance changes by less than this share of itself.
    #[schemars(extend("minimum" = 0))]
    pub compliance_tolerance: f64,
    /// Stop when the compliance changes by less than this, in its own unit. The rule of
    /// Ratnakar's thesis is 1e-2 here, 0 for the other two tolerances, and 150 iterations.
    #[schemars(extend("minimum" = 0))]
    pub absolute_compliance_tolerance: f64,
}

/// A method of the update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Optimality criteria.
    Oc,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            kind: FilterKind::Sensitivity,
            radius: None,
            radius_in_elements: None,
            neighbour_memory_mb: 512,
        }
    }
}

impl Default for Optimizer {
    fn default() -> Self {
        Self {
            method: Method::Oc,
            max_iterations: 150,
            move_limit: 0.2,
            damping: 0.5,
            change_tolerance: 1e-2,
            compliance_tolerance: 1e-4,
            absolute_compliance_tolerance: 0.0,
        }
    }
}

fn three() -> f64 {
    3.0
}

fn one_percent() -> f64 {
    0.01
}
