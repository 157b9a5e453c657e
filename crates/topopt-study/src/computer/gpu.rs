//! One GPU.

use std::sync::Arc;

use topopt_case::config::{self, Config};
use topopt_case::filter_plan::Weights;
use topopt_case::finding::{Finding, InputError};
use topopt_case::free_memory::MEGABYTE;
use topopt_case::optimizer::further_element_vectors;
use topopt_case::subject::Subject;
use topopt_cuda::distance::{Eikonal, EikonalError};
use topopt_cuda::{
    BlockJacobi, Cone, Cuda, Device, MatrixFreeEquation, MeshOnDevice, MfDiffusion, Multigrid,
    Prepared, ProblemOnDevice, Strategy,
};
use topopt_design::Optimization;
use topopt_distance::{Arrival, Speed, Tetrahedra};
use topopt_fem::{
    Diffusion, Discretization, ElementOperator, ElementPreconditioner, Helmholtz, Jacobi, Problem,
    Statement,
};
use topopt_linalg::{BackendError, SmootherKind};

use super::opened::{OpenGpu, bare_mesh, mesh_on_device};
use super::{
    BuiltWeights, Computer, EachOperator, Needs, Neighbors, Solvable, Solver, cycle, fastest,
    refused, smoother,
};
use crate::failure::Failure;

/// One GPU, in double precision.
pub struct OnGpu(OpenGpu);

impl OnGpu {
    /// On `device`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn new(device: &Arc<Device>) -> Result<Self, BackendError> {
        Ok(Self(OpenGpu::new(device)?))
    }
}

impl OnGpu {
    /// The GPU.
    pub(super) fn opened(&self) -> &OpenGpu {
        &self.0
    }
}

impl Computer for OnGpu {
    type Backend = Cuda<f64>;
    const UNMEASURED: config::Strategy = config::Strategy::Mf;

    fn backend(&self) -> &Cuda<f64> {
        &self.0.backend
    }

    fn strategies<K: Solvable<N>, const N: usize>(
        &self,
        subject: Subject<K, N>,
    ) -> Vec<&'static str> {
        K::strategies_on_gpu(subject)
    }

    fn needs<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
    ) -> Result<Needs, Failure> {
        Ok(K::needs_on_gpu(config, subject))
    }

    fn solver<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        config: &Config,
        subject: Subject<'a, K, N>,
        wanted: config::Strategy,
        contrast: f64,
    ) -> Result<Solver<'a, Cuda<f64>>, Failure> {
        K::solver_on_gpu(&self.0, config, subject, (wanted, contrast))
    }

    fn diffusion<'a>(
        &'a self,
        problem: &'a Discretization<Diffusion, 1>,
        colors: Option<&[usize]>,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>> + 'a>, BackendError> {
        let mesh = bare_mesh(&self.0.device, problem.mesh(), colors)?;
        Ok(Box::new(MfDiffusion::new(&mesh, problem)?))
    }

    fn weights<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        plan: &Weights,
        subject: Subject<'a, K, N>,
        radius: f64,
    ) -> Result<BuiltWeights<'a, Cuda<f64>>, BackendError> {
        let mesh = subject.equation.mesh();
        match plan {
            Weights::Helmholtz => {
                let on_device = bare_mesh(&self.0.device, mesh, subject.task.colors.as_deref())?;
                let backends = (&self.0.backend, self.0.single()?);
                let equation = MatrixFreeEquation::new(backends, &on_device, mesh, radius)?;
                Ok((Box::new(Helmholtz::solving(&self.0.backend, equation)?), None))
            }
            Weights::Cone { .. } => {
                let cone = Cone::new(&self.0.device, &mesh.centers(), radius)?;
                let neighbors = Neighbors { mean: cone.mean_neighbors(), stored: false };
                Ok((Box::new(cone), Some(neighbors)))
            }
        }
    }

    fn each_operator<K: Solvable<N>, const N: usize>(
        &self,
        problem: &Problem<K, N>,
        colors: Option<&[usize]>,
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Cuda<f64>>,
    ) -> Result<(), BackendError> {
        K::each_on_gpu(&self.0, (problem, colors), wanted, visitor)
    }

    fn arrival(
        &self,
        tetrahedra: Tetrahedra,
        speed: &Speed,
        sources: &[(u32, f64)],
        end: f64,
    ) -> Result<Arrival, Failure> {
        let found = Eikonal::<f64>::new(&self.0.device, tetrahedra, speed)
            .and_then(|mut eikonal| eikonal.arrival_until(sources, end));
        found.map_err(|error| match error {
            EikonalError::Input(error) => refused(error),
            EikonalError::Device(error) => error.into(),
        })
    }

    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64, BackendError> {
        self.0.device.seconds(work)
    }
}

