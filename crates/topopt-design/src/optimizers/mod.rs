//! The optimizers, a file each.

mod anderson;
#[cfg(test)]
mod convex;
mod mma;
mod moves;
mod oc;
mod sequence;
mod simpl;

pub use anderson::Anderson;
pub use mma::Mma;
pub use oc::OptimalityCriteria;
pub use sequence::Sequence;
pub use simpl::{LineSearch, Simpl};

use crate::Dependence;

/// Whether `constraints` are one that depends on the density alone. `takes` begins the sentence
/// that says why not.
fn volume_like(takes: &str, constraints: &[Dependence]) -> Result<(), String> {
    match constraints {
        [Dependence::Linear | Dependence::Density] => Ok(()),
        [Dependence::States | Dependence::ThickerStates] => {
            Err(format!("{takes} a constraint of the density alone, such as the volume"))
        }
        _ => Err(format!("{takes} exactly one constraint, and not {}", constraints.len())),
    }
}
