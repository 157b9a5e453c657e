//! A study: from a case file over case and model to a run and its results.
//!
//! This crate is the only one that knows both a file and a device. It prints nothing: what is wrong
//! is a [`finding::Finding`], what happens goes to a [`run::Progress`]; doors such as the command
//! line show it.

pub mod analysis;
pub mod asked;
mod checkpoint;
pub mod computer;
mod connection;
pub mod design_file;
pub mod distance;
pub mod done;
pub mod doubts;
pub mod failure;
mod fingerprint;
pub mod history;
mod memory;
pub mod output_folder;
pub mod place;
pub mod ranks;
pub mod result_files;
mod results;
mod resumption;
pub mod run;
pub mod run_directory;
pub mod solved;
pub mod solved_file;
mod starting_design;
pub mod summary;
mod swing;
pub mod thermal;
pub mod thread_pool;
pub mod verification;
