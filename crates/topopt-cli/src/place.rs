//! Where a run computes, and how K u is computed there.

mod fastest;

use std::collections::BTreeMap;
use std::sync::Arc;

use topopt_cuda::{
    BlockJacobi as GpuBlockJacobi, Cone, Cuda, Device, MeshOnDevice, Multigrid as GpuMultigrid,
    Prepared, Strategy as GpuStrategy,
};
use topopt_design::{Chain, DensityFilter, Optimization, Passive, Projection, SensitivityFilter};
use topopt_fem::{
    BlockJacobi, ElementOperator, ElementPreconditioner, Jacobi, Multigrid, Problem, Strategy,
};
use topopt_linalg::{BackendError, Cpu, CycleKind};

use crate::config::{self, Config, FilterKind};
use crate::failure::Failure;
use crate::report::{Finding, InputError};
use crate::structure::Structure;

/// Where a run computes.
pub(crate) enum Place {
    /// The processor, and why it is not a GPU if that was left to us.
    Cpu {
        /// For people.
        note: Option<String>,
    },
    /// A GPU.
    Gpu(Arc<Device>),
}

/// What solves a problem on a GPU.
pub(crate) struct OnGpu<'a> {
    pub operator: Box<dyn ElementOperator<Cuda<f64>>>,
    pub preconditioner: Box<dyn ElementPreconditioner<Cuda<f64>> + 'a>,
    /// How the operator was chosen if it was left to us.
    pub note: Option<String>,
}

impl Place {
    /// The place that is asked for. `Auto` is the first GPU, and the processor where none works.
    ///
    /// # Errors
    /// A finding if a GPU is asked for and there is none that works.
    pub fn find(asked: config::Device) -> Result<Self, Finding> {
        match asked {
            config::Device::Cpu => Ok(Place::Cpu { note: None }),
            config::Device::Auto => Ok(Device::open(0).map_or_else(
                |error| Place::Cpu { note: Some(format!("on the processor: {error}")) },
                Place::Gpu,
            )),
            config::Device::Gpu(number) => Device::open(number).map(Place::Gpu).map_err(|error| {
                let remedy = "install or update the driver of the GPU, or leave `solver.device` \
                              out to compute on the processor";
                Finding::new(error.to_string()).remedy(remedy)
            }),
        }
    }

    /// The place for a case: `Auto` is the processor for a filter that GPUs do not have.
    ///
    /// # Errors
    /// As [`Place::find`]; a finding if a GPU is asked for and does not have the filter.
    pub fn of(config: &Config) -> Result<Self, Finding> {
        let is_helmholtz = config.filter.get_ref().weights == config::FilterWeights::Helmholtz;
        match config.solver.device {
            config::Device::Auto if is_helmholtz => {
                let note = "on the processor: the Helmholtz filter is computed there only";
                Ok(Place::Cpu { note: Some(note.into()) })
            }
            config::Device::Gpu(_) if is_helmholtz => {
                Err(Finding::new("the Helmholtz filter is computed on the processor only")
                    .at(config.source(), config.span("filter.weights"), "not on a GPU")
                    .remedy("give `--device cpu` (`solver.device`), or `weights = \"cone\"`"))
            }
            asked => Self::find(asked),
        }
    }

    /// Name of the device, for people.
    pub fn name(&self) -> String {
        match self {
            Place::Cpu { .. } => "cpu".into(),
            Place::Gpu(device) => format!("gpu ({})", device.name()),
        }
    }
}

/// The strategy on the processor.
///
/// # Errors
/// A finding if there is none of that name.
pub(crate) fn cpu_strategy(asked: config::Strategy) -> Result<Strategy, Finding> {
    if asked == config::Strategy::Auto {
        return Ok(Strategy::Mf);
    }
    let known = Strategy::ALL.into_iter().find(|strategy| strategy.name() == asked.name());
    known.ok_or_else(|| {
        let names = Strategy::ALL.map(Strategy::name).join(", ");
        Finding::new(format!("strategy `{}` runs on a GPU only", asked.name()))
            .remedy(format!("on the processor there are {names}"))
    })
}

/// The preconditioner on the processor.
///
/// # Errors
/// [`BackendError`] never on the processor.
pub(crate) fn cpu_preconditioner<'a>(
    solver: &config::Solver,
    problem: &'a Problem,
) -> Result<Box<dyn ElementPreconditioner<Cpu> + 'a>, BackendError> {
    Ok(match solver.preconditioner {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
            Box::new(Multigrid::new(problem, cycle(solver))?)
        }
        config::Preconditioner::Jacobi => Box::new(Jacobi::new(&Cpu, problem.n_dofs())?),
        config::Preconditioner::BlockJacobi => Box::new(BlockJacobi::new(problem)),
    })
}

