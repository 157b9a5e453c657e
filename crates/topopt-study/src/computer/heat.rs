//! What solves heat conduction: one unknown per node.

use topopt_cuda::{Cuda, MeshOnDevice, MfDiffusion, ScalarMultigrid};
use topopt_design::Optimization;
use topopt_fem::{Diffusion, ElementPreconditioner, Jacobi, Multigrid, Problem, Strategy};
use topopt_linalg::{BackendError, CycleKind};

use super::cycle;
use super::gpu::{filter_bytes, is_single};
use super::opened::{OpenGpu, bare_mesh};
use super::parts::{Needs, Solver};
use super::solvable::{CpuPreconditioner, Solvable};
use crate::config::{self, Config};
use crate::failure::Failure;
use crate::finding::{Finding, InputError};
use crate::free_memory::MEGABYTE;
use crate::model::Model;
use crate::optimizer::further_element_vectors;

impl Solvable<1> for Diffusion {
    fn multigrid(
        problem: &Problem<Self, 1>,
        kind: CycleKind,
    ) -> Result<CpuPreconditioner<'_>, BackendError> {
        Ok(Box::new(Multigrid::<_, 1, 1>::new(problem, kind)?))
    }

    fn multigrid_bytes(problem: &Problem<Self, 1>) -> usize {
        Multigrid::<_, 1, 1>::bytes(problem)
    }

    fn strategies_on_gpu(_: &Model<Self, 1>) -> Vec<&'static str> {
        strategies()
    }

    fn needs_on_gpu(config: &Config, model: &Model<Self, 1>) -> Needs {
        needs(config, model)
    }

    fn solver_on_gpu<'a>(
        gpu: &'a OpenGpu,
        config: &Config,
        model: &'a Model<Self, 1>,
        (wanted, contrast): (config::Strategy, f64),
    ) -> Result<Solver<'a, Cuda<f64>>, Failure> {
        solver(gpu, config, model, wanted, contrast)
    }
}

/// Names of the strategies.
fn strategies() -> Vec<&'static str> {
    vec![Strategy::Mf.name()]
}

/// What a run of `model` needs.
fn needs(config: &Config, model: &Model<Diffusion, 1>) -> Needs {
    let name = Strategy::Mf.name();
    let megabytes = bytes(config, model) as f64 / MEGABYTE;
    Needs { strategy: name, memory_mb: [(name, megabytes)].into() }
}

/// Operator and preconditioner of `model`.
fn solver<'a>(
    gpu: &'a OpenGpu,
    config: &Config,
    model: &'a Model<Diffusion, 1>,
    wanted: config::Strategy,
    contrast: f64,
) -> Result<Solver<'a, Cuda<f64>>, Failure> {
    let name = Strategy::Mf.name();
    if ![config::Strategy::Auto.name(), name].contains(&wanted.name()) {
        let finding =
            Finding::new(format!("strategy `{}` does not compute heat on a GPU", wanted.name()));
        return Err(InputError::from(finding.remedy(format!("use `{name}`"))).into());
    }
    let (needed, free) = (bytes(config, model), gpu.device.memory()?.0);
    if needed > free {
        let mega = |bytes: usize| format!("{:.0} MB", bytes as f64 / MEGABYTE);
        let message =
            format!("the case needs {} on the GPU, which has {} free", mega(needed), mega(free));
        let remedy = "use a smaller mesh, or `solver.device = \"cpu\"`";
        return Err(InputError::from(Finding::new(message).remedy(remedy)).into());
    }

    let build = || -> Result<_, BackendError> {
        let mesh = bare_mesh(&gpu.device, model.problem.mesh(), model.colors.as_deref())?;
        let operator = Box::new(MfDiffusion::<f64>::new(&mesh, &model.problem)?);
        let (problem, kind) = (&*model.problem, cycle(&config.solver));
        let preconditioner: Box<dyn ElementPreconditioner<Cuda<f64>>> =
            match config.solver.preconditioner {
                config::Preconditioner::Jacobi | config::Preconditioner::BlockJacobi => {
                    Box::new(Jacobi::new(&gpu.backend, problem.space())?)
                }
                // As of elasticity, see `is_single`.
                _ if is_single(contrast) => {
                    Box::new(ScalarMultigrid::new(gpu.single()?, &mesh, problem, kind)?)
                }
                _ => Box::new(ScalarMultigrid::new(&gpu.backend, &mesh, problem, kind)?),
            };
        Ok(Solver { operator, preconditioner, note: None })
    };
    Ok(build()?)
}

/// Device memory of a run with its filter.
fn bytes(config: &Config, model: &Model<Diffusion, 1>) -> usize {
    let problem = &model.problem;
    let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
    let [of_posed, nodal] = model.posed.further_vectors();
    let vectors = of_posed + further_element_vectors(config.optimizer.method);
    let nodal = nodal + Optimization::<Cuda<f64>>::nodal_vectors(problem);
    let element = vectors + Optimization::<Cuda<f64>>::element_vectors(problem);
    MeshOnDevice::bytes(nodes, elements)
        + MfDiffusion::<f64>::bytes(nodes, elements)
        + ScalarMultigrid::<f64>::bytes(nodes, elements)
        + 8 * (nodes * (nodal + 2) + elements * element)
        + filter_bytes(model)
}
