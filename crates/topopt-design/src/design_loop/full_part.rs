//! Limits held against the full part before the first iteration.

use topopt_linalg::{Monitor, Pointwise};

use super::Optimization;
use crate::{DesignError, SolveError};

impl<B: Pointwise + Sync> Optimization<'_, B> {
    /// The limited responses of the full part, in which every design element is solid; none if its
    /// solve does not converge or `monitor` ends it. The run that follows is the same to the last
    /// bit as without.
    ///
    /// # Errors
    /// [`DesignError`] if the device fails.
    pub fn full_part(&mut self, monitor: &mut Monitor) -> Result<Option<Vec<f64>>, DesignError> {
        let [_, ceiling] = &self.bounds;
        match self.evaluator.limited_at(ceiling, monitor) {
            Ok(values) => Ok(Some(values)),
            Err(SolveError::Backend(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}