/// The preconditioner on a GPU, for moduli down to `contrast` times the largest. Multigrid is in single
/// precision, but in double where void is softer than its rounding: a piece that only such void holds
/// has motions that single precision cannot tell from stiff ones, and solves failed. It is [`prepared`] on the host.
///
/// # Errors
/// [`BackendError`] if the device has no room for it.
pub(crate) fn gpu_preconditioner<'a>(
    backend: &Cuda<f64>,
    solver: &config::Solver,
    mesh: &Arc<MeshOnDevice>,
    problem: &'a Problem,
    contrast: f64,
    prepared: Option<Prepared>,
) -> Result<Box<dyn ElementPreconditioner<Cuda<f64>> + 'a>, BackendError> {
    let kind = cycle(solver);
    Ok(match prepared {
        Some(host) if is_single(contrast) => {
            Box::new(GpuMultigrid::<f32>::new(mesh, problem, kind, &host)?)
        }
        Some(host) => Box::new(GpuMultigrid::<f64>::new(mesh, problem, kind, &host)?),
        None if solver.preconditioner == config::Preconditioner::Jacobi => {
            Box::new(Jacobi::new(backend, problem.n_dofs())?)
        }
        None => Box::new(GpuBlockJacobi::new(mesh)?),
    })
}

/// What the host makes of the problem for multigrid on a GPU, if that is the preconditioner.
pub(crate) fn prepared(solver: &config::Solver, problem: &Problem) -> Option<Prepared> {
    match solver.preconditioner {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
            Some(Prepared::new(problem))
        }
        config::Preconditioner::Jacobi | config::Preconditioner::BlockJacobi => None,
    }
}

/// Whether single precision, which rounds to 6e-8, can tell moduli of that contrast apart.
fn is_single(contrast: f64) -> bool {
    contrast >= 1e-7
}

fn cycle(solver: &config::Solver) -> CycleKind {
    match solver.cycle {
        config::Cycle::V => CycleKind::V,
        config::Cycle::W => CycleKind::W,
        config::Cycle::K => CycleKind::K,
    }
}

/// The mesh of `problem` on a GPU, for launches by color where it has `colors`.
///
/// # Errors
/// [`BackendError`] if the device has no room for it.
pub(crate) fn gpu_mesh(
    device: &Arc<Device>,
    problem: &Problem,
    colors: Option<&[usize]>,
) -> Result<Arc<MeshOnDevice>, BackendError> {
    match colors {
        Some(colors) => MeshOnDevice::by_color(device, problem, colors),
        None => MeshOnDevice::new(device, problem),
    }
}

/// The strategy on a GPU: `Auto` is `mf` where the elements come by color, as what is measured
/// differs from run to run.
pub(crate) fn gpu_choice(asked: config::Strategy, structure: &Structure) -> config::Strategy {
    match (asked, &structure.colors) {
        (config::Strategy::Auto, Some(_)) => config::Strategy::Mf,
        (asked, _) => asked,
    }
}

/// Operator and preconditioner of a problem on a GPU, by the strategy that is `wanted`, for moduli down
/// to `contrast` times the largest. The host prepares the preconditioner meanwhile.
///
/// # Errors
/// An input failure, with numbers, if the GPU's memory is too small, or if the strategy does not
/// compute the problem; a device that fails.
pub(crate) fn on_gpu<'a>(
    backend: &Cuda<f64>,
    structure: &'a Structure,
    config: &Config,
    wanted: config::Strategy,
    contrast: f64,
) -> Result<OnGpu<'a>, Failure> {
    let (problem, solver) = (&structure.problem, &config.solver);
    let choice = choice(backend.device(), structure, config, wanted, contrast)?;
    let operator = || -> Result<_, BackendError> {
        let mesh = gpu_mesh(backend.device(), problem, structure.colors.as_deref())?;
        let (strategy, note) = match choice {
            Choice::Named(strategy, note) => (strategy, note),
            Choice::Measured(fitting) => {
                let (best, note) = fastest::fastest(backend, &mesh, problem, fitting)?;
                (best, Some(note))
            }
        };
        Ok((strategy.build(&mesh, problem)?, mesh, note))
    };
    let (operator, prepared) = rayon::join(operator, || prepared(solver, problem));
    let (operator, mesh, note) = operator?;
    let preconditioner = gpu_preconditioner(backend, solver, &mesh, problem, contrast, prepared)?;
    Ok(OnGpu { operator, preconditioner, note })
}

/// How an operator is chosen among those that fit.
enum Choice {
    /// By name, and what to say of it if it was left to us.
    Named(GpuStrategy, Option<String>),
    /// The fastest of these.
    Measured(Vec<GpuStrategy>),
}

