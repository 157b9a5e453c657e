//! `CpuSolvers`: operators and preconditioners of a physics on the processor.

use std::sync::Arc;

use topopt_linalg::{BackendError, Cpu, CycleKind, SmootherKind};

use crate::strategy::CpuOperator;
use crate::tetrahedra::TetrahedraMultigrid;
use crate::{
    BlockJacobi, DIM, Diffusion, Discretization, Elasticity, ElementKernel, ElementPreconditioner,
    MODES, Multigrid, Sharing, Strategy,
};

/// A preconditioner of the processor.
pub type CpuPreconditioner<'a> = Box<dyn ElementPreconditioner<Cpu> + 'a>;

/// Operators and preconditioners of a physics on the processor. They are compiled here, once: who
/// is generic in the physics would have copies of all loops over elements, compiled as that crate
/// is.
pub trait CpuSolvers<const N: usize>: ElementKernel<N> {
    /// Builds the operator of [`Strategy::build`].
    fn operator(strategy: Strategy, problem: &Discretization<Self, N>) -> CpuOperator<'_>;

    /// Builds the blocks on the diagonal as a preconditioner.
    fn inverse_blocks(problem: &Discretization<Self, N>) -> CpuPreconditioner<'_>;

    /// Builds multigrid of the elements of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] never on the processor.
    fn multigrid(
        problem: &Discretization<Self, N>,
        kind: CycleKind,
        smoother: SmootherKind,
    ) -> Result<CpuPreconditioner<'_>, BackendError>;

    /// Builds multigrid of `local`, the equation on the part of a rank, with the `others`.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    fn multigrid_on_part<'a>(
        local: &'a Discretization<Self, N>,
        kind: CycleKind,
        others: Arc<dyn Sharing<'a, Cpu> + 'a>,
    ) -> Result<CpuPreconditioner<'a>, BackendError>;

    /// Bytes that multigrid takes at most.
    fn multigrid_bytes(problem: &Discretization<Self, N>, smoother: SmootherKind) -> usize;
}

impl Strategy {
    /// The operator of `problem` with its films and all coefficients zero; one of those
    /// [of](Strategy::of) its elements.
    pub fn build<K: CpuSolvers<N>, const N: usize>(
        self,
        problem: &Discretization<K, N>,
    ) -> CpuOperator<'_> {
        K::operator(self, problem)
    }
}

macro_rules! compiled {
    ($kernel:ty, $n:expr, $modes:expr) => {
        impl CpuSolvers<$n> for $kernel {
            fn operator(strategy: Strategy, problem: &Discretization<Self, $n>) -> CpuOperator<'_> {
                strategy.of_kernel(problem)
            }

            fn inverse_blocks(problem: &Discretization<Self, $n>) -> CpuPreconditioner<'_> {
                Box::new(BlockJacobi::new(problem))
            }

            fn multigrid(
                problem: &Discretization<Self, $n>,
                kind: CycleKind,
                smoother: SmootherKind,
            ) -> Result<CpuPreconditioner<'_>, BackendError> {
                if problem.elements().are_tetrahedra() {
                    return Ok(Box::new(TetrahedraMultigrid::<_, $n, $modes>::new(problem, kind)?));
                }
                Ok(Box::new(Multigrid::<_, $n, $modes>::smoothed_by(smoother, problem, kind)?))
            }

            fn multigrid_on_part<'a>(
                local: &'a Discretization<Self, $n>,
                kind: CycleKind,
                others: Arc<dyn Sharing<'a, Cpu> + 'a>,
            ) -> Result<CpuPreconditioner<'a>, BackendError> {
                if local.elements().are_tetrahedra() {
                    let of_part = TetrahedraMultigrid::<_, $n, $modes>::on_part;
                    return Ok(Box::new(of_part(local, kind, others)?));
                }
                Ok(Box::new(Multigrid::<_, $n, $modes>::on_part(local, kind, others)?))
            }

            fn multigrid_bytes(
                problem: &Discretization<Self, $n>,
                smoother: SmootherKind,
            ) -> usize {
                match problem.elements().are_tetrahedra() {
                    true => TetrahedraMultigrid::<_, $n, $modes>::bytes(problem),
                    false => Multigrid::<_, $n, $modes>::bytes(problem, smoother),
                }
            }
        }
    };
}

compiled!(Elasticity, DIM, MODES);
compiled!(Diffusion, 1, 1);
