//! Where a study computes: the only place that chooses.

use std::num::NonZeroUsize;
use std::sync::Arc;

use topopt_cuda::{Device, Staged};
use topopt_linalg::{BackendError, Cause, Communicator, RankFailure, Threads};
use topopt_mesh::HexMesh;

use crate::computer::{OnCpu, OnGpu, OnRanks, Visitor};
use crate::config::{self, Config};
use crate::failure::Failure;
use crate::finding::Finding;
use crate::thread_pool::thread_pool;

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

    /// The place of so many ranks that is asked for: of several `Auto` is the processor.
    ///
    /// # Errors
    /// As [`Place::find`].
    pub fn of_ranks(asked: config::Device, ranks: NonZeroUsize) -> Result<Self, Finding> {
        match asked {
            config::Device::Auto if ranks.get() > 1 => Ok(Place::Cpu { note: None }),
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

    /// Does something on so many ranks, each with its part of `mesh`, or as [`Place::visit`] does where
    /// that is one. `visitor` makes what each rank does, for the first one with `true`. All of them share
    /// `threads` threads. What the first one returns is returned.
    ///
    /// # Errors
    /// The failure of the first rank that fails by itself.
    pub fn visit_on_ranks<V: Visitor<Output: Send>>(
        &self,
        ranks: NonZeroUsize,
        threads: usize,
        mesh: &HexMesh,
        visitor: impl Fn(bool) -> V + Sync,
    ) -> Result<V::Output, Failure> {
        if ranks.get() == 1 {
            return self.visit(visitor(true));
        }
        let share = (threads / ranks).max(1);
        let done = Threads::run(ranks.get(), |rank| {
            let pool = thread_pool(Some(share))?;
            let visitor = || visitor(rank.rank() == 0);
            pool.install(|| match self {
                Place::Cpu { .. } => visitor().visit(&OnRanks::new(OnCpu, rank, mesh)?),
                Place::Gpu(device) => {
                    visitor().visit(&OnRanks::new(OnGpu::new(device)?, Staged(rank), mesh)?)
                }
            })
        });
        match done {
            Ok(done) => done.into_iter().next().ok_or_else(|| ended("there is none".into())),
            Err(RankFailure { cause: Cause::Error(failure), .. }) => Err(failure),
            Err(RankFailure { rank, cause: Cause::Panic(panic) }) => {
                Err(ended(format!("rank {rank}: {panic}")))
            }
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

/// Ranks that ended without an error of theirs.
fn ended(message: String) -> Failure {
    let [device, operation] = ["ranks", "the work of a rank"].map(String::from);
    BackendError { device, operation, message }.into()
}