fn choice(
    device: &Device,
    structure: &Structure,
    config: &Config,
    wanted: config::Strategy,
    contrast: f64,
) -> Result<Choice, Failure> {
    let free = device.memory()?.0;
    let (filter, preconditioner) = (filter_bytes(config, structure), config.solver.preconditioner);
    let bytes = |s| gpu_bytes(s, preconditioner, contrast, &structure.problem) + filter;
    let possible = gpu_strategies(structure);
    let fits = |strategy: &GpuStrategy| bytes(*strategy) <= free;
    let fitting: Vec<_> = possible.iter().copied().filter(fits).collect();
    let asked = gpu_choice(wanted, structure);
    if asked == config::Strategy::Auto {
        if fitting.is_empty() {
            let least = GpuStrategy::ALL.map(bytes).into_iter().min();
            return Err(too_large("auto", least.unwrap_or(0), free, &fitting));
        }
        return Ok(Choice::Measured(fitting));
    }

    let is_asked = |strategy: &&GpuStrategy| strategy.name() == asked.name();
    let Some(&strategy) = possible.iter().find(is_asked) else {
        return Err(InputError::from(impossible(asked, structure, &possible)).into());
    };
    if !fits(&strategy) {
        return Err(too_large(asked.name(), bytes(strategy), free, &fitting));
    }
    let is_ours = asked != wanted;
    Ok(Choice::Named(strategy, is_ours.then(|| format!("strategy {}, not measured", asked.name()))))
}

/// The strategies that compute the problem, in a fixed order where its elements come by color.
fn gpu_strategies(structure: &Structure) -> Vec<GpuStrategy> {
    let is_possible = |strategy: &GpuStrategy| {
        strategy.takes(structure.problem.mesh())
            && (structure.colors.is_none() || strategy.is_in_order())
    };
    GpuStrategy::ALL.into_iter().filter(is_possible).collect()
}

/// Why a strategy is not among those that are possible.
fn impossible(asked: config::Strategy, structure: &Structure, possible: &[GpuStrategy]) -> Finding {
    let (name, wedges) = (asked.name(), structure.problem.mesh().n_wedges());
    let names: Vec<_> = possible.iter().map(|strategy| strategy.name()).collect();
    let why = match asked {
        config::Strategy::EbeSym => format!("does not compute the {wedges} wedges of the mesh"),
        _ => "adds in no fixed order, as `solver.deterministic` asks for".into(),
    };
    Finding::new(format!("strategy `{name}` {why}"))
        .remedy(format!("set `solver.strategy` to \"auto\", or to one of {}", names.join(", ")))
}

/// Device memory of a run but for its filter: mesh, vectors of the design loop and of the solver,
/// operator, preconditioner.
pub(crate) fn gpu_bytes(
    strategy: GpuStrategy,
    preconditioner: config::Preconditioner,
    contrast: f64,
    problem: &Problem,
) -> usize {
    let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
    let mesh = MeshOnDevice::bytes(nodes, elements);
    let nodal = 24 * nodes * Optimization::<Cuda<f64>>::nodal_vectors(problem);
    let element = 8 * elements * Optimization::<Cuda<f64>>::ELEMENT_VECTORS;
    let preconditioner = match preconditioner {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
            match is_single(contrast) {
                true => GpuMultigrid::<f32>::bytes(nodes, elements),
                false => GpuMultigrid::<f64>::bytes(nodes, elements),
            }
        }
        config::Preconditioner::Jacobi => 48 * nodes,
        config::Preconditioner::BlockJacobi => GpuBlockJacobi::bytes(nodes),
    };
    mesh + nodal + element + strategy.bytes(nodes, elements) + preconditioner
}

/// Device memory of the filter.
fn filter_bytes(config: &Config, structure: &Structure) -> usize {
    let Some(radius) = structure.filter_radius else { return 0 };
    let mesh = &structure.mesh;
    let vectors = match config.filter.get_ref().kind {
        FilterKind::Density => {
            let projection =
                config.projection.as_ref().map(|_| Projection::<Cuda<f64>>::ELEMENT_VECTORS);
            let [first, last] = [
                DensityFilter::<Cuda<f64>>::ELEMENT_VECTORS,
                Passive::<Cuda<f64>>::ELEMENT_VECTORS,
            ];
            let links: Vec<_> =
                [Some(first), projection, Some(last)].into_iter().flatten().collect();
            Chain::<Cuda<f64>>::element_vectors(&links)
        }
        _ => SensitivityFilter::<Cuda<f64>>::ELEMENT_VECTORS,
    };
    let weights = Cone::bytes(mesh.bounding_box().extent(), radius, mesh.n_elements());
    weights + 8 * vectors * mesh.n_elements()
}

/// Megabytes of device memory that a run needs, by strategy.
pub(crate) fn gpu_memory_mb(config: &Config, structure: &Structure) -> BTreeMap<&'static str, f64> {
    let filter = filter_bytes(config, structure);
    let (preconditioner, contrast) = (config.solver.preconditioner, config.contrast());
    let bytes = |s| filter + gpu_bytes(s, preconditioner, contrast, &structure.problem);
    let megabytes = |s| bytes(s) as f64 / f64::from(1 << 20);
    GpuStrategy::ALL.into_iter().map(|s| (s.name(), megabytes(s))).collect()
}

fn too_large(name: &str, needed: usize, free: usize, fitting: &[GpuStrategy]) -> Failure {
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
