//! The surface of a design: the triangles that enclose the solid {density >= threshold} within a
//! part.
//!
//! A [`Solid`] is the one shape of a design that is exported, pictured and verified. Densities are
//! averaged over a few elements around; a level surface of the mean, its waves taken out, is the
//! skin of the design, which runs out of the part. Cut with the exact surface of the [`Part`] it
//! becomes a [`Shape`]. This crate is internal to topopt, without promises of stability.
//!
//! ```
//! use topopt_mesh::generate::{Benchmark, Resolution};
//! use topopt_surface::{Part, Shaping, UncutSolid};
//!
//! // A box of 10 x 5 x 5 unit cubes, the left half of it solid.
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
//! let density: Vec<f64> =
//!     mesh.centers().iter().map(|x| if x[0] < 5.0 { 1.0 } else { 0.0 }).collect();
//!
//! let uncut = UncutSolid::of(&mesh, &density, &Shaping::default())?;
//! let surface = uncut.shape(&Part::of_mesh(&mesh).unwrap())?.surface;
//! assert!((surface.volume() - 125.0).abs() < 0.02);
//! assert!(surface.vertices().iter().all(|x| x[0] < 5.1));
//! assert!(surface.crossings().is_empty());
//! # Ok::<(), topopt_surface::SolidError>(())
//! ```

mod body;
mod centered;
mod columns;
mod cones;
mod crossings;
mod cylinders;
mod decimation;
mod depths;
mod draw;
mod fairing;
mod gauss_points;
mod grid;
mod growth;
mod half_edges;
mod holes;
mod lattice;
mod marching;
mod mean_density;
mod part;
mod printing;
mod quality;
mod ramps;
mod reach;
mod ridges;
mod roughness;
mod shape;
mod shaping;
mod sheets;
mod shells;
mod skin;
mod solid;
mod space;
mod triangle_surface;
mod uncrossing;
mod uncut_solid;
mod union;
mod widths;

pub use cylinders::Cylinder;
pub use decimation::NotAManifold;
pub use draw::Draw;
pub use growth::MOST_FACETS;
pub use holes::{FilledHoles, HoleFault, HoleFaultKind, Holes};
pub use mean_density::MeanDensity;
pub use part::Part;
pub use printing::Printing;
pub use quality::Quality;
pub use reach::{Apart, InPart, Tool};
pub use roughness::Roughness;
pub use shape::Shape;
pub use shaping::{Form, Shaping, SolidError};
pub use shells::{Crumbs, Topology};
pub use solid::{Filled, Solid};
pub use space::{Member, Space, SpaceError, Within};
pub use triangle_surface::{Facet, TriangleSurface};
pub use uncut_solid::UncutSolid;
pub use widths::Widths;
