//! `Shaping` options of a solid, and the errors of making one.

use topopt_distance::DistanceError;

use crate::FieldError;

/// Options for making a solid from the densities of a design.
#[derive(Debug, Clone, Default)]
pub struct Shaping {
    /// Density at which the surface lies; by default that which keeps the volume of the design.
    pub threshold: Option<f64>,
    /// How far smoothing may move the surface (length); 0 leaves it where it is.
    pub smoothing: f64,
    /// Nodes near which smoothing moves the surface by no more than its distance from them.
    pub pinned: Vec<u32>,
}

/// Why a design has no solid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// The densities make no field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// There are no distances on this mesh.
    #[error(transparent)]
    Distance(#[from] DistanceError),
}
