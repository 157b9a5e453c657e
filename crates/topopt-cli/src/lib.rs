//! The program `topopt`: the command line as a door to [`topopt_study`]. Only its
//! [entry](entry::enter) prints and exits.

pub mod args;
pub mod commands;
pub mod connection;
pub mod entry;
mod iterations_left;
mod numbers;
pub mod program;
mod progress;
pub mod render;
