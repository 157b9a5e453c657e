//! The surface of a design: the triangles that enclose the solid {density >= threshold} within an
//! unstructured hexahedral mesh, closed by the mesh's own boundary.
//!
//! A [`Solid`] is the one shape of a design that is exported, pictured and verified. Every
//! hexahedron is split into 12 tetrahedra, of its center and the two triangles of each face, on
//! which a [`Field`] is linear; the surface is cut from these, so that it cannot cross itself. This
//! crate is internal to topopt, without promises of stability.
//!
//! ```
//! use topopt_mesh::generate::{Benchmark, Resolution};
//! use topopt_surface::{Shaping, Solid};
//!
//! // A box of 10 x 5 x 5 unit cubes, the left half of it solid.
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
//! let density: Vec<f64> =
//!     mesh.centers().iter().map(|x| if x[0] < 5.0 { 1.0 } else { 0.0 }).collect();
//!
//! let solid = Solid::of(&mesh, &density, &Shaping { smoothing: 1.0, ..Shaping::default() })?;
//! let surface = solid.surface();
//! assert!((surface.volume() - 125.0).abs() < 1e-3);
//! assert!(surface.vertices().iter().all(|x| x[0] < 5.2));
//! assert!(surface.crossings().is_empty());
//! # Ok::<(), topopt_surface::SolidError>(())
//! ```

mod crossings;
mod cut;
mod decimation;
mod diffusion;
mod field;
mod iso_surface;
mod narrowest;
mod parts;
mod places;
mod restoration;
mod shaping;
mod smoothing;
mod solid;
mod threshold;
mod triangle_surface;

pub use decimation::NotAManifold;
pub use field::{Field, FieldError};
pub use iso_surface::iso_surface;
pub use narrowest::Narrowest;
pub use places::Places;
pub use shaping::{Shaping, SolidError};
pub use solid::{Dropped, Solid};
pub use threshold::{clipped_volume, threshold_of_volume};
pub use triangle_surface::TriangleSurface;
