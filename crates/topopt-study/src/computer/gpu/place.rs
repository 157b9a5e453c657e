//! `Gpu`: a GPU in which a study is computed, by one process or by the ranks of a team.

use std::sync::Arc;

use topopt_case::finding::Finding;
use topopt_cuda::{Device, Nccl, Probe, Staged, probe};
use topopt_linalg::{BackendError, Communicator};

use super::on_gpu::OnGpu;
use crate::computer::{GroupName, OnEachRank, Visitor};
use crate::failure::Failure;

/// One GPU of this machine.
#[derive(Clone)]
pub struct Gpu(Arc<Device>);

/// A group of ranks with a GPU each, which reach each other by NCCL.
pub struct Group(Nccl);

impl Gpu {
    /// Number of GPUs that can be used.
    pub fn count() -> usize {
        match probe() {
            Probe::Found { devices, .. } => devices,
            _ => 0,
        }
    }

    /// GPU `number`, from 0.
    ///
    /// # Errors
    /// A finding if there is none that works.
    pub fn open(number: usize) -> Result<Self, Finding> {
        Device::open(number).map(Self).map_err(|error| {
            let remedy = "install or update the driver of the GPU, or leave `solver.device` and \
                          `--device` out to compute on the CPU";
            Finding::new(error.to_string()).remedy(remedy)
        })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.0
    }

    /// Name of the model, for people.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Does something on this GPU.
    ///
    /// # Errors
    /// What `visitor` returns, and a device that fails.
    pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> Result<V::Output, Failure> {
        visitor.visit(&OnGpu::new(&self.0)?)
    }

    /// Does `work` as one of `sharing` threads that share this GPU.
    ///
    /// # Errors
    /// Those of the work, and a device that fails.
    pub(crate) fn on_thread(
        &self,
        work: &impl OnEachRank,
        others: &dyn Communicator,
        sharing: usize,
    ) -> Result<(), Failure> {
        work.on_rank(OnGpu::new(&self.0)?, Staged(others), sharing)
    }

    /// Makes a name for a group of ranks, for the others to join it.
    ///
    /// # Errors
    /// [`BackendError`] if there is no NCCL.
    pub(crate) fn name_group(&self) -> Result<GroupName, BackendError> {
        Nccl::id()
    }

    /// Joins the group of `size` ranks with that `name` as `rank`; waits for all others.
    ///
    /// # Errors
    /// [`BackendError`] if there is no NCCL, or the group does not come about.
    pub(crate) fn join(
        &self,
        name: &GroupName,
        rank: usize,
        size: usize,
    ) -> Result<Group, BackendError> {
        Nccl::join(&self.0, rank, size, name).map(Group)
    }

    /// Does `work` as a rank of `group`.
    ///
    /// # Errors
    /// Those of the work, and a device that fails.
    pub(crate) fn on_process(&self, work: &impl OnEachRank, group: Group) -> Result<(), Failure> {
        work.on_rank(OnGpu::new(&self.0)?, group.0, 1)
    }
}
