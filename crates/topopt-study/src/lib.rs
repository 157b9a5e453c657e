//! A study: from a [case](topopt_case) to a run and its results.
//!
//! Errors are findings of the case or a [`failure::Failure`], designs go to an
//! [`observer::StudyObserver`], and nothing is printed. Of the modules, [`run`], [`observer`],
//! [`studied`], [`analysis`] and [`verification`] are meant for use by others.

pub mod analysis;
pub mod asked;
pub mod built_shape;
mod checkpoint;
pub mod computer;
mod connection;
pub mod design_file;
pub mod distance;
pub mod done;
pub mod doubts;
pub mod duration;
pub mod failure;
mod fingerprint;
pub mod heat;
pub mod history;
pub mod islands;
pub mod linear_system;
mod memory;
pub mod observer;
pub mod output_folder;
pub mod part_file;
pub mod place;
pub mod ranks;
pub mod result_files;
mod results;
mod resumption;
pub mod run;
pub mod run_directory;
mod solid_depth;
pub mod solved;
pub mod solved_file;
mod starting_design;
pub mod studied;
pub mod summary;
mod surface_check;
pub mod surface_measures;
mod swing;
pub mod temperatures;
mod thin;
pub mod thread_pool;
pub mod verification;
mod whole;
