//! Options of a verification.

use topopt_case::meshing::Gmsh;

use crate::failure::Remedies;

/// Options of a verification.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Density at which the surface lies; by default that which keeps the volume.
    pub threshold: Option<f64>,
    /// Whether the built shape is also meshed anew and solved.
    pub remesh: bool,
    /// Makes the mesh of the case, if it is one of a geometry.
    pub gmsh: Gmsh,
}

/// Remedies where the solve does not converge.
pub(super) const REMEDIES: Remedies = Remedies {
    limited: "raise `solver.max_iterations` or loosen `solver.tolerance` in the case.toml of the \
              results, or give a smaller `--threshold`",
    rounded: "loosen `solver.tolerance` in the case.toml of the results: rounding allows no less \
              on this mesh",
};
