//! Where a study computes: the only place that chooses.

use std::sync::Arc;

use topopt_cuda::Device;

use crate::computer::{OnCpu, OnGpu, Visitor};
use crate::config::{self, Config};
use crate::failure::Failure;
use crate::finding::Finding;

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
                              and `--device` out to compute on the CPU";
                Finding::new(error.to_string()).remedy(remedy)
            }),
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

    /// Whether the elements of a case have to come by color, so that results are the same bits
    /// always.
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
