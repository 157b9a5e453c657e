//! The keys of `[[candidates]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::material_names::MaterialName;

/// A material lighter and softer than `[material]` that the design may give to any element.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Name of a material, whose properties hold where this table leaves them out; with `[units]`.
    #[schemars(with = "Option<MaterialName>")]
    pub name: Option<Spanned<MaterialName>>,
    /// Young's modulus; needed.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub youngs_modulus: Option<f64>,
    /// Poisson's ratio in verifications; by default, and in optimizations, that of `[material]`.
    #[schemars(extend("exclusiveMinimum" = -1, "exclusiveMaximum" = 0.5))]
    pub poissons_ratio: Option<f64>,
    /// Mass per volume; needed.
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0))]
    pub mass_density: Option<Spanned<f64>>,
    /// Stress at which the material yields; with it, verifications give its safety factor.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub yield_strength: Option<f64>,
}

impl Candidate {
    /// Young's modulus and mass per volume, where both are given.
    pub fn numbers(&self) -> Option<[f64; 2]> {
        Some([self.youngs_modulus?, *self.mass_density.as_ref()?.get_ref()])
    }
}
