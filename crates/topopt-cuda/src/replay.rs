//! Work that is recorded once and replayed: one call to the driver in place of hundreds.

use std::sync::Arc;

use cudarc::driver::CudaGraph;
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use topopt_linalg::BackendError;

use crate::Device;
use crate::scalars::{Kept, Scalars};

/// Recorded work, on the arrays and with the numbers that it was recorded with.
pub struct Replay {
    graph: CudaGraph,
    /// Places of the scalars to which the work writes.
    _kept: Kept,
}

// SAFETY: a graph may be used from any thread, by one at a time: only a `&mut` of it can be used.
unsafe impl Send for Replay {}
// SAFETY: as above.
unsafe impl Sync for Replay {}

impl Device {
    /// Records what `work` launches, which is not done then, with its `scalars`. It must neither
    /// allocate nor wait.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub(crate) fn recorded(
        &self,
        scalars: &Arc<Scalars>,
        work: impl FnOnce(),
    ) -> Result<Replay, BackendError> {
        let failed = |error| self.error("recording work", error);
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.stream().begin_capture(mode).map_err(failed)?;
        let ((), kept) = scalars.recorded(work);
        let graph = self.stream().end_capture(CUgraphInstantiate_flags(0)).map_err(failed)?;
        graph.map(|graph| Replay { graph, _kept: kept }).ok_or_else(|| BackendError {
            device: self.name().into(),
            operation: "recording work".into(),
            message: "there was none".into(),
        })
    }

    /// Does recorded work once more.
    pub(crate) fn replay(&self, replay: &mut Replay) {
        self.record("replaying work", replay.graph.launch());
    }
}
