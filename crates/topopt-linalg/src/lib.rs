//! Vectors on a backend, linear operators, preconditioned conjugate gradients.
//!
//! This crate knows neither meshes nor stiffness: an operator is anything that maps one vector to
//! another. One text of every algorithm serves all backends.

mod backend;
mod cpu;
mod operator;
mod pcg;

pub use backend::{Backend, BackendError};
pub use cpu::Cpu;
pub use operator::{Cost, Diagonal, LinearOperator, Preconditioner};
pub use pcg::{Monitor, Pcg, PcgOptions, PcgOutcome, PcgProgress, StopReason, System};
