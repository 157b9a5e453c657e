//! Solvers and warnings of linear elasticity.

use std::sync::Arc;

use topopt_case::config::{self, Config};
use topopt_case::model::Model;
use topopt_case::units;
use topopt_cuda::{BlockJacobi, Cuda, OtherRanks, ProblemOnDevice, Real};
use topopt_fem::{DIM, Discretization, Elasticity, LoadCase};
use topopt_linalg::{BackendError, CycleKind};

use super::solvable::{GpuPreconditioner, Solvable};
use crate::thin;

impl Solvable<DIM> for Elasticity {
    const IS_MEASURED: bool = true;

    fn doubts(config: &Config, model: &Model) -> Vec<String> {
        let mut all = units::doubts(config, model);
        all.extend(nearly_incompressible(config));
        all.extend(balanced(config, model));
        all
    }

    fn thin_members(model: &Model, are_solid: Option<&[bool]>) -> Option<String> {
        thin::warning(model, are_solid)
    }

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
        let cycles = topopt_cuda::TetrahedraMultigrid::among(backend, mesh, problem, kind, others);
        Some(cycles.map(|cycles| Box::new(cycles) as _))
    }

    fn gpu_multigrid_bytes<R: Real>(problem: &Discretization<Self, DIM>, by_color: bool) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        match problem.elements().are_tetrahedra() {
            true => topopt_cuda::TetrahedraMultigrid::<R>::bytes(problem.mesh()),
            false => topopt_cuda::Multigrid::<R>::bytes(n_nodes, n_elements, by_color),
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

/// Poisson's ratio from which on trilinear elements lock and solves need many iterations.
const INCOMPRESSIBLE: f64 = 0.499;

fn nearly_incompressible(config: &Config) -> Option<String> {
    let of_sets = config.materials.iter().filter_map(|material| {
        let ratio = *material.poissons_ratio.as_ref()?.get_ref();
        Some((ratio, format!(" of set `{}`", material.set.get_ref())))
    });
    let mut all = of_sets.chain([(config.material.poissons_ratio, String::new())]);
    all.find(|(ratio, _)| *ratio >= INCOMPRESSIBLE).map(|(ratio, of_set)| {
        format!(
            "Poisson's ratio {ratio}{of_set} is nearly incompressible: hexahedra of eight nodes lock, and \
             solves may not converge; 0.49 is close enough for rubber"
        )
    })
}

/// Load cases whose forces add up to zero, though no moment is asked for.
fn balanced(config: &Config, model: &Model) -> Vec<String> {
    let is_balanced = |case: &&LoadCase| {
        let total: f64 = case.forces.iter().map(|f| f.abs()).sum();
        let sum = |i: usize| case.forces.iter().skip(i).step_by(DIM).sum::<f64>();
        let mut of_case = config.loads.iter().filter(|load| load.case == case.name);
        let is_zero = (0..DIM).all(|i| sum(i).abs() < 1e-9 * total);
        is_zero && !of_case.any(|load| load.moment().is_some())
    };
    let cases = model.problem.load_cases().iter().filter(is_balanced);
    cases
        .map(|case| {
            format!(
                "the forces of load case `{}` add up to zero; if this is not intended, check their \
                 signs",
                case.name
            )
        })
        .collect()
}
