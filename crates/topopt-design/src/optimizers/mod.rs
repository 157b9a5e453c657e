//! The optimizers, a file each.

mod mma;
mod oc;

pub use mma::Mma;
pub use oc::OptimalityCriteria;
