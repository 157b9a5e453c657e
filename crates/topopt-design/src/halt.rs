//! The end of the loop over designs, as the error that its steps return.

use topopt_linalg::BackendError;

use crate::{DesignError, Ended, SolveError};

/// Why the loop ends.
pub(crate) enum Halt {
    Ended(Ended),
    Failed(DesignError),
}

impl SolveError {
    /// The end of a run in `iteration`.
    pub(crate) fn halt(self, iteration: usize) -> Halt {
        match self {
            Self::Backend(error) => Halt::Failed(error.into()),
            Self::Filter(outcome) => Halt::Ended(Ended::Filter { iteration, outcome }),
            Self::Interrupted => Halt::Ended(Ended::Interrupted),
            Self::NotConverged { load_case, outcome, tolerance } => {
                Halt::Ended(Ended::Solver { iteration, load_case, outcome, tolerance })
            }
        }
    }
}

impl From<DesignError> for Halt {
    fn from(error: DesignError) -> Self {
        Self::Failed(error)
    }
}

impl From<BackendError> for Halt {
    fn from(error: BackendError) -> Self {
        Self::Failed(error.into())
    }
}
