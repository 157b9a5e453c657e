//! Forces of a caller, which follow the density by a map of its own.

use std::sync::Arc;

use topopt_linalg::{Backend, BackendError, Space};

use crate::{HostMap, Pullback};

/// Forces f(x) on all nodes, `[n_nodes][n]`, 0 at held components.
pub struct OwnForces {
    map: Arc<dyn HostMap>,
    /// Way back at the density assembled last.
    pullback: Option<Pullback>,
}

impl OwnForces {
    /// Forces by `map`.
    pub fn new(map: Arc<dyn HostMap>) -> Self {
        Self { map, pullback: None }
    }

    /// Adds the forces at `density`, `[n_elements]`, to `f`.
    ///
    /// # Errors
    /// [`BackendError`] of the map.
    pub fn add(&mut self, density: &[f64], f: &mut [f64]) -> Result<(), BackendError> {
        let (forces, pullback) = self.map.evaluate(density)?;
        f.iter_mut().zip(forces).for_each(|(f, force)| *f += force);
        self.pullback = Some(pullback);
        Ok(())
    }

    /// Adds `factor` y . df/dx_e at the density assembled last to `out`, `[n_elements]`.
    ///
    /// # Errors
    /// [`BackendError`] of the map or of the transfer.
    pub fn add_work<B: Backend>(
        &self,
        backend: &B,
        factor: f64,
        y: &B::Vector,
        out: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let Some(pullback) = &self.pullback else { return Ok(()) };
        let work = pullback(&backend.download(y)?)?;
        let elements = Space::elements(work.len());
        backend.axpby(factor, &backend.upload(&work, elements)?, 1.0, out);
        Ok(())
    }
}
