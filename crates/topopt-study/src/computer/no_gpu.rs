//! Stand-in for GPUs in a program without the feature `cuda`: there is none.

use topopt_case::finding::Finding;
use topopt_linalg::{BackendError, Communicator};

use super::{GroupName, OnEachRank, Visitor};
use crate::failure::Failure;

/// A GPU, which this program does not have.
#[derive(Clone)]
pub enum Gpu {}

/// A group of ranks with a GPU each, which this program does not have.
pub enum Group {}

impl Gpu {
    /// Returns 0, the number of GPUs that can be used.
    pub fn count() -> usize {
        0
    }

    /// Refuses every GPU.
    ///
    /// # Errors
    /// A finding always.
    pub fn open(_number: usize) -> Result<Self, Finding> {
        let remedy = "leave `solver.device` and `--device` out to compute on the CPU, or build the program \
                      with its feature `cuda`, which it has by default";
        Err(Finding::new("this program is built without CUDA").remedy(remedy))
    }

    /// Name of the model.
    pub fn name(&self) -> &str {
        match *self {}
    }

    pub(crate) fn visit<V: Visitor>(&self, _visitor: V) -> Result<V::Output, Failure> {
        match *self {}
    }

    pub(crate) fn on_thread(
        &self,
        _work: &impl OnEachRank,
        _others: &dyn Communicator,
        _sharing: usize,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub(crate) fn name_group(&self) -> Result<GroupName, BackendError> {
        match *self {}
    }

    pub(crate) fn join(
        &self,
        _name: &GroupName,
        _rank: usize,
        _size: usize,
    ) -> Result<Group, BackendError> {
        match *self {}
    }

    pub(crate) fn on_process(&self, _work: &impl OnEachRank, _group: Group) -> Result<(), Failure> {
        match *self {}
    }
}
