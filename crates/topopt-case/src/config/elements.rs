//! The keys of `[elements]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use topopt_fem::Formulation;

/// The elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Elements {
    /// Gradients that hexahedra have: strains, or of heat the temperature gradient.
    pub kind: ElementKind,
}

/// A formulation of hexahedra.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
#[serde(rename_all = "snake_case")]
pub enum ElementKind {
    /// Incompatible modes, as C3D8I of Abaqus and CalculiX has: one layer of regular elements bends
    /// as a beam does. Of heat modes of the gradient in closed form, on parallelepipeds equal to
    /// full integration.
    #[default]
    IncompatibleModes,
    /// Full integration: 2x2x2 Gauss points, too stiff in bending with few elements through the
    /// thickness. Of heat as accurate as the modes, with more work.
    Full,
}

impl From<ElementKind> for Formulation {
    fn from(kind: ElementKind) -> Self {
        match kind {
            ElementKind::IncompatibleModes => Self::Incompatible,
            ElementKind::Full => Self::Full,
        }
    }
}
