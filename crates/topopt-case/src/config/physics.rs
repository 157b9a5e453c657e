//! The keys of `[physics]` and `[[convection]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::select::SelectKind;
use super::transient::OverTime;

/// The physics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Physics {
    /// Physics to solve.
    pub kind: PhysicsKind,
}

/// A physics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum PhysicsKind {
    /// Linear elasticity: displacements under forces.
    #[default]
    Elasticity,
    /// Steady heat conduction: temperatures by heat.
    Heat,
}

/// Convection: the heat h (T_ambient - T) per area into the faces of a set, in all load cases.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Convection {
    /// Name of a face set of the mesh, or of a selection.
    #[schemars(with = "String")]
    pub set: Spanned<String>,
    /// Kind of the set if several have this name; only faces have convection.
    pub kind: Option<SelectKind>,
    /// Film coefficient h: heat per time, area and temperature.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub film_coefficient: f64,
    /// The temperature of the ambient.
    #[serde(default)]
    pub ambient: f64,
    /// Factors of the ambient temperature over time, `[time, factor]` by increasing time: linear
    /// between, constant beyond the ends.
    #[schemars(with = "Option<Vec<[f64; 2]>>")]
    pub over_time: Option<Spanned<OverTime>>,
}

impl PhysicsKind {
    /// A name in sentences: of a response, several, or a key.
    pub fn in_words(self, name: &str) -> String {
        self.data().words.iter().fold(name.into(), |name, [word, own]| name.replace(word, own))
    }
}
