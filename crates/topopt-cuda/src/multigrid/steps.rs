//! Steps of conjugate gradients in the precision of the cycle, between residuals in double
//! precision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use topopt_linalg::{Backend, BackendError, Pcg, Space};

use super::convert::Convert;
use super::repeated::Repeated;
use crate::Cuda;
use crate::vector::{DeviceVector, Real};

/// Vectors and recorded cycle for the steps of solves in precision `R`.
pub(super) struct Steps<R: Real> {
    vectors: Mutex<Vectors<R>>,
    /// The cycle from the residual of `Vectors::pcg` to its image.
    cycle: Mutex<Repeated>,
}

/// Conjugate gradients, the residual that they begin with, and what they make of it.
pub(super) struct Vectors<R: Real> {
    pub convert: Convert<R>,
    pub pcg: Pcg<Cuda<R>>,
    pub residual: DeviceVector<R>,
    pub correction: DeviceVector<R>,
}

impl<R: Real> Steps<R> {
    /// Vectors for operators of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &Cuda<R>, space: Space) -> Result<Self, BackendError> {
        let vectors = Vectors {
            convert: Convert::load(backend.device())?,
            pcg: Pcg::new(backend, space)?,
            residual: backend.zeros(space)?,
            correction: backend.zeros(space)?,
        };
        // Nobody exchanges anything in a solve on one device.
        Ok(Self { vectors: Mutex::new(vectors), cycle: Mutex::new(Repeated::new(true)) })
    }

    /// Bytes for a space of that many unknowns.
    pub fn bytes(unknowns: usize) -> usize {
        6 * size_of::<R>() * unknowns
    }

    /// Drops the recording of the cycle, which has changed.
    pub fn forget(&self) {
        self.cycle().forget();
    }

    /// Returns the recorded cycle.
    pub fn cycle(&self) -> MutexGuard<'_, Repeated> {
        self.cycle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the vectors.
    pub fn vectors(&self) -> MutexGuard<'_, Vectors<R>> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