/// Names of the strategies that compute an elastic `model`.
pub(crate) fn elastic_strategies(subject: Subject) -> Vec<&'static str> {
    possible(subject).into_iter().map(Strategy::name).collect()
}

/// Returns the strategy of an elastic run and the memory that each strategy needs.
pub(crate) fn elastic_needs(config: &Config, subject: Subject) -> Needs {
    let bytes = |s| run_bytes(config, subject, s, subject.task.contrast);
    let memory = |s: Strategy| (s.name(), bytes(s) as f64 / MEGABYTE);
    let strategy = in_order(config.solver.strategy, subject, |_| true).name();
    Needs { strategy, memory_mb: Strategy::ALL.into_iter().map(memory).collect() }
}

/// Shows each elastic operator whose name is `wanted` and that fits to `visitor`.
pub(crate) fn each_elastic(
    gpu: &OpenGpu,
    (problem, colors): (&Problem, Option<&[usize]>),
    wanted: &dyn Fn(&str) -> bool,
    visitor: &mut EachOperator<Cuda<f64>>,
) -> Result<(), BackendError> {
    let sizes @ [nodes, elements] = [problem.mesh().n_nodes(), problem.mesh().n_elements()];
    let mesh = mesh_on_device(&gpu.device, problem, colors)?;
    for strategy in Strategy::ALL.into_iter().filter(|s| wanted(s.name())) {
        let bytes = bytes(strategy, config::Preconditioner::Jacobi, 1.0, (problem, sizes, false));
        if bytes <= gpu.device.memory()?.0 && strategy.takes(problem.mesh()) {
            let mut operator = strategy.build(&mesh, problem)?;
            visitor(operator.as_mut(), strategy.bytes(nodes, elements))?;
        }
    }
    Ok(())
}

/// Operator and preconditioner of an elastic `model`. The host prepares the preconditioner while the
/// device measures strategies.
pub(crate) fn elastic_solver<'a>(
    gpu: &'a OpenGpu,
    config: &Config,
    subject: Subject<'a>,
    (wanted, contrast): (config::Strategy, f64),
) -> Result<Solver<'a, Cuda<f64>>, Failure> {
    let (problem, solver) = (subject.equation, &config.solver);
    let choice = choice(&gpu.device, config, subject, wanted, contrast)?;
    let mesh = mesh_on_device(&gpu.device, problem, subject.task.colors.as_deref())?;
    let operator = || -> Result<_, BackendError> {
        let (strategy, note) = match choice {
            Choice::Named(strategy, note) => (strategy, note),
            Choice::Measured(fitting) => {
                let (best, note) = fastest::fastest(&gpu.backend, &mesh, problem, fitting)?;
                (best, Some(note))
            }
        };
        Ok((strategy.build(&mesh, problem)?, note))
    };
    let (operator, prepared) = rayon::join(operator, || prepared(solver, problem));
    let (operator, note) = operator?;

    let preconditioner = preconditioner(gpu, solver, &mesh, problem, contrast, prepared)?;
    Ok(Solver { operator, preconditioner, note })
}

