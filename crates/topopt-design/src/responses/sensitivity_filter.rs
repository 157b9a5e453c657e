//! The mesh-independency filter of sensitivities.

use topopt_fem::AveragingError;
use topopt_linalg::Pointwise;

use crate::{Settings, Weights};

/// dC^_e / v_e = sum_i H_ei v_i rho_i (dC_i / v_i) / (rho_e sum_i H_ei v_i): the filter of
/// [Ratnakar2022, Eq. 2.6] for what a sensitivity is per volume, averaged by weight times volume.
///
/// A sensitivity is proportional to the volume v of its element, so that averages of sensitivities
/// themselves empty large elements beside small ones. Where all volumes are equal they cancel; with
/// 1 for all of them this is the form of the thesis.
///
/// Densities below a thousandth count as that where they divide \[Andreassen2011\].
///
/// What it gives is the gradient of no function. It is known to lead to good designs for the
/// compliance, whose sensitivities are negative.
pub struct SensitivityFilter<'a, B: Pointwise> {
    weights: Weights<'a, B>,
    /// v_e
    volumes: B::Vector,
    /// sum_i H_ei v_i / v_e
    row_sums: B::Vector,
    density_min: f64,
}

/// The smallest density that divides.
const LEAST: f64 = 1e-3;

impl<'a, B: Pointwise> SensitivityFilter<'a, B> {
    /// The filter with the operator H, the volume of every element, `[n_elements]`, > 0, and the
    /// smallest density.
    ///
    /// # Errors
    /// [`AveragingError`] if the device has no room, or H fails.
    pub fn new(
        backend: &B,
        weights: Weights<'a, B>,
        volumes: &[f64],
        density_min: f64,
    ) -> Result<Self, AveragingError> {
        let elements = weights.operator().space();
        let mut filter = Self {
            weights,
            volumes: backend.upload(volumes, elements)?,
            row_sums: backend.zeros(elements)?,
            density_min,
        };
        filter.sum_rows(backend)?;
        Ok(filter)
    }

    /// Takes the radius in `settings`.
    ///
    /// # Errors
    /// [`AveragingError`] if the device has no room, or H fails.
    pub(crate) fn enter(&mut self, backend: &B, settings: &Settings) -> Result<(), AveragingError> {
        if self.weights.enter(settings)? {
            self.sum_rows(backend)?;
        }
        Ok(())
    }

    fn sum_rows(&mut self, backend: &B) -> Result<(), AveragingError> {
        let weights = self.weights.operator();
        let mut sums = backend.zeros(weights.space())?;
        weights.apply(&self.volumes, &mut sums)?;
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
        weights.operator().apply(scratch, sensitivities)?; // H rho dC
        backend.divide(sensitivities, row_sums, scratch);
        if self.density_min >= LEAST {
            backend.divide(scratch, density, sensitivities);
            return Ok(());
        }

        // max(rho, LEAST) = max(0, rho - LEAST) + LEAST
        let mut shifted = backend.zeros(weights.operator().space())?;
        let mut divisor = backend.zeros(weights.operator().space())?;
        backend.fill(-LEAST, &mut shifted);
        backend.axpby(1.0, density, 1.0, &mut shifted);
        backend.positive_part(1.0, &shifted, &mut divisor);
        backend.fill(LEAST, &mut shifted);
        backend.axpby(1.0, &shifted, 1.0, &mut divisor);
        backend.divide(scratch, &divisor, sensitivities);
        Ok(())
    }
}
