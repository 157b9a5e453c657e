//! The tables of the load cases of an analysis, a run or a verification, for each physics.

pub mod elastic;
pub mod heat;
mod rows;
