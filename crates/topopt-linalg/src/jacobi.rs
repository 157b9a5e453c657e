//! The Jacobi preconditioner.

use crate::{Backend, BackendError, Pointwise, Preconditioner, Space};

/// The Jacobi preconditioner: M is the diagonal of A.
pub struct Diagonal<B: Backend> {
    inverse: B::Vector,
}

impl<B: Pointwise> Diagonal<B> {
    /// From the diagonal of A in `space`, which must be positive.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, diagonal: &B::Vector, space: Space) -> Result<Self, BackendError> {
        let mut preconditioner = Self { inverse: backend.zeros(space)? };
        preconditioner.update(backend, diagonal);
        Ok(preconditioner)
    }

    /// Takes the diagonal of a changed A.
    pub fn update(&mut self, backend: &B, diagonal: &B::Vector) {
        backend.power(1.0, diagonal, -1.0, &mut self.inverse);
    }
}

impl<B: Backend> Preconditioner<B> for Diagonal<B> {
    fn name(&self) -> &'static str {
        "jacobi"
    }

    fn apply(&self, backend: &B, r: &B::Vector, z: &mut B::Vector) {
        backend.multiply(&self.inverse, r, z);
    }

    fn apply_and_dot(&self, backend: &B, r: &B::Vector, z: &mut B::Vector, rz: &mut B::Scalar) {
        backend.multiply_dot(&self.inverse, r, z, rz);
    }
}
