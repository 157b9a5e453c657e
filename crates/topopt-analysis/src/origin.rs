//! States that are counted from another value than 0.

use topopt_fem::ProblemView;
use topopt_linalg::{BackendError, Pointwise};

use crate::linear::{Linear, Origin};

impl<B: Pointwise> Linear<'_, B> {
    /// Counts states of `problem` from `zero`: solves begin there, and are as exact as if it were 0. So
    /// states are the same wherever 0 is, to the rounding of doubles.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn count_from(&mut self, problem: &dyn ProblemView, zero: f64) -> Result<(), BackendError> {
        if zero == 0.0 {
            return Ok(());
        }
        let (backend, nodes) = (self.backend, problem.unknowns());
        let mut values = vec![zero; if backend.has_values() { nodes.len() } else { 0 }];
        problem.clear_held(&mut values);
        let state = backend.upload(&values, nodes)?;
        self.origin = Some(Origin { state, residual: backend.zeros(nodes)? });
        Ok(())
    }

    /// Computes the norm of what the origin leaves of the loads of load case `case`, as a share of
    /// that of the loads.
    pub(crate) fn share_of_loads(&mut self, case: usize) -> Result<f64, BackendError> {
        let Self { backend, solver, loads, origin, .. } = self;
        let Some(Origin { state, residual }) = origin else { return Ok(1.0) };
        let f = loads.forces(case);
        solver.of_whole().apply(state, residual);
        backend.axpby(1.0, f, -1.0, residual);
        let norm = |x: &B::Vector| Ok(backend.value(&backend.dot(x, x))?.sqrt());
        let share = norm(residual)? / norm(f)?;
        Ok(if share.is_normal() { share } else { 1.0 })
    }
}
