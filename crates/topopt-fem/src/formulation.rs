//! The formulation of hexahedra.

use serde::Serialize;

/// Gradients of the unknowns, such as strains, that a hexahedron takes into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Formulation {
    /// Gradients of trilinear fields at the 2x2x2 Gauss points, without bubble or B-bar terms.
    #[default]
    Full,
    /// Modes of the gradient in closed form, see [`crate::StrainMode`]: of elasticity with
    /// incompatible modes condensed, of diffusion as they are.
    Incompatible,
}
