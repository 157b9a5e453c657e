//! A structure that has been solved, and its numbers: what analyses and verifications share.

mod balance;
mod ductile;
mod filling;
mod measures;
mod restraints;
mod safety;
mod solve;
mod solved_case;
mod structure;

pub use balance::{Balance, Reaction};
pub(crate) use filling::{Filling, carrying_nodes};
pub(crate) use measures::mass;
pub use measures::{Displacement, Stress};
pub use restraints::RestraintKind;
pub(crate) use restraints::{Hold, Restraint};
pub use safety::Safety;
pub(crate) use solve::{Conditions, Means, States};
pub use solved_case::SolvedCase;
pub(crate) use structure::{Given, Solved};
