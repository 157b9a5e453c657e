//! The program `topopt`: configuration, case, run, report.
//!
//! This crate is the only one that knows both a file and a device. Configuration types do not
//! leave it, and only `main` prints and exits.

pub mod args;
pub mod case;
mod checkpoint;
pub mod commands;
pub mod config;
mod doubts;
pub mod failure;
mod formulation;
pub mod interrupt;
mod loads;
mod memory;
mod meshing;
mod named_sets;
mod output_folder;
mod place;
mod progress;
pub mod report;
mod results;
pub mod run_directory;
mod selections;
mod starting_design;
mod structure;
mod summary;
mod supports;
mod units;
pub mod verification;
