//! Solvers, memory needs and warnings of linear elasticity.

use std::sync::Arc;

use topopt_case::config::{self, Config};
use topopt_case::model::Model;
use topopt_case::subject::Subject;
use topopt_case::units;
use topopt_cuda::{Cuda, Device, Mf};
use topopt_fem::{DIM, Discretization, Elasticity, LoadCase, Multigrid, Problem, Sharing};
use topopt_linalg::{BackendError, Cpu, CycleKind, SmootherKind};

use super::gpu;
use super::gpu_part;
use super::opened::{OpenGpu, mesh_on_device};
use super::parts::{EachOperator, Needs, Others, PartSolver, Solver};
use super::solvable::{CpuPreconditioner, SingleOperator, Solvable};
use crate::failure::Failure;

impl Solvable<DIM> for Elasticity {
    fn doubts(config: &Config, model: &Model) -> Vec<String> {
        let mut all = units::doubts(config, model);
        all.extend(nearly_incompressible(config));
        all.extend(balanced(config, model));
        all
    }

    fn multigrid(
        problem: &Discretization<Self, DIM>,
        kind: CycleKind,
        smoother: SmootherKind,
    ) -> Result<CpuPreconditioner<'_>, BackendError> {
        Ok(Box::new(Multigrid::smoothed_by(smoother, problem, kind)?))
    }

    fn multigrid_on_part<'a>(
        local: &'a Discretization<Self, DIM>,
        kind: CycleKind,
        others: Arc<dyn Sharing<'a, Cpu> + 'a>,
    ) -> Result<CpuPreconditioner<'a>, BackendError> {
        Ok(Box::new(Multigrid::on_part(local, kind, others)?))
    }

    fn solver_of_part_on_gpu<'a>(
        gpu: &'a OpenGpu,
        solver: &config::Solver,
        local: &'a Discretization<Self, DIM>,
        strategy: config::Strategy,
        others: Option<Others<'a>>,
    ) -> Result<PartSolver<'a, Cuda<f64>>, BackendError> {
        gpu_part::elastic(gpu, solver, local, strategy, others)
    }

    fn multigrid_bytes(problem: &Discretization<Self, DIM>, smoother: SmootherKind) -> usize {
        Multigrid::bytes(problem, smoother)
    }

    fn strategies_on_gpu(subject: Subject) -> Vec<&'static str> {
        gpu::elastic_strategies(subject)
    }

    fn needs_on_gpu(config: &Config, subject: Subject) -> Needs {
        gpu::elastic_needs(config, subject)
    }

    fn solver_on_gpu<'a>(
        gpu: &'a OpenGpu,
        config: &Config,
        subject: Subject<'a>,
        wanted: (config::Strategy, f64),
    ) -> Result<Solver<'a, Cuda<f64>>, Failure> {
        gpu::elastic_solver(gpu, config, subject, wanted)
    }

    fn each_on_gpu(
        gpu: &OpenGpu,
        problem: (&Problem, Option<&[usize]>),
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Cuda<f64>>,
    ) -> Result<(), BackendError> {
        gpu::each_elastic(gpu, problem, wanted, visitor)
    }

    fn in_single(
        device: &Arc<Device>,
        problem: &Problem,
        colors: Option<&[usize]>,
    ) -> Result<SingleOperator, BackendError> {
        let operator = Mf::<f32>::new(&mesh_on_device(device, problem, colors)?)?;
        Ok((Box::new(operator), Mf::<f32>::bytes(problem.mesh().n_elements())))
    }
}

/// Poisson's ratio from which on trilinear elements lock and solves need many iterations.
const INCOMPRESSIBLE: f64 = 0.499;

fn nearly_incompressible(config: &Config) -> Option<String> {
    let ratio = config.material.poissons_ratio;
    (ratio >= INCOMPRESSIBLE).then(|| {
        format!(
            "Poisson's ratio {ratio} is nearly incompressible: hexahedra of eight nodes lock, and \
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
