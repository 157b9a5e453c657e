//! K u on the CPU, a file per strategy.

pub(crate) mod assembly;
mod bsr;
mod diagonal;
mod ebe;
mod element_lanes;
mod gradients;
pub(crate) mod local_fields;
mod mf;
mod nbn;
mod reference;
pub(crate) mod stored;
mod trilinear;

pub(crate) use diagonal::inverse_blocks_by_patches;
pub(crate) use element_lanes::{load_coefficients, load_coordinates};
pub(crate) use gradients::determinants;
pub(crate) use trilinear::{
    DETERMINANT_SCALE, Derivatives, GRADIENT_SCALE, LaneGroup, Matrix, NODE, at_point, cofactors,
    derivatives, derivatives_transposed, from_group, hadamard, slots, times, to_group,
};

pub use crate::lanes::{Lanes, MAX_LANES};
pub use crate::strategy::Strategy;
pub use bsr::Bsr;
pub use ebe::Ebe;
pub use gradients::Gradients;
pub use mf::Mf;
pub use nbn::Nbn;
pub use reference::Reference;
pub use trilinear::Nodal;

/// Replaces the fields of all terms.
fn set_coefficients(own: &mut [Vec<f64>], terms: &[&Vec<f64>]) {
    debug_assert_eq!(own.len(), terms.len());
    own.iter_mut().zip(terms).for_each(|(own, term)| own.copy_from_slice(term));
}
