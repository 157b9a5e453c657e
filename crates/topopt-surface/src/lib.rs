//! The surface of a design: the triangles that enclose the solid {density >= threshold} within an
//! unstructured hexahedral mesh, closed by the mesh's own boundary.
//!
//! Every hexahedron is split into 12 tetrahedra, of its center and the two triangles of each face,
//! on which the density is linear. This crate knows no physics and reads and writes no file.

mod decimation;
mod field;
mod iso_surface;
mod smoothing;
mod tetrahedra;
mod threshold;
mod triangle_surface;

pub use decimation::NotAManifold;
pub use field::{Field, FieldError};
pub use iso_surface::iso_surface;
pub use threshold::{clipped_volume, threshold_of_volume};
pub use triangle_surface::TriangleSurface;
