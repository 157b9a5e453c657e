//! The mesh-independency filter of sensitivities.

use topopt_linalg::{Backend, BackendError, LinearOperator};

/// dC^_e = sum_i H_ei rho_i dC_i / (rho_e sum_i H_ei) [Ratnakar2022, Eq. 2.6].
pub struct SensitivityFilter<'a, B: Backend> {
    weights: Box<dyn LinearOperator<B> + 'a>,
    /// sum_i H_ei
    row_sums: B::Vector,
}

impl<'a, B: Backend> SensitivityFilter<'a, B> {
    /// Vectors of one entry an element that it holds, besides what H does.
    pub const ELEMENT_VECTORS: usize = 1;

    /// From the operator H.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        weights: Box<dyn LinearOperator<B> + 'a>,
    ) -> Result<Self, BackendError> {
        let n = weights.dimension();
        let (mut row_sums, mut ones) = (backend.zeros(n)?, backend.zeros(n)?);
        backend.fill(1.0, &mut ones);
        weights.apply(&ones, &mut row_sums);
        Ok(Self { weights, row_sums })
    }

    /// Replaces `sensitivities` by the filtered ones; `scratch` is overwritten.
    pub fn apply(
        &self,
        backend: &B,
        density: &B::Vector,
        sensitivities: &mut B::Vector,
        scratch: &mut B::Vector,
    ) {
        let Self { weights, row_sums } = self;
        backend.multiply(density, sensitivities, scratch); // rho dC
        weights.apply(scratch, sensitivities); // H rho dC
        backend.divide(sensitivities, row_sums, scratch);
        backend.divide(scratch, density, sensitivities);
    }
}
