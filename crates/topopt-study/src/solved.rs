//! A part that has been solved, and its numbers: what analyses and verifications share.

mod balance;
mod ductile;
mod elastic;
mod field_file;
mod fields;
mod filling;
mod gauss_points;
mod measures;
mod nodal;
mod part;
mod restraints;
mod safety;
mod singular;
mod solve;
mod solved_case;

pub use balance::{Balance, Inertia, Reaction};
pub(crate) use field_file::FieldFile;
pub use fields::{Field, Fields};
pub(crate) use filling::{Filling, carrying_nodes};
pub use gauss_points::PeakStress;
pub(crate) use gauss_points::{COLUMNS, GaussPoints};
pub(crate) use measures::mass;
pub use measures::{Displacement, Stress};
pub use nodal::{LeftOut, MeshError, NodalPeak, NodalPeaks};
pub use part::Measured;
pub(crate) use part::{Given, Part, Solved};
pub use restraints::RestraintKind;
pub(crate) use restraints::{Hold, Restraint};
pub use safety::Safety;
pub(crate) use solve::{Conditions, Means, States};
pub use solved_case::SolvedCase;
