//! Solvers of heat conduction: one unknown per node.

use std::sync::Arc;

use topopt_fem::{Diffusion, Discretization, Multigrid, Sharing};
use topopt_linalg::{BackendError, Cpu, CycleKind, SmootherKind};

use super::solvable::{CpuPreconditioner, Solvable};

impl Solvable<1> for Diffusion {
    const IS_MEASURED: bool = false;

    fn multigrid(
        problem: &Discretization<Self, 1>,
        kind: CycleKind,
        smoother: SmootherKind,
    ) -> Result<CpuPreconditioner<'_>, BackendError> {
        Ok(Box::new(Multigrid::<_, 1, 1>::smoothed_by(smoother, problem, kind)?))
    }

    fn multigrid_on_part<'a>(
        local: &'a Discretization<Self, 1>,
        kind: CycleKind,
        others: Arc<dyn Sharing<'a, Cpu> + 'a>,
    ) -> Result<CpuPreconditioner<'a>, BackendError> {
        Ok(Box::new(Multigrid::<_, 1, 1>::on_part(local, kind, others)?))
    }

    fn multigrid_bytes(problem: &Discretization<Self, 1>, smoother: SmootherKind) -> usize {
        Multigrid::<_, 1, 1>::bytes(problem, smoother)
    }
}
