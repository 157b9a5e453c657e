//! Vectors on a backend, linear operators, preconditioned conjugate gradients.
//!
//! An operator is anything that maps one vector to another; [`Space`] alone has words for the
//! points that entries belong to. One text of every algorithm serves all backends. This crate is
//! internal to topopt, without promises of stability.
//!
//! Conjugate gradients over an operator of one's own, the Laplacian on a line:
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use topopt_linalg::{
//!     Cost, Cpu, Diagonal, LinearOperator, Pcg, PcgOptions, Space, StopReason, System,
//! };
//!
//! /// y_i = 2 x_i - x_(i-1) - x_(i+1), zero beyond both ends.
//! struct Laplacian(usize);
//!
//! impl LinearOperator<Cpu> for Laplacian {
//!     fn space(&self) -> Space {
//!         Space::level(self.0, 1)
//!     }
//!
//!     fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
//!         for i in 0..x.len() {
//!             let left = if i > 0 { x[i - 1] } else { 0.0 };
//!             let right = x.get(i + 1).copied().unwrap_or(0.0);
//!             y[i] = 2.0 * x[i] - left - right;
//!         }
//!     }
//!
//!     fn cost(&self) -> Cost {
//!         let n = self.0 as f64;
//!         Cost { bytes_read: 8.0 * n, bytes_written: 8.0 * n, flops: 3.0 * n }
//!     }
//! }
//!
//! let a = Laplacian(99);
//! let jacobi = Diagonal::new(&Cpu, &vec![2.0; 99], a.space())?;
//! let system = System { backend: &Cpu, a: &a, m: &jacobi, f: &vec![1e-4; 99] };
//! let options = PcgOptions { tolerance: 1e-10, max_iterations: 200 };
//!
//! let mut u = vec![0.0; 99];
//! let mut pcg = Pcg::new(&Cpu, a.space())?;
//! let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(()))?;
//!
//! // -u'' = 1 on (0, 1): u = x (1 - x) / 2.
//! assert_eq!(outcome.reason, StopReason::Converged);
//! assert!((u[49] - 0.125).abs() < 1e-9);
//! # Ok::<(), topopt_linalg::BackendError>(())
//! ```

mod backend;
mod block_csr;
mod block_diagonal;
mod cascade;
mod chebyshev;
mod communicator;
mod counting;
mod cpu;
mod exchange;
mod gather;
mod halo;
mod jacobi;
mod level_smoother;
mod link;
mod moving_asymptotes;
mod multigrid;
mod noise;
mod operator;
mod patch_matrix;
mod patch_smoother;
mod patches;
mod pcg;
mod pointwise;
mod ranks;
mod smooth_step;
mod smoother;
mod solves;
mod space;
mod subpixel_step;
mod threads;

pub use backend::{Backend, BackendError};
pub use block_csr::{BlockCsr, BlockPattern, DenseCholesky};
pub use block_diagonal::{BlockDiagonal, pseudo_inverse};
pub use cascade::{Cascade, Levels, Sample};
pub use chebyshev::{Chebyshev, Dot, Spectrum};
pub use communicator::{Alone, Communicator, Parcel};
pub use counting::{Counted, Counting};
pub use cpu::Cpu;
pub use exchange::{CpuLists, Exchange};
pub use gather::{Csr, Gather};
pub use halo::{Halo, Neighbor};
pub use jacobi::Diagonal;
pub use link::Link;
pub use moving_asymptotes::{Approximation, ApproximationSums, AsymptoteRules, MovingAsymptotes};
pub use multigrid::{Cycle, CycleKind, Hierarchy, Transfer};
pub use noise::noise;
pub use operator::{Cost, LinearOperator, Preconditioner};
pub use patch_matrix::PatchMatrix;
pub use patch_smoother::{PatchRelaxation, PatchStep, Residue, SWEEPS, inner_factors};
pub use patches::Patches;
pub use pcg::{Pcg, System};
pub use pointwise::Pointwise;
pub use ranks::{RankVector, Ranks};
pub use smooth_step::SmoothStep;
pub use smoother::{Growth, InverseDiagonal, Residual, SmootherKind};
pub use solves::{
    Correction, LowerPrecision, Monitor, PcgOptions, PcgOutcome, PcgProgress, StopReason,
};
pub use space::{Layout, Share, Shares, Space};
pub use subpixel_step::SubpixelStep;
pub use threads::{Cause, RankFailure, Threads};
