//! The end of the loop over designs, as the error that its steps return.

use topopt_linalg::BackendError;

use crate::{DesignError, Ended, SolveError};

/// Why the loop ends.
pub(crate) enum Halt {
    Ended(Ended),
    Failed(DesignError),
}

impl Halt {
    /// The end of a run by `error` in `iteration`.
    pub fn by(error: SolveError, iteration: usize) -> Self {
        match error {
            SolveError::Backend(error) => Self::Failed(error.into()),
            SolveError::Filter(outcome) => Self::Ended(Ended::Filter { iteration, outcome }),
            SolveError::Interrupted => Self::Ended(Ended::Interrupted),
            SolveError::NotConverged { load_case, outcome, tolerance } => {
                Self::Ended(Ended::Solver { iteration, load_case, outcome, tolerance })
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