/// The preconditioner on a GPU, for moduli down to `contrast` times the largest. Multigrid is in
/// single precision, but in double where void is softer than its rounding: a piece that only such
/// void holds has motions that single precision cannot tell from stiff ones, and solves failed. It
/// is [`prepared`] on the host.
///
/// # Errors
/// [`BackendError`] if the device has no room for it.
fn preconditioner<'a>(
    gpu: &'a OpenGpu,
    solver: &config::Solver,
    mesh: &Arc<ProblemOnDevice>,
    problem: &'a Discretization,
    contrast: f64,
    prepared: Option<Prepared>,
) -> Result<Box<dyn ElementPreconditioner<Cuda<f64>> + 'a>, BackendError> {
    let kind = cycle(solver);
    Ok(match prepared {
        Some(host) if is_single(contrast) => {
            Box::new(Multigrid::new(gpu.single()?, mesh, problem, kind, &host)?)
        }
        Some(host) => Box::new(Multigrid::new(&gpu.backend, mesh, problem, kind, &host)?),
        None if solver.preconditioner == config::Preconditioner::Jacobi => {
            Box::new(Jacobi::new(&gpu.backend, problem.space())?)
        }
        None => Box::new(BlockJacobi::new(mesh)?),
    })
}

/// Prepares multigrid for a GPU on the host; none for other preconditioners.
fn prepared(solver: &config::Solver, problem: &Discretization) -> Option<Prepared> {
    match solver.preconditioner {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
            Some(Prepared::new(problem).smoothed_by(smoother(solver)))
        }
        config::Preconditioner::Jacobi | config::Preconditioner::BlockJacobi => None,
    }
}

/// Whether single precision, which rounds to 6e-8, can tell moduli of that contrast apart.
pub(super) fn is_single(contrast: f64) -> bool {
    contrast >= 1e-7
}

/// The strategy on a GPU: `Auto` is `dbd` where the elements come by color, or `mf`, which stores
/// nothing, where that does not fit; what is measured differs from run to run.
fn in_order(
    asked: config::Strategy,
    subject: Subject,
    fits: impl Fn(&Strategy) -> bool,
) -> config::Strategy {
    match (asked, &subject.task.colors) {
        (config::Strategy::Auto, Some(_)) if fits(&Strategy::Dbd) => config::Strategy::Dbd,
        (config::Strategy::Auto, Some(_)) => config::Strategy::Mf,
        (asked, _) => asked,
    }
}

/// How an operator is chosen among those that fit.
enum Choice {
    /// Strategy chosen without measuring, with a note if the user left the choice to the program.
    Named(Strategy, Option<String>),
    /// The fastest of these.
    Measured(Vec<Strategy>),
}

fn choice(
    device: &Device,
    config: &Config,
    subject: Subject,
    wanted: config::Strategy,
    contrast: f64,
) -> Result<Choice, Failure> {
    let free = device.memory()?.0;
    let bytes = |s| run_bytes(config, subject, s, contrast);
    let possible = possible(subject);
    let fits = |strategy: &Strategy| bytes(*strategy) <= free;
    let fitting: Vec<_> = possible.iter().copied().filter(fits).collect();
    let asked = in_order(wanted, subject, fits);
    if asked == config::Strategy::Auto {
        if fitting.is_empty() {
            let least = Strategy::ALL.map(bytes).into_iter().min();
            return Err(too_large("auto", least.unwrap_or(0), free, &fitting));
        }
        return Ok(Choice::Measured(fitting));
    }

    let is_asked = |strategy: &&Strategy| strategy.name() == asked.name();
    let Some(&strategy) = possible.iter().find(is_asked) else {
        return Err(InputError::from(impossible(asked, subject, &possible)).into());
    };
    if !fits(&strategy) {
        return Err(too_large(asked.name(), bytes(strategy), free, &fitting));
    }
    let is_ours = asked != wanted;
    Ok(Choice::Named(strategy, is_ours.then(|| format!("strategy {}, not measured", asked.name()))))
}

/// The strategies that compute the problem, in a fixed order where its elements come by color.
fn possible(subject: Subject) -> Vec<Strategy> {
    let is_possible = |strategy: &Strategy| {
        strategy.takes(subject.equation.mesh())
            && (subject.task.colors.is_none() || strategy.is_in_order())
    };
    Strategy::ALL.into_iter().filter(is_possible).collect()
}

