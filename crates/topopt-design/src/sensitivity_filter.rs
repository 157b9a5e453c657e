//! The mesh-independency filter of sensitivities.

use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{Backend, Pointwise, Space};

/// dC^_e / v_e = sum_i H_ei v_i rho_i (dC_i / v_i) / (rho_e sum_i H_ei v_i): the filter of
/// [Ratnakar2022, Eq. 2.6] for what a sensitivity is per volume, averaged by weight times volume.
///
/// A sensitivity is proportional to the volume v of its element, so that averages of sensitivities
/// themselves empty large elements beside small ones. Where all volumes are equal they cancel; with
/// 1 for all of them this is the form of the thesis.
pub struct SensitivityFilter<'a, B: Backend> {
    weights: Box<dyn Averaging<B> + 'a>,
    /// v_e
    volumes: B::Vector,
    /// sum_i H_ei v_i / v_e
    row_sums: B::Vector,
}

impl<'a, B: Pointwise> SensitivityFilter<'a, B> {
    /// Vectors of one entry per element that it holds, besides what H does.
    pub const ELEMENT_VECTORS: usize = 2;

    /// From the operator H and the volume of every element, \[n_elements\], > 0.
    ///
    /// # Errors
    /// [`AveragingError`] if the device has no room, or H fails.
    pub fn new(
        backend: &B,
        weights: Box<dyn Averaging<B> + 'a>,
        volumes: &[f64],
    ) -> Result<Self, AveragingError> {
        let elements = Space::elements(volumes.len());
        let row_sums = backend.zeros(elements)?;
        let mut filter = Self { weights, volumes: backend.upload(volumes, elements)?, row_sums };
        filter.sum_rows(backend)?;
        Ok(filter)
    }

    /// Takes another operator H.
    ///
    /// # Errors
    /// [`AveragingError`] if the device has no room, or H fails.
    pub fn set_weights(
        &mut self,
        backend: &B,
        weights: Box<dyn Averaging<B> + 'a>,
    ) -> Result<(), AveragingError> {
        self.weights = weights;
        self.sum_rows(backend)
    }

    fn sum_rows(&mut self, backend: &B) -> Result<(), AveragingError> {
        let mut sums = backend.zeros(self.weights.space())?;
        self.weights.apply(&self.volumes, &mut sums)?;
        backend.divide(&sums, &self.volumes, &mut self.row_sums);
        Ok(())
    }

    /// Replaces `sensitivities` by the filtered ones; `scratch` is overwritten.
    ///
    /// # Errors
    /// [`AveragingError`] if H fails.
    pub fn apply(
        &self,
        backend: &B,
        density: &B::Vector,
        sensitivities: &mut B::Vector,
        scratch: &mut B::Vector,
    ) -> Result<(), AveragingError> {
        let Self { weights, row_sums, .. } = self;
        backend.multiply(density, sensitivities, scratch); // rho dC
        weights.apply(scratch, sensitivities)?; // H rho dC
        backend.divide(sensitivities, row_sums, scratch);
        backend.divide(scratch, density, sensitivities);
        Ok(())
    }
}
