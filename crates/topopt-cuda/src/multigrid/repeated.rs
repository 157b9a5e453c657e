//! Work that is recorded once and replayed.

use topopt_linalg::Backend;

use crate::Cuda;
use crate::replay::Replay;
use crate::vector::Real;

/// Work that is the same every time; once it has been recorded, if it can be.
pub(super) struct Repeated {
    is_recorded: bool,
    recorded: Option<Replay>,
}

impl Repeated {
    /// Builds work that will be recorded, if it can be.
    pub fn new(is_recorded: bool) -> Self {
        Self { is_recorded, recorded: None }
    }

    /// Does it once more.
    pub fn repeat<R: Real>(&mut self, backend: &Cuda<R>, work: &mut dyn FnMut()) {
        match self.is_recorded {
            true => backend.repeat(&mut self.recorded, work),
            false => work(),
        }
    }

    /// Drops the recording, since the work changes.
    pub fn forget(&mut self) {
        self.recorded = None;
    }
}
