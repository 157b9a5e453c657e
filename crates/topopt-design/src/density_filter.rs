//! The filter of densities.

use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{Backend, Pointwise, Space};

use crate::DesignTransform;

/// y_e = sum_i H_ei v_i x_i / sum_i H_ei v_i \[Bourdin2001\] \[BrunsTortorelli2001\], with volumes
/// v and a symmetric H.
pub struct DensityFilter<'a, B: Backend> {
    weights: Box<dyn Averaging<B> + 'a>,
    /// v_e
    volumes: B::Vector,
    /// sum_i H_ei v_i
    row_sums: B::Vector,
    scratch: B::Vector,
}

impl<'a, B: Pointwise> DensityFilter<'a, B> {
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
        let volumes = backend.upload(volumes, elements)?;
        let (row_sums, scratch) = (backend.zeros(elements)?, backend.zeros(elements)?);
        let mut filter = Self { weights, volumes, row_sums, scratch };
        filter.weights.apply(&filter.volumes, &mut filter.row_sums)?;
        Ok(filter)
    }

    /// Takes another operator H.
    ///
    /// # Errors
    /// [`AveragingError`] if H fails.
    pub fn set_weights(
        &mut self,
        weights: Box<dyn Averaging<B> + 'a>,
    ) -> Result<(), AveragingError> {
        self.weights = weights;
        self.weights.apply(&self.volumes, &mut self.row_sums)
    }
}

impl<B: Pointwise> DesignTransform<B> for DensityFilter<'_, B> {
    fn forward(
        &mut self,
        backend: &B,
        x: &B::Vector,
        y: &mut B::Vector,
    ) -> Result<(), AveragingError> {
        backend.multiply(&self.volumes, x, y);
        self.weights.apply(y, &mut self.scratch)?; // H v x
        backend.divide(&self.scratch, &self.row_sums, y);
        Ok(())
    }

    fn backward(
        &mut self,
        backend: &B,
        dy: &B::Vector,
        dx: &mut B::Vector,
    ) -> Result<(), AveragingError> {
        backend.divide(dy, &self.row_sums, dx);
        self.weights.apply(dx, &mut self.scratch)?; // H^T = H
        backend.multiply(&self.volumes, &self.scratch, dx);
        Ok(())
    }
}
