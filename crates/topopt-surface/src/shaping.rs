//! `Shaping`, the options of a solid, and its errors.

use topopt_linalg::BackendError;

use crate::{Draw, NotAManifold, Quality};

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

impl Shaping {
    /// Refuses numbers that no density or share can be.
    pub(crate) fn check(&self) -> Result<(), SolidError> {
        if let Some(threshold) = self.threshold.filter(|threshold| !threshold.is_finite()) {
            return Err(SolidError::Threshold(threshold));
        }
        let is_share = |share: &f64| *share > 0.0 && *share < 1.0;
        self.decimation
            .filter(|share| !is_share(share))
            .map_or(Ok(()), |x| Err(SolidError::Share(x)))
    }
}

/// Form that a design has besides its densities.
#[derive(Debug, Clone, Copy, Default)]
pub struct Form<'a> {
    /// Depth of the nodes in a part of space, negative outside, `[n_nodes]`: elements are solid
    /// that lie in it, and the solid ends where that ends, and not with the elements.
    pub depth: Option<&'a [f64]>,
    /// Way out of a mold, along which the solid has no undercut.
    pub draw: Option<&'a Draw>,
}

/// Reason for which a design has no solid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// Densities of another mesh.
    #[error("{found} values for {expected} elements; use the values of this mesh")]
    Length {
        /// Number of densities.
        found: usize,
        /// Number of elements.
        expected: usize,
    },
    /// A density that is NaN or infinite.
    #[error("value {index} is {value}, not a finite number; compute the design again")]
    NotFinite {
        /// The first such element, from 0.
        index: usize,
        /// Density of the element.
        value: f64,
    },
    /// A threshold that is NaN or infinite.
    #[error("the threshold is {0}, not a finite number; give a density of the design")]
    Threshold(f64),
    /// A share of triangles that is none.
    #[error("the share of the triangles to keep is {0}; give one above 0 and below 1")]
    Share(f64),
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