/// Why a strategy is not among those that are possible.
fn impossible(asked: config::Strategy, subject: Subject, possible: &[Strategy]) -> Finding {
    let (name, degenerate) = (asked.name(), subject.equation.mesh().n_degenerate());
    let names: Vec<_> = possible.iter().map(|strategy| strategy.name()).collect();
    let why = match asked {
        config::Strategy::EbeSym => {
            format!("does not support wedges and pyramids, and the mesh has {degenerate}")
        }
        _ => "does not add in the fixed order that `solver.deterministic` requires".into(),
    };
    Finding::new(format!("strategy `{name}` {why}"))
        .remedy(format!("set `solver.strategy` to \"auto\", or to one of {}", names.join(", ")))
}

/// Device memory of a run except for its filter: mesh, vectors of the design loop and of the solver,
/// operator, preconditioner.
fn bytes(
    strategy: Strategy,
    preconditioner: config::Preconditioner,
    contrast: f64,
    (problem, [nodes, elements], by_color): (&dyn Statement, [usize; 2], bool),
) -> usize {
    let mesh = ProblemOnDevice::bytes(nodes, elements);
    let nodal = 24 * nodes * Optimization::<Cuda<f64>>::nodal_vectors(problem);
    let element = 8 * elements * Optimization::<Cuda<f64>>::element_vectors(problem);
    let preconditioner = match preconditioner {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
            match is_single(contrast) {
                true => Multigrid::<f32>::bytes(nodes, elements, by_color),
                false => Multigrid::<f64>::bytes(nodes, elements, by_color),
            }
        }
        config::Preconditioner::Jacobi => 48 * nodes,
        config::Preconditioner::BlockJacobi => BlockJacobi::bytes(nodes),
    };
    mesh + nodal + element + strategy.bytes(nodes, elements) + preconditioner
}

/// Device memory of a run with its filter.
fn run_bytes(config: &Config, subject: Subject, strategy: Strategy, contrast: f64) -> usize {
    let [nodes, elements] = subject.sizes();
    let [of_posed, nodal] = subject.task.posed.further_vectors();
    let vectors = of_posed + further_element_vectors(config.optimizer.method);
    let of_method = 8 * elements * vectors + 24 * nodes * nodal;
    let problem = (subject.problem, subject.sizes(), subject.task.colors.is_some());
    let run = bytes(strategy, config.solver.preconditioner, contrast, problem);
    let is_patch = config.solver.is_multigrid() && smoother(&config.solver) == SmootherKind::Patch;
    let patches = match is_single(contrast) {
        true => Multigrid::<f32>::patch_bytes(nodes, elements),
        false => Multigrid::<f64>::patch_bytes(nodes, elements),
    };
    run + of_method + filter_bytes(subject) + if is_patch { patches } else { 0 }
}

/// Device memory of the filter. A Helmholtz equation has a copy of the mesh of its own.
pub(crate) fn filter_bytes<K: Solvable<N>, const N: usize>(subject: Subject<K, N>) -> usize {
    let (filter, [nodes, elements]) = (&subject.task.filter, subject.sizes());
    let weights = match (filter.weights(), filter.radius()) {
        (Some(Weights::Helmholtz), _) => {
            let vectors = Helmholtz::<Cuda<f64>, MatrixFreeEquation>::NODAL_VECTORS;
            let equation =
                MatrixFreeEquation::bytes(nodes, elements, subject.task.colors.is_some());
            MeshOnDevice::bytes(nodes, elements) + equation + 8 * vectors * nodes
        }
        (Some(Weights::Cone { .. }), Some(radius)) => {
            Cone::bytes(subject.equation.mesh().bounding_box().extent(), radius, elements)
        }
        _ => 0,
    };
    weights + 8 * filter.element_vectors::<Cuda<f64>>() * elements
}

fn too_large(name: &str, needed: usize, free: usize, fitting: &[Strategy]) -> Failure {
    let mega = |bytes: usize| format!("{:.0} MB", bytes as f64 / f64::from(1 << 20));
    let (needed, free) = (mega(needed), mega(free));
    let names: Vec<_> = fitting.iter().map(|strategy| strategy.name()).collect();
    let remedy = match names.as_slice() {
        [] => "use a smaller mesh, or `solver.device = \"cpu\"`".into(),
        names => format!("these strategies would fit: {}", names.join(", ")),
    };
    let message = format!("strategy `{name}` needs {needed} on the GPU, which has {free} free");
    InputError::from(Finding::new(message).remedy(remedy)).into()
}
