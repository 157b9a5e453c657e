//! `Solvable`: solvers and memory needs of a physics on each kind of computer.

use std::sync::Arc;

use topopt_case::config::{self, Config};
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::subject::Subject;
use topopt_cuda::{Cuda, Device};
use topopt_fem::{Discretization, ElementOperator, ElementPreconditioner, Problem, Sharing};
use topopt_linalg::{BackendError, Cpu, CycleKind, SmootherKind};

use super::opened::OpenGpu;
use super::parts::{EachOperator, Needs, Others, PartSolver, Solver};
use crate::failure::Failure;

/// A physics with N unknowns per node, as computers solve it.
pub trait Solvable<const N: usize>: Physics<N> {
    /// Returns warnings about a case, one sentence each.
    fn doubts(_config: &Config, _model: &Model<Self, N>) -> Vec<String> {
        Vec::new()
    }

    /// Multigrid on the processor.
    ///
    /// # Errors
    /// [`BackendError`] never on the processor.
    fn multigrid(
        problem: &Discretization<Self, N>,
        kind: CycleKind,
        smoother: SmootherKind,
    ) -> Result<CpuPreconditioner<'_>, BackendError>;

    /// Multigrid of `local`, the equation on the part of a rank, with the `others`.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    fn multigrid_on_part<'a>(
        local: &'a Discretization<Self, N>,
        kind: CycleKind,
        others: Arc<dyn Sharing<'a, Cpu> + 'a>,
    ) -> Result<CpuPreconditioner<'a>, BackendError>;

    /// Operator and preconditioner of `local`, the equation on the part of a rank, on a GPU; with the
    /// `others` for multigrid.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room, or another rank has failed.
    fn solver_of_part_on_gpu<'a>(
        gpu: &'a OpenGpu,
        solver: &config::Solver,
        local: &'a Discretization<Self, N>,
        strategy: config::Strategy,
        others: Option<Others<'a>>,
    ) -> Result<PartSolver<'a, Cuda<f64>>, BackendError>;

    /// Bytes that multigrid takes at most on the processor.
    fn multigrid_bytes(problem: &Discretization<Self, N>, smoother: SmootherKind) -> usize;

    /// Names of the strategies that compute `model` on a GPU.
    fn strategies_on_gpu(subject: Subject<Self, N>) -> Vec<&'static str>;

    /// Returns the strategy of a run on a GPU and the memory that each strategy needs.
    fn needs_on_gpu(config: &Config, subject: Subject<Self, N>) -> Needs;

    /// Operator and preconditioner of `model` on a GPU, by the strategy that is wanted, for moduli
    /// down to a share of the largest.
    ///
    /// # Errors
    /// As [`Computer::solver`](super::Computer::solver).
    fn solver_on_gpu<'a>(
        gpu: &'a OpenGpu,
        config: &Config,
        subject: Subject<'a, Self, N>,
        wanted: (config::Strategy, f64),
    ) -> Result<Solver<'a, Cuda<f64>>, Failure>;

    /// Builds the `wanted` operators on a GPU and shows each to `visitor`, see
    /// [`Computer::each_operator`](super::Computer::each_operator).
    ///
    /// # Errors
    /// What `visitor` returns, and a device that fails.
    fn each_on_gpu(
        gpu: &OpenGpu,
        problem: (&Problem<Self, N>, Option<&[usize]>),
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Cuda<f64>>,
    ) -> Result<(), BackendError>;

    /// `mf` in single precision, and the bytes that it stores.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails or has no room.
    fn in_single(
        device: &Arc<Device>,
        problem: &Problem<Self, N>,
        colors: Option<&[usize]>,
    ) -> Result<SingleOperator, BackendError>;
}

/// An operator in single precision, and the bytes that it stores.
pub type SingleOperator = (Box<dyn ElementOperator<Cuda<f32>>>, usize);

/// A preconditioner of the processor.
pub type CpuPreconditioner<'a> = Box<dyn ElementPreconditioner<Cpu> + 'a>;
