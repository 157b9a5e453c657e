//! Solvers of heat conduction: one unknown per node.

use std::sync::Arc;

use topopt_fem::tetrahedra::TetrahedraMultigrid;
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
        if problem.elements().are_tetrahedra() {
            return Ok(Box::new(TetrahedraMultigrid::<_, 1, 1>::new(problem, kind)?));
        }
        Ok(Box::new(Multigrid::<_, 1, 1>::smoothed_by(smoother, problem, kind)?))
    }

    fn multigrid_on_part<'a>(
        local: &'a Discretization<Self, 1>,
        kind: CycleKind,
        others: Arc<dyn Sharing<'a, Cpu> + 'a>,
    ) -> Result<CpuPreconditioner<'a>, BackendError> {
        if local.elements().are_tetrahedra() {
            return Ok(Box::new(TetrahedraMultigrid::<_, 1, 1>::on_part(local, kind, others)?));
        }
        Ok(Box::new(Multigrid::<_, 1, 1>::on_part(local, kind, others)?))
    }

    fn multigrid_bytes(problem: &Discretization<Self, 1>, smoother: SmootherKind) -> usize {
        match problem.elements().are_tetrahedra() {
            true => TetrahedraMultigrid::<_, 1, 1>::bytes(problem),
            false => Multigrid::<_, 1, 1>::bytes(problem, smoother),
        }
    }
}
