//! Vectors on a backend, linear operators, preconditioned conjugate gradients.
//!
//! This crate knows no discretization: an operator is anything that maps one vector to another.
//! [`Space`] alone has words for what entries of a vector stand on. One text of every algorithm serves all backends.

mod backend;
mod block_csr;
mod block_diagonal;
mod chebyshev;
mod cpu;
mod jacobi;
mod multigrid;
mod operator;
mod pcg;
mod pointwise;
mod smooth_step;
mod smoother;
mod space;

pub use backend::{Backend, BackendError};
pub use block_csr::{BlockCsr, BlockPattern, DenseCholesky};
pub use block_diagonal::{BlockDiagonal, pseudo_inverse};
pub use chebyshev::{Chebyshev, Spectrum};
pub use cpu::Cpu;
pub use jacobi::Diagonal;
pub use multigrid::{Cycle, CycleKind, Hierarchy, Transfer};
pub use operator::{Cost, LinearOperator, Preconditioner};
pub use pcg::{Monitor, Pcg, PcgOptions, PcgOutcome, PcgProgress, StopReason, System};
pub use pointwise::Pointwise;
pub use smooth_step::SmoothStep;
pub use smoother::{Growth, InverseDiagonal, Residual};
pub use space::{Layout, Space};
