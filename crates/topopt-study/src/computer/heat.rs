//! Solvers and memory needs of heat conduction: one unknown per node.

use std::sync::Arc;

use topopt_case::config::{self, Config};
use topopt_case::finding::{Finding, InputError};
use topopt_case::free_memory::MEGABYTE;
use topopt_case::optimizer::further_element_vectors;
use topopt_case::subject::Subject;
use topopt_cuda::{Cuda, Device, DiffusionStrategy, MeshOnDevice, MfDiffusion, ScalarMultigrid};
use topopt_design::{Optimization, StateEquation};
use topopt_fem::{
    Diffusion, Discretization, ElementPreconditioner, Jacobi, Multigrid, Problem, Sharing,
};
use topopt_linalg::{BackendError, Cpu, CycleKind, SmootherKind};

use super::gpu::{filter_bytes, is_single};
use super::gpu_part;
use super::opened::{OpenGpu, bare_mesh};
use super::parts::{EachOperator, Needs, Others, PartSolver, Solver};
use super::solvable::{CpuPreconditioner, SingleOperator, Solvable};
use super::{cycle, smoother};
use crate::failure::Failure;

impl Solvable<1> for Diffusion {
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

    fn solver_of_part_on_gpu<'a>(
        gpu: &'a OpenGpu,
        solver: &config::Solver,
        local: &'a Discretization<Self, 1>,
        strategy: config::Strategy,
        others: Option<Others<'a>>,
    ) -> Result<PartSolver<'a, Cuda<f64>>, BackendError> {
        gpu_part::thermal(gpu, solver, local, strategy, others)
    }

    fn multigrid_bytes(problem: &Discretization<Self, 1>, smoother: SmootherKind) -> usize {
        Multigrid::<_, 1, 1>::bytes(problem, smoother)
    }

    fn strategies_on_gpu(_: Subject<Self, 1>) -> Vec<&'static str> {
        strategies()
    }

    fn needs_on_gpu(config: &Config, subject: Subject<Self, 1>) -> Needs {
        needs(config, subject)
    }

    fn solver_on_gpu<'a>(
        gpu: &'a OpenGpu,
        config: &Config,
        subject: Subject<'a, Self, 1>,
        (wanted, contrast): (config::Strategy, f64),
    ) -> Result<Solver<'a, Cuda<f64>>, Failure> {
        solver(gpu, config, subject, wanted, contrast)
    }

    fn each_on_gpu(
        gpu: &OpenGpu,
        (problem, colors): (&Problem<Self, 1>, Option<&[usize]>),
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Cuda<f64>>,
    ) -> Result<(), BackendError> {
        let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        let mesh = bare_mesh(&gpu.device, problem.mesh(), colors)?;
        let more =
            MfDiffusion::<f64>::stretch_bytes(problem) + MfDiffusion::<f64>::film_bytes(problem);
        for strategy in DiffusionStrategy::ALL.into_iter().filter(|s| wanted(s.name())) {
            let bytes = strategy.bytes(nodes, elements) + more;
            if bytes <= gpu.device.memory()?.0 {
                visitor(strategy.build(&mesh, problem)?.as_mut(), bytes)?;
            }
        }
        Ok(())
    }

    fn in_single(
        device: &Arc<Device>,
        problem: &Problem<Self, 1>,
        colors: Option<&[usize]>,
    ) -> Result<SingleOperator, BackendError> {
        let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        let operator = MfDiffusion::new(&bare_mesh(device, problem.mesh(), colors)?, problem)?;
        let more =
            MfDiffusion::<f32>::stretch_bytes(problem) + MfDiffusion::<f32>::film_bytes(problem);
        Ok((Box::new(operator), MfDiffusion::<f32>::bytes(nodes, elements) + more))
    }
}

/// Names of the strategies.
fn strategies() -> Vec<&'static str> {
    DiffusionStrategy::ALL.map(DiffusionStrategy::name).into()
}

/// Returns the strategy of a thermal run and the memory that each strategy needs.
fn needs(config: &Config, subject: Subject<Diffusion, 1>) -> Needs {
    let megabytes = |s| bytes(s, config, subject) as f64 / MEGABYTE;
    let memory = |s: DiffusionStrategy| (s.name(), megabytes(s));
    let strategy = strategy(config.solver.strategy, subject).map_or("mf", DiffusionStrategy::name);
    Needs { strategy, memory_mb: DiffusionStrategy::ALL.into_iter().map(memory).collect() }
}

