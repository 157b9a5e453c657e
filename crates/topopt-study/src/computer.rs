//! Where a study computes: one trait for all that it makes there, and the only place that chooses.

mod cpu;
mod fastest;
mod gpu;

use std::collections::BTreeMap;
use std::sync::Arc;

use topopt_cuda::Device;
use topopt_fem::{Averaging, ElementOperator, ElementPreconditioner, Problem};
use topopt_linalg::{Backend, BackendError, CycleKind, Pointwise};

use crate::config::{self, Config};
use crate::failure::Failure;
use crate::filter_plan::Weights;
use crate::finding::Finding;
use crate::model::Model;
pub use cpu::OnCpu;
pub use gpu::{OnGpu, mesh_on_device};

/// Operator and preconditioner of a model.
pub struct Solver<'a, B: Backend> {
    /// K(E).
    pub operator: Box<dyn ElementOperator<B> + 'a>,
    /// What conjugate gradients use with it.
    pub preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    /// How the operator was chosen if it was left to us.
    pub note: Option<String>,
}

/// What a run on a computer needs, known before anything is built.
pub struct Needs {
    /// The strategy, `auto` where it is measured first.
    pub strategy: &'static str,
    /// Megabytes of the computer's memory by strategy.
    pub memory_mb: BTreeMap<&'static str, f64>,
}

/// How a filter finds the neighbors of an element.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Neighbors {
    /// How many there are on average.
    pub mean: f64,
    /// Whether they are stored, in place of being found again in each application.
    pub stored: bool,
}

/// The weighted sum over neighbors that a filter is made of, and what there is to say of it.
pub type BuiltWeights<'a, B> = (Box<dyn Averaging<B> + 'a>, Option<Neighbors>);

/// Takes the operators of a computer one after the other, each with the bytes that it stores.
pub type EachOperator<'v, B> =
    dyn FnMut(&mut dyn ElementOperator<B>, usize) -> Result<(), BackendError> + 'v;

/// Makes the parts of a study in one place, on one backend.
pub trait Computer: Sync {
    /// Where vectors are.
    type Backend: Pointwise + Sync;

    /// Where vectors are.
    fn backend(&self) -> &Self::Backend;

    /// Names of the strategies that compute `model` here.
    fn strategies(&self, model: &Model) -> Vec<&'static str>;

    /// What a run of `model` needs.
    ///
    /// # Errors
    /// A strategy that is not here; a processor without the memory.
    fn needs(&self, config: &Config, model: &Model) -> Result<Needs, Failure>;

    /// Operator, by the strategy that is `wanted`, and preconditioner of `model`, for moduli down to
    /// `contrast` times the largest.
    ///
    /// # Errors
    /// An input failure, with numbers, if memory is too small or the strategy does not compute the
    /// model here; a device that fails.
    fn solver<'a>(
        &'a self,
        config: &Config,
        model: &'a Model,
        wanted: config::Strategy,
        contrast: f64,
    ) -> Result<Solver<'a, Self::Backend>, Failure>;

    /// The filter weights `plan` with the given radius for the problem of `model`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for them.
    fn weights<'a>(
        &'a self,
        plan: &Weights,
        model: &'a Model,
        radius: f64,
    ) -> Result<BuiltWeights<'a, Self::Backend>, BackendError>;

    /// Builds the operators of `problem` whose names are `wanted`, one after the other, and shows each
    /// to `visitor`; those that do not fit into the memory or do not compute it are left out. `colors` are the numbers of elements of each color, where
    /// elements come by color.
    ///
    /// # Errors
    /// What `visitor` returns, and a device that fails.
    fn each_operator(
        &self,
        problem: &Problem,
        colors: Option<&[usize]>,
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Self::Backend>,
    ) -> Result<(), BackendError>;

    /// Seconds that `work` takes on the backend.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64, BackendError>;
}

/// Where a study computes.
pub enum Place {
    /// The processor, and why it is not a GPU if that was left to us.
    Cpu {
        /// For people.
        note: Option<String>,
    },
    /// A GPU.
    Gpu(Arc<Device>),
}

/// Something to do on any computer.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    ///
    /// # Errors
    /// As it says.
    fn visit<C: Computer>(self, computer: &C) -> Result<Self::Output, Failure>;
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
                |error| Place::Cpu { note: Some(format!("running on the CPU: {error}")) },
                Place::Gpu,
            )),
            config::Device::Gpu(number) => Device::open(number).map(Place::Gpu).map_err(|error| {
                let remedy = "install or update the driver of the GPU, or leave `solver.device` \
                              out to compute on the CPU";
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
                let note = "running on the CPU: the Helmholtz filter runs only there";
                Ok(Place::Cpu { note: Some(note.into()) })
            }
            config::Device::Gpu(_) if is_helmholtz => {
                Err(Finding::new("the Helmholtz filter runs on the CPU only")
                    .at(config.source(), config.span("filter.weights"), "not on a GPU")
                    .remedy("give `--device cpu` (`solver.device`), or `weights = \"cone\"`"))
            }
            asked => Self::find(asked),
        }
    }

    /// Does something where this place is. Nothing else asks which one it is to compute a study.
    ///
    /// # Errors
    /// What `visitor` returns, and a device that cannot be used.
    pub fn visit<V: Visitor>(&self, visitor: V) -> Result<V::Output, Failure> {
        match self {
            Place::Cpu { .. } => visitor.visit(&OnCpu),
            Place::Gpu(device) => visitor.visit(&OnGpu::new(device)?),
        }
    }

    /// Whether the elements of a case have to come by color, so that results are the same bits always.
    pub fn needs_colors(&self, config: &Config) -> bool {
        matches!(self, Place::Gpu(_)) && config.solver.deterministic
    }

    /// Why it is this place, if that was left to us and is worth saying.
    pub fn note(&self) -> Option<&str> {
        match self {
            Place::Cpu { note } => note.as_deref(),
            Place::Gpu(_) => None,
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

fn cycle(solver: &config::Solver) -> CycleKind {
    match solver.cycle {
        config::Cycle::V => CycleKind::V,
        config::Cycle::W => CycleKind::W,
        config::Cycle::K => CycleKind::K,
    }
}
