//! Fields recovered at nodes from values of the elements around, by superconvergent patches
//! \[ZienkiewiczZhu1992\].
//!
//! In the middle of an element, or at its integration points, stresses and fluxes converge faster
//! than elsewhere in it. A field through those of a patch of elements is therefore as accurate at
//! its node: a linear one through hexahedra, a quadratic one through tetrahedra of ten nodes.

mod around;
mod linear;
mod patch_field;
mod quadratic;
mod recovered;
mod samples;

pub use recovered::{NO_VALUE, Recovered};
pub use samples::Samples;
