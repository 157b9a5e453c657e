//! A study: from a case file over case and model to a run and its results.
//!
//! This crate is the only one that knows both a file and a device. It prints nothing: what is wrong
//! is a [`finding::Finding`], what happens goes to a [`run::Progress`]; doors such as the command
//! line show it.

pub mod analysis;
pub mod asked;
pub mod case;
pub mod case_loads;
mod checkpoint;
pub mod computer;
pub mod config;
pub mod deck_case;
pub mod design_file;
pub mod distance;
pub mod done;
pub mod doubts;
mod expression;
pub mod failure;
pub mod fields;
pub mod filter_plan;
pub mod finding;
mod fingerprint;
mod formulation;
pub mod free_memory;
pub mod history;
mod interpolation;
pub mod interrupt;
mod loads;
pub mod lookup;
pub mod materials;
mod memory;
pub mod meshing;
pub mod model;
mod named_sets;
mod optimizer;
pub mod output_folder;
pub mod physics;
pub mod place;
pub mod posed;
mod posing;
pub mod ranks;
pub mod result_files;
mod results;
mod resumption;
pub mod run;
pub mod run_directory;
mod selections;
pub mod solved;
pub mod solved_file;
mod starting_design;
pub mod subject;
pub mod summary;
mod supports;
pub mod tags;
pub mod thermal;
pub mod thread_pool;
pub mod unit_names;
mod units;
pub mod verification;
