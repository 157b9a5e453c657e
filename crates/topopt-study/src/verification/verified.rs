//! `Verified`: a physics whose designs are verified.

use serde::Serialize;
use serde::de::DeserializeOwned;
use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::lookup::Lookup;

use super::moved::Ground;
use super::springs::MovedSprings;
use crate::design_file::DesignFile;
use crate::solved::{Fields, Measured, Restraint, Solved};

/// A physics whose designs are verified.
pub trait Verified<const N: usize>: Measured<N> {
    /// Void, and the largest values of all load cases.
    type Overall: Serialize + DeserializeOwned + Send;

    /// Coefficient of a void element, as a share of the solid's.
    fn void(config: &Config) -> f64;

    /// Notes supports without material left, and moves springs to nodes with material.
    ///
    /// # Errors
    /// A finding if nothing is left of a set that matters, or too little.
    fn move_restraints(
        _ground: &Ground<N>,
        _lookup: &Lookup,
        _restraints: &mut [Restraint],
    ) -> Result<MovedSprings<N>, Finding> {
        Ok(MovedSprings::default())
    }

    /// Collects the largest values of the `solved` shape, which has these `load_cases`; `file` is
    /// the optimized design.
    ///
    /// # Errors
    /// A finding if the design lacks an array.
    fn overall(
        solved: &Solved<Self, N>,
        load_cases: &[Self::Case],
        file: &DesignFile,
    ) -> Result<Self::Overall, InputError>;

    /// Collects the fields that verify.vtu shows.
    fn shown_fields(solved: &Solved<Self, N>) -> Fields;
}
