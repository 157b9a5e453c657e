//! The program `topopt`: the command line as a door to [`topopt_study`]. Only `main` prints and
//! exits.

pub mod args;
pub mod commands;
pub mod connection;
mod iterations_left;
pub mod program;
mod progress;
pub mod render;