/// The strategy that is wanted; `auto` is `mf`, and `dbd` where elements come by color.
fn strategy(
    wanted: config::Strategy,
    subject: Subject<Diffusion, 1>,
) -> Result<DiffusionStrategy, Finding> {
    let mut known = DiffusionStrategy::ALL.into_iter();
    let found = match wanted {
        config::Strategy::Auto if subject.task.colors.is_some() => Some(DiffusionStrategy::Dbd),
        config::Strategy::Auto => Some(DiffusionStrategy::Mf),
        wanted => known.find(|strategy| strategy.name() == wanted.name()),
    };
    found.ok_or_else(|| {
        let message = format!("strategy `{}` does not compute heat on a GPU", wanted.name());
        Finding::new(message).remedy(format!("use one of {}", strategies().join(", ")))
    })
}

/// Refuses patches where the matrix is not assembled on a GPU.
fn smoothed_here(config: &Config, subject: Subject<Diffusion, 1>) -> Result<(), InputError> {
    let is_patch = config.solver.is_multigrid() && smoother(&config.solver) == SmootherKind::Patch;
    if !is_patch || subject.equation.elements().stretches().is_none() {
        return Ok(());
    }
    let message = "smoother `patch` does not take conductivities that differ by axis on a GPU";
    let remedy = "leave out `solver.smoother`, or set `solver.device` to \"cpu\"";
    Err(Finding::new(message).remedy(remedy).into())
}

/// Operator and preconditioner of `model`.
fn solver<'a>(
    gpu: &'a OpenGpu,
    config: &Config,
    subject: Subject<'a, Diffusion, 1>,
    wanted: config::Strategy,
    contrast: f64,
) -> Result<Solver<'a, Cuda<f64>>, Failure> {
    let strategy = strategy(wanted, subject).map_err(InputError::from)?;
    smoothed_here(config, subject)?;
    let (needed, free) = (bytes(strategy, config, subject), gpu.device.memory()?.0);
    if needed > free {
        let mega = |bytes: usize| format!("{:.0} MB", bytes as f64 / MEGABYTE);
        let message =
            format!("the case needs {} on the GPU, which has {} free", mega(needed), mega(free));
        let remedy = "use a smaller mesh, or `solver.device = \"cpu\"`";
        return Err(InputError::from(Finding::new(message).remedy(remedy)).into());
    }

    let build = || -> Result<_, BackendError> {
        let mesh = bare_mesh(&gpu.device, subject.equation.mesh(), subject.task.colors.as_deref())?;
        let operator = strategy.build(&mesh, subject.equation)?;
        let (problem, kind) = (subject.equation, cycle(&config.solver));
        let by = smoother(&config.solver);
        let preconditioner: Box<dyn ElementPreconditioner<Cuda<f64>>> =
            match config.solver.preconditioner {
                config::Preconditioner::Jacobi | config::Preconditioner::BlockJacobi => {
                    Box::new(Jacobi::new(&gpu.backend, problem.space())?)
                }
                // As of elasticity, see `is_single`.
                _ if is_single(contrast) => {
                    let multigrid =
                        ScalarMultigrid::smoothed_by(by, gpu.single()?, &mesh, problem, kind)?;
                    Box::new(multigrid.following(problem))
                }
                _ => {
                    let multigrid =
                        ScalarMultigrid::smoothed_by(by, &gpu.backend, &mesh, problem, kind)?;
                    Box::new(multigrid.following(problem))
                }
            };
        Ok(Solver { operator, preconditioner, note: None })
    };
    Ok(build()?)
}

/// Device memory of a run with its filter.
fn bytes(strategy: DiffusionStrategy, config: &Config, subject: Subject<Diffusion, 1>) -> usize {
    let (problem, [nodes, elements]) = (subject.equation, subject.sizes());
    let [of_posed, nodal] = subject.task.posed.further_vectors();
    let vectors = of_posed + further_element_vectors(config.optimizer.method);
    let in_time = subject.task.timeline.as_ref().map(StateEquation::<Cuda<f64>>::vectors_in_time);
    let [of_steps, nodal_of_steps] = in_time.unwrap_or_default();
    let nodal = nodal + nodal_of_steps + Optimization::<Cuda<f64>>::nodal_vectors(subject.problem);
    let element = vectors + of_steps + Optimization::<Cuda<f64>>::element_vectors(subject.problem);
    let is_patch = config.solver.is_multigrid() && smoother(&config.solver) == SmootherKind::Patch;
    let patches = if is_patch { ScalarMultigrid::<f64>::patch_bytes(nodes, elements) } else { 0 };
    MeshOnDevice::bytes(nodes, elements)
        + strategy.bytes(nodes, elements)
        // Of the operator and of the cycle.
        + 2 * (MfDiffusion::<f64>::stretch_bytes(problem) + MfDiffusion::<f64>::film_bytes(problem))
        + patches
        + ScalarMultigrid::<f64>::bytes(nodes, elements, subject.task.colors.is_some())
        + 8 * (nodes * (nodal + 2) + elements * element)
        + filter_bytes(subject)
}
