//! Preconditioners by blocks: `multigrid`, and `block-jacobi`, which smooths its finest level.
//!
//! The structure is that of `topopt-fem`, made on the host once; all numbers are made on the device
//! whenever the moduli change, in double precision, and rounded to the precision of the cycle.

mod block_diagonal;
mod coarse_matrix;
mod convert;
mod dense_inverse;
mod device_multigrid;
mod element_bounds;
mod fine_patches;
mod galerkin;
mod hierarchy;
mod prepared;
mod rigid;
mod scalar;
mod scalar_hierarchy;
mod scalar_matrix;
mod shared_rows;
mod transfer;

pub use block_diagonal::BlockJacobi;
pub use device_multigrid::{DeviceHierarchy, DeviceMultigrid};
pub use element_bounds::element_bounds;
pub use hierarchy::RigidAggregation;
pub use prepared::{Prepared, structure_of_part};
pub use rigid::Multigrid;
pub use scalar::ScalarMultigrid;
pub use scalar_hierarchy::ScalarHierarchy;
