//! `Shaping`, the options of a solid, and its errors.

use topopt_distance::DistanceError;

use crate::FieldError;

/// Options for making a solid from the densities of a design.
#[derive(Debug, Clone, Default)]
pub struct Shaping {
    /// Density at which the surface lies; none for the one that keeps the volume of the design.
    pub threshold: Option<f64>,
    /// Largest distance that smoothing moves the surface (length); 0 for no smoothing.
    pub smoothing: f64,
    /// Nodes near which smoothing moves the surface by no more than its distance from them.
    pub pinned: Vec<u32>,
}

/// Reason for which a design has no solid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// The densities make no field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Distances for smoothing could not be computed.
    #[error(transparent)]
    Distance(#[from] DistanceError),
}
