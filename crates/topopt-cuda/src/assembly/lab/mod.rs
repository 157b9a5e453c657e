//! Strategies that only papers need.

pub(super) mod global_nz;
pub(crate) mod kernels;
pub(super) mod local_nz;
pub(super) mod patch;
pub(super) mod shared_nz;
mod sources;

use crate::assembly::model::Sizes;

/// Bytes that say where the upper blocks belong, and where their lists begin.
fn places(sizes: &Sizes) -> f64 {
    13.0 * sizes.upper
}
