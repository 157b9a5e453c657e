//! `GpuSolvable`: preconditioners of a physics that GPUs have besides those of every physics.

use std::sync::Arc;

use topopt_case::config;
use topopt_cuda::{
    BlockJacobi, Cuda, DeviceKernel, Multigrid, OtherRanks, ProblemOnDevice, Real,
    TetrahedraMultigrid,
};
use topopt_fem::{DIM, Diffusion, Discretization, Elasticity, ElementPreconditioner};
use topopt_linalg::{BackendError, CycleKind};

/// A physics with N unknowns per node, as GPUs solve it.
pub trait GpuSolvable<const N: usize>: DeviceKernel<N> {
    /// Whether `auto` is the strategy that is measured to be the fastest; else it is `mf`.
    const IS_MEASURED: bool;

    /// Multigrid in the precision `R`, for tetrahedra, which have one of their own; on the part of
    /// a rank with the others.
    fn multigrid_of_tetrahedra<'a, R: Real>(
        _backend: &'a Cuda<R>,
        _mesh: &Arc<ProblemOnDevice<Self, N>>,
        _problem: &'a Discretization<Self, N>,
        _kind: CycleKind,
        _others: Option<OtherRanks<'a, R>>,
    ) -> Option<Result<GpuPreconditioner<'a>, BackendError>> {
        None
    }

    /// Bytes that multigrid takes in the precision `R`, of elements by color if they are.
    fn gpu_multigrid_bytes<R: Real>(problem: &Discretization<Self, N>, by_color: bool) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        Multigrid::<R, Self, N>::bytes(n_nodes, n_elements, by_color)
    }

    /// The blocks on the diagonal as a preconditioner, where `solver` asks for them and they are
    /// more than numbers.
    fn block_jacobi<'a>(
        _solver: &config::Solver,
        _mesh: &Arc<ProblemOnDevice<Self, N>>,
    ) -> Option<Result<GpuPreconditioner<'a>, BackendError>> {
        None
    }
}

/// A preconditioner of a GPU.
pub type GpuPreconditioner<'a> = Box<dyn ElementPreconditioner<Cuda<f64>> + 'a>;

impl GpuSolvable<1> for Diffusion {
    const IS_MEASURED: bool = false;
}

impl GpuSolvable<DIM> for Elasticity {
    const IS_MEASURED: bool = true;

    fn multigrid_of_tetrahedra<'a, R: Real>(
        backend: &'a Cuda<R>,
        mesh: &Arc<ProblemOnDevice>,
        problem: &'a Discretization<Self, DIM>,
        kind: CycleKind,
        others: Option<OtherRanks<'a, R>>,
    ) -> Option<Result<GpuPreconditioner<'a>, BackendError>> {
        if !problem.elements().are_tetrahedra() {
            return None;
        }
        let cycles = TetrahedraMultigrid::among(backend, mesh, problem, kind, others);
        Some(cycles.map(|cycles| Box::new(cycles) as _))
    }

    fn gpu_multigrid_bytes<R: Real>(problem: &Discretization<Self, DIM>, by_color: bool) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        match problem.elements().are_tetrahedra() {
            true => TetrahedraMultigrid::<R>::bytes(problem.mesh()),
            false => Multigrid::<R>::bytes(n_nodes, n_elements, by_color),
        }
    }

    fn block_jacobi<'a>(
        solver: &config::Solver,
        mesh: &Arc<ProblemOnDevice>,
    ) -> Option<Result<GpuPreconditioner<'a>, BackendError>> {
        let is_asked = solver.preconditioner == config::Preconditioner::BlockJacobi;
        is_asked.then(|| Ok(Box::new(BlockJacobi::new(mesh)?) as _))
    }
}
