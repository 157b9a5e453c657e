//! The filter of densities.

use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, Pointwise, Space};

use crate::{DesignTransform, Settings, Transformed, Weights};

/// $y_e = \sum_i H_{ei} v_i x_i / \sum_i H_{ei} v_i$ \[Bourdin2001\] \[BrunsTortorelli2001\], with
/// volumes v and a symmetric H.
pub struct DensityFilter<'a, B: Pointwise> {
    weights: Weights<'a, B>,
    /// v_e
    volumes: B::Vector,
    /// sum_i H_ei v_i
    row_sums: B::Vector,
    scratch: B::Vector,
}

impl<'a, B: Pointwise> DensityFilter<'a, B> {
    /// The filter with the operator H and the volume of every element, `[n_elements]`, > 0.
    ///
    /// # Errors
    /// [`AveragingError`] if the device has no room, or H fails.
    pub fn new(
        backend: &B,
        weights: Weights<'a, B>,
        volumes: &[f64],
    ) -> Result<Self, AveragingError> {
        let elements = weights.operator().space();
        let mut filter = Self {
            weights,
            volumes: backend.upload(volumes, elements)?,
            row_sums: backend.zeros(elements)?,
            scratch: backend.zeros(elements)?,
        };
        filter.sum_rows()?;
        Ok(filter)
    }

    /// Divides by `least_sums` where rows sum to less, `[n_elements]`: near faces of the mesh,
    /// where void is then outside. Ranks after the first pass none. Weights must not change
    /// afterwards.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub(crate) fn within_void(
        mut self,
        backend: &B,
        least_sums: &[f64],
    ) -> Result<Self, BackendError> {
        let elements = self.weights.operator().space();
        let least = backend.upload(least_sums, elements)?;
        backend.fill(f64::MAX, &mut self.scratch);
        let mut sums = backend.zeros(elements)?;
        backend.scale_within(1.0, &self.row_sums, [&least, &self.scratch], &mut sums);
        self.row_sums = sums;
        Ok(self)
    }

    fn sum_rows(&mut self) -> Transformed {
        self.weights.operator().apply(&self.volumes, &mut self.row_sums)
    }
}

impl<B: Pointwise> DesignTransform<B> for DensityFilter<'_, B> {
    fn inputs(&self) -> Space {
        self.weights.operator().space()
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        backend.multiply(&self.volumes, x, y);
        self.weights.operator().apply(y, &mut self.scratch)?; // H v x
        backend.divide(&self.scratch, &self.row_sums, y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        backend.divide(dy, &self.row_sums, dx);
        self.weights.operator().apply(dx, &mut self.scratch)?; // H^T = H
        backend.multiply(&self.volumes, &self.scratch, dx);
        Ok(())
    }

    fn enter(&mut self, _: &B, settings: &Settings) -> Transformed {
        if self.weights.enter(settings)? {
            self.sum_rows()?;
        }
        Ok(())
    }
}
