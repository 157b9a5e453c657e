//! The keys of `[[manufacturing]]`: how the part is made, and what that asks of its design.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A demand of the way in which the part is made.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manufacturing {
    /// The demand.
    pub kind: ManufacturingKind,
    /// Coordinates of a point in the plane.
    pub point: [f64; 3],
    /// Direction across the plane, of any length.
    #[schemars(with = "[f64; 3]")]
    pub normal: Spanned<[f64; 3]>,
}

/// A kind of demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ManufacturingKind {
    /// Elements on both sides of a plane have the same density. The mesh must be symmetric about
    /// it; loads and supports need not be. Images of solid and void elements stay so too. Several
    /// planes hold together.
    Symmetry,
}
