//! `Solvable`: solvers of a physics on each kind of computer.

use std::sync::Arc;

use topopt_case::config::{self, Config};
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_cuda::{Cuda, DeviceKernel, OtherRanks, ProblemOnDevice, Real};
use topopt_fem::{CpuSolvers, Discretization, ElementPreconditioner};
use topopt_linalg::{BackendError, CycleKind};

/// A physics with N unknowns per node, as computers solve it.
pub trait Solvable<const N: usize>: Physics<N> + CpuSolvers<N> + DeviceKernel<N> {
    /// Whether `auto` is the strategy that is measured to be the fastest on a GPU; else it is `mf`.
    const IS_MEASURED: bool;

    /// Returns warnings about a case, one sentence each.
    fn doubts(_config: &Config, _model: &Model<Self, N>) -> Vec<String> {
        Vec::new()
    }

    /// Warns of thin members whose elements bend too little, among those that `are_solid`,
    /// `[n_elements]` in the order of the problem, or all.
    fn thin_members(_model: &Model<Self, N>, _are_solid: Option<&[bool]>) -> Option<String> {
        None
    }

    /// Multigrid on a GPU in the precision `R`, for tetrahedra, which have one of their own; on the
    /// part of a rank with the others.
    fn multigrid_of_tetrahedra<'a, R: Real>(
        _backend: &'a Cuda<R>,
        _mesh: &Arc<ProblemOnDevice<Self, N>>,
        _problem: &'a Discretization<Self, N>,
        _kind: CycleKind,
        _others: Option<OtherRanks<'a, R>>,
    ) -> Option<Result<GpuPreconditioner<'a>, BackendError>> {
        None
    }

    /// Bytes that multigrid takes on a GPU in the precision `R`, of elements by color if they are.
    fn gpu_multigrid_bytes<R: Real>(problem: &Discretization<Self, N>, by_color: bool) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        topopt_cuda::Multigrid::<R, Self, N>::bytes(n_nodes, n_elements, by_color)
    }

    /// The blocks on the diagonal as a preconditioner on a GPU, where `solver` asks for them and
    /// they are more than numbers.
    fn block_jacobi<'a>(
        _solver: &config::Solver,
        _mesh: &Arc<ProblemOnDevice<Self, N>>,
    ) -> Option<Result<GpuPreconditioner<'a>, BackendError>> {
        None
    }
}

/// A preconditioner of a GPU.
pub type GpuPreconditioner<'a> = Box<dyn ElementPreconditioner<Cuda<f64>> + 'a>;
