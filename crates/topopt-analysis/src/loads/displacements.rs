//! Displacements of load cases: what is solved for, with prescribed values and rigid motions.

use topopt_fem::InertiaRelief;
use topopt_linalg::{Backend, BackendError};

use super::Loads;

impl<B: Backend> Loads<B> {
    /// u = v + u_D of load case `case`, and of a free part the rigid motion that makes it
    /// orthogonal to the inertia forces.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn total(
        &self,
        backend: &B,
        case: usize,
        v: &B::Vector,
        u: &mut B::Vector,
    ) -> Result<(), BackendError> {
        match &self.relief {
            Some(relief) => *u = backend.upload(&moved(backend, relief, v)?, self.nodes)?,
            None => backend.copy(v, u),
        }
        if let Some(prescribed) = &self.cases[case].prescribed {
            backend.axpby(1.0, &prescribed.displacements, 1.0, u);
        }
        Ok(())
    }

    /// Displacements of [`Loads::total`] in load case `case` on the host, `[n_nodes][n]`.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn displacement(
        &self,
        backend: &B,
        case: usize,
        free: &B::Vector,
    ) -> Result<Vec<f64>, BackendError> {
        let mut values = match &self.relief {
            Some(relief) => moved(backend, relief, free)?,
            None => backend.download(free)?,
        };
        if let Some(prescribed) = &self.cases[case].prescribed {
            let moved = backend.download(&prescribed.displacements)?;
            values.iter_mut().zip(moved).for_each(|(value, u)| *value += u);
        }
        Ok(values)
    }
}

/// Downloads `v` and makes it orthogonal to the inertia forces.
pub(super) fn moved<B: Backend>(
    backend: &B,
    relief: &InertiaRelief,
    v: &B::Vector,
) -> Result<Vec<f64>, BackendError> {
    let mut values = backend.download(v)?;
    if backend.has_values() {
        relief.remove_motions(&mut values);
    }
    Ok(values)
}
