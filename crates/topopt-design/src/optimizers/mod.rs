//! The optimizers, a file each.

mod oc;

pub use oc::OptimalityCriteria;
