//! Where a run computes, and how K u is computed there.

use std::collections::BTreeMap;
use std::sync::Arc;

use topopt_cuda::{Cuda, Device, MeshOnDevice, Strategy as GpuStrategy};
use topopt_fem::{
    BlockJacobi, ElasticityOperator, ElasticityPreconditioner, Jacobi, Multigrid, Problem, Strategy,
};
use topopt_linalg::{Backend, BackendError, Cpu};

use crate::config;
use crate::failure::Failure;
use crate::report::{Finding, InputError};

/// Where a run computes.
pub(crate) enum Place {
    /// The processor.
    Cpu,
    /// A GPU.
    Gpu(Arc<Device>),
}

/// An operator on a GPU.
pub(crate) type GpuOperator = Box<dyn ElasticityOperator<Cuda<f64>>>;

impl Place {
    /// The place that is asked for. `Auto` is the processor: the GPU's results have been checked on
    /// an emulated device only, so it has to be asked for.
    ///
    /// # Errors
    /// A finding if a GPU is asked for and there is none that works.
    pub fn find(asked: config::Device) -> Result<Self, Finding> {
        match asked {
            config::Device::Auto | config::Device::Cpu => Ok(Place::Cpu),
            config::Device::Gpu(number) => Device::open(number).map(Place::Gpu).map_err(|error| {
                Finding::new(error.to_string())
                    .remedy("leave `solver.device` out, or set it to \"cpu\"")
            }),
        }
    }

    /// Name of the device, for people.
    pub fn name(&self) -> String {
        match self {
            Place::Cpu => "cpu".into(),
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
pub(crate) fn cpu_preconditioner(
    asked: config::Preconditioner,
    problem: &Problem,
) -> Result<Box<dyn ElasticityPreconditioner<Cpu> + '_>, BackendError> {
    Ok(match asked {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
            Box::new(Multigrid::new(problem)?)
        }
        config::Preconditioner::Jacobi => Box::new(Jacobi::new(&Cpu, problem.n_dofs())?),
        config::Preconditioner::BlockJacobi => Box::new(BlockJacobi::new(problem)),
    })
}

/// The preconditioner on a GPU.
///
/// # Errors
/// An input failure for one that is not there; a device that fails.
pub(crate) fn gpu_preconditioner(
    backend: &Cuda<f64>,
    asked: config::Preconditioner,
    problem: &Problem,
) -> Result<Jacobi<Cuda<f64>>, Failure> {
    match asked {
        config::Preconditioner::Auto | config::Preconditioner::Jacobi => {
            Ok(Jacobi::new(backend, problem.n_dofs())?)
        }
        config::Preconditioner::Multigrid | config::Preconditioner::BlockJacobi => {
            let message = format!("preconditioner `{}` runs on the processor only", asked.name());
            let finding = Finding::new(message);
            let remedy = "set `solver.preconditioner` to \"jacobi\", or `solver.device` to \"cpu\"";
            Err(InputError::from(finding.remedy(remedy)).into())
        }
    }
}

/// The operator on a GPU, and a sentence about how it was chosen if it was left to us.
///
/// # Errors
/// An input failure, with numbers, if the GPU's memory is too small; a device that fails.
pub(crate) fn gpu_operator(
    backend: &Cuda<f64>,
    problem: &Problem,
    asked: config::Strategy,
) -> Result<(GpuOperator, Option<String>), Failure> {
    let device = backend.device();
    let free = device.memory()?.0;
    let fitting: Vec<_> = GpuStrategy::ALL
        .into_iter()
        .filter(|&strategy| gpu_bytes(strategy, problem) <= free)
        .collect();
    if asked != config::Strategy::Auto {
        let strategy = GpuStrategy::ALL.into_iter().find(|s| s.name() == asked.name());
        let strategy = strategy.ok_or_else(|| {
            InputError::from(Finding::new(format!("no strategy `{}` on a GPU", asked.name())))
        })?;
        if !fitting.contains(&strategy) {
            return Err(too_large(asked.name(), gpu_bytes(strategy, problem), free, &fitting));
        }
        let mesh = MeshOnDevice::new(device, problem)?;
        return Ok((strategy.build(&mesh, problem)?, None));
    }
    if fitting.is_empty() {
        let least = GpuStrategy::ALL.map(|s| gpu_bytes(s, problem)).into_iter().min();
        return Err(too_large("auto", least.unwrap_or(0), free, &fitting));
    }
    let mesh = MeshOnDevice::new(device, problem)?;
    let mut times = Vec::new();
    for strategy in fitting {
        let seconds = application_seconds(backend, strategy.build(&mesh, problem)?.as_ref())?;
        times.push((seconds, strategy));
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let told: Vec<_> = times
        .iter()
        .map(|(s, strategy)| format!("{} {:.3} ms", strategy.name(), 1e3 * s))
        .collect();
    let best = times[0].1;
    let note = format!("strategy {}, the fastest of {}", best.name(), told.join(", "));
    Ok((best.build(&mesh, problem)?, Some(note)))
}

/// Device memory of a run: mesh, vectors of the design loop and of the solver, operator.
pub(crate) fn gpu_bytes(strategy: GpuStrategy, problem: &Problem) -> usize {
    let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
    let mesh = MeshOnDevice::bytes(nodes, elements);
    let nodal = 24 * nodes * (6 + 3 * problem.load_cases().len());
    let element = 8 * elements * 30;
    mesh + nodal + element + strategy.bytes(nodes, elements)
}

/// Megabytes of device memory that a run needs, by strategy.
pub(crate) fn gpu_memory_mb(problem: &Problem) -> BTreeMap<&'static str, f64> {
    let megabytes = |s| gpu_bytes(s, problem) as f64 / f64::from(1 << 20);
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

/// Seconds of one application: the median of five after two that do not count.
fn application_seconds(
    backend: &Cuda<f64>,
    operator: &dyn ElasticityOperator<Cuda<f64>>,
) -> Result<f64, BackendError> {
    let mut x = backend.zeros(operator.dimension())?;
    backend.fill(1.0, &mut x);
    let mut y = backend.zeros(operator.dimension())?;
    let mut apply = || backend.device().seconds(|| operator.apply(&x, &mut y));
    let mut seconds = (0..7).map(|_| apply()).collect::<Result<Vec<_>, _>>()?;
    seconds.drain(..2);
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[2])
}
