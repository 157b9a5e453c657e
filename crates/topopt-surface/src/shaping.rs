//! `Shaping`, the options of a solid, and its errors.

use topopt_linalg::BackendError;

use crate::{FieldError, NotAManifold, Quality};

/// Options for making a solid from the densities of a design.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shaping {
    /// Density at which the surface lies; none for the one that keeps the volume of the design.
    pub threshold: Option<f64>,
    /// Length of the edges of the surface.
    pub quality: Quality,
    /// Share of the triangles to keep off the part's own surface; none for all.
    pub decimation: Option<f64>,
}

/// Reason for which a design has no solid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// The densities make no field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A part so large beside its elements that the lattice around it does not fit.
    #[error("the box around the part is too large beside its elements: it holds {0:.1e} of them")]
    TooLarge(f64),
    /// The linear algebra has failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The skin cannot be decimated.
    #[error(transparent)]
    Decimation(#[from] NotAManifold),
    /// The surface could not be cut with that of the part.
    #[error("the surface could not be cut with that of the part, which may be damaged")]
    Cut,
}
