//! Preconditioners by blocks: `multigrid`, and `block-jacobi`, which smooths its finest level.
//!
//! The structure is that of `topopt-fem`, made on the host once; all numbers are made on the device
//! whenever the moduli change, in double precision, and rounded to the precision of the cycle.

mod aggregates;
mod block_jacobi;
mod block_rows;
mod constants;
mod convert;
mod dense_inverse;
mod element_bounds;
mod fine_patches;
mod groups;
mod hierarchy;
mod joints;
mod level;
mod preconditioner;
mod prepared;
mod recorded;
mod repeated;
mod rigid_bodies;
mod shared_rows;
mod smooth_step;
mod smoothed;
mod steps;
mod tetrahedra;
mod transfer;
mod vertices;

pub use block_jacobi::BlockJacobi;
pub(crate) use constants::Constants;
pub use element_bounds::element_bounds;
pub use hierarchy::DeviceHierarchy;
pub(crate) use level::Coarsened;
pub use preconditioner::Multigrid;
pub use prepared::{Prepared, structure_of_part};
pub(crate) use rigid_bodies::RigidBodies;
pub use tetrahedra::{OtherRanks, TetrahedraMultigrid, VertexHierarchy};
