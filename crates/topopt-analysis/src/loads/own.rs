//! Forces of a caller in the load cases.

use std::sync::Arc;

use topopt_linalg::{Backend, BackendError};

use super::Loads;
use crate::HostMap;
use crate::own_forces::OwnForces;

impl<B: Backend> Loads<B> {
    /// Adds forces of the caller's to load case `case`: `map` makes them of the density,
    /// `[n_nodes][n]`, 0 at held components. Not for free parts.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn add_own(
        &mut self,
        backend: &B,
        case: usize,
        map: Arc<dyn HostMap>,
    ) -> Result<(), BackendError> {
        let case = &mut self.cases[case];
        if case.constant.is_empty() {
            case.constant = backend.download(&case.forces)?;
        }
        case.own.push(OwnForces::new(map));
        Ok(())
    }
}
