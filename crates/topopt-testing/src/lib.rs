//! Helpers of tests of several crates: meshes, pseudo-random numbers, comparisons, mesh files.
//!
//! A dependency of tests only. It knows no physics, so that the unit tests of `topopt-fem` can use
//! it.

pub mod bodies;
mod cells;
mod compare;
mod designs;
pub mod files;
pub mod fronts;
mod meshes;
mod mirrored;
mod noise;
mod smoothing;
mod tetrahedra;

pub use cells::{mixed_cells, mixed_cut};
pub use compare::{assert_close, derivative, norm, unit};
pub use designs::branches;
pub use meshes::{distorted_cube, hexagon, mapped_box, mapped_cube, wheel};
pub use mirrored::mirrored;
pub use noise::Noise;
pub use smoothing::assert_smooths;
pub use tetrahedra::{distorted_tetrahedra, kuhn};
