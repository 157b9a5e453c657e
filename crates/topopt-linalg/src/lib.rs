//! Vectors on a backend, linear operators, preconditioned conjugate gradients.
//!
//! This crate knows neither meshes nor stiffness: an operator is anything that maps one vector to
//! another. One text of every algorithm serves all backends.

mod backend;
mod block_csr;
mod block_diagonal;
mod chebyshev;
mod cpu;
mod multigrid;
mod operator;
mod pcg;
mod smooth_step;

pub use backend::{Backend, BackendError};
pub use block_csr::{BlockCsr, BlockPattern, DenseCholesky};
pub use block_diagonal::{BlockDiagonal, pseudo_inverse};
pub use chebyshev::{Chebyshev, Growth, InverseDiagonal, Residual, Spectrum};
pub use cpu::Cpu;
pub use multigrid::{Cycle, CycleKind, Hierarchy, Transfer};
pub use operator::{Cost, Diagonal, LinearOperator, Preconditioner};
pub use pcg::{Monitor, Pcg, PcgOptions, PcgOutcome, PcgProgress, StopReason, System};
pub use smooth_step::SmoothStep;
