//! The surface of a design: the triangles that enclose the solid {density >= threshold} within an
//! unstructured hexahedral mesh, closed by the mesh's own boundary.
//!
//! Every hexahedron is split into 12 tetrahedra, of its center and the two triangles of each face,
//! on which the density is linear. This crate knows no physics and reads and writes no file.
//!
//! ```
//! use topopt_mesh::generate::{Benchmark, Resolution};
//! use topopt_surface::{Field, iso_surface, threshold_of_volume};
//!
//! // A box of 10 x 5 x 5 unit cubes, denser to the left.
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
//! let density: Vec<f64> = mesh.centers().iter().map(|x| 1.0 - 0.1 * x[0]).collect();
//!
//! let field = Field::of_elements(&mesh, &density)?;
//! let (threshold, volume) = threshold_of_volume(&mesh, &field, 120.0);
//! let surface = iso_surface(&mesh, &field, threshold);
//! assert!((threshold - 0.52).abs() < 1e-6);
//! assert!((surface.volume() - volume).abs() < 1e-9);
//! # Ok::<(), topopt_surface::FieldError>(())
//! ```

mod crossings;
mod cut;
mod decimation;
mod diffusion;
mod field;
mod iso_surface;
mod parts;
mod restoration;
mod smoothing;
mod solid;
mod threshold;
mod triangle_surface;

pub use decimation::NotAManifold;
pub use field::{Field, FieldError};
pub use iso_surface::iso_surface;
pub use solid::{Dropped, Shaping, Solid, SolidError};
pub use threshold::{clipped_volume, threshold_of_volume};
pub use triangle_surface::TriangleSurface;
