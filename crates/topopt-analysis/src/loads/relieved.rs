//! Loads of a free part, balanced by its inertia.

use topopt_fem::InertiaRelief;
use topopt_linalg::{Backend, BackendError, Space};

use super::Loads;
use super::displacements::moved;

impl<B: Backend> Loads<B> {
    /// Balances an adjoint load dg/du, `[n_nodes][n]`, of a free part by its inertia; none where
    /// nothing is free.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn balance_adjoint(
        &mut self,
        backend: &B,
        load: &B::Vector,
    ) -> Result<Option<B::Vector>, BackendError> {
        let Some(relief) = &self.relief else { return Ok(None) };
        let mut load = backend.download(load)?;
        if backend.has_values() {
            self.adjoint = relief.acceleration(&load);
            relief.subtract_inertia(&self.adjoint, &mut load);
            relief.clear_pins(&mut load);
        }
        backend.upload(&load, self.nodes).map(Some)
    }

    /// Subtracts m . dF^T/drho_e u with the acceleration m of the last adjoint load from `out`,
    /// `[n_elements]`, where a part is free; `v` is the state u except for a rigid motion.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn subtract_adjoint_inertia(
        &self,
        backend: &B,
        v: &B::Vector,
        out: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let Some(relief) = &self.relief else { return Ok(()) };
        let u = moved(backend, relief, v)?;
        let works = match backend.has_values() {
            true => relief.work(&self.adjoint, &u),
            false => Vec::new(),
        };
        let works = backend.upload(&works, Space::elements(relief.n_elements()))?;
        backend.axpby(-1.0, &works, 1.0, out);
        Ok(())
    }

    /// y_e . (df_e/drho_e - dF_e/drho_e a) of load case `case`, `[n_elements]`, for what
    /// [`Loads::total`] makes of `y`.
    pub(super) fn relieved_work(
        &self,
        backend: &B,
        relief: &InertiaRelief,
        case: usize,
        y: &B::Vector,
    ) -> Result<B::Vector, BackendError> {
        let case = &self.cases[case];
        let y = moved(backend, relief, y)?;
        let mut works = Vec::new();
        if backend.has_values() {
            works = relief.work(&case.acceleration, &y);
            works.iter_mut().for_each(|work| *work = -*work);
            let own = case.weight_loads.iter().flat_map(|loads| loads.work(&y));
            works.iter_mut().zip(own).for_each(|(work, own)| *work += own);
        }
        backend.upload(&works, Space::elements(relief.n_elements()))
    }
}
