//! `Passive`: fixed densities of passive elements, as a transform of the design.

use rayon::prelude::*;
use topopt_linalg::{BackendError, Pointwise, Space};

use crate::{DesignSpace, DesignTransform, Transformed};

/// Clamps the densities, y = min(max(x, floor), ceiling); in passive elements both bounds are the
/// fixed density.
pub struct Passive<B: Pointwise> {
    elements: Space,
    /// Lower and upper bound of the density, `[n_elements]` each; equal in passive elements.
    bounds: [B::Vector; 2],
    /// 1 in design elements, 0 in passive ones, `[n_elements]`.
    mask: B::Vector,
}

impl<B: Pointwise> Passive<B> {
    /// The transform for the bounds and passive elements of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, space: &DesignSpace) -> Result<Self, BackendError> {
        let elements = Space::elements(space.n_elements());
        let upload = |values: &[f64]| backend.upload(values, elements);
        let is_design = |volume: &f64| f64::from(*volume > 0.0);
        let mask: Vec<f64> = space.design_volumes().par_iter().map(is_design).collect();
        Ok(Self {
            elements,
            bounds: [upload(&space.floor())?, upload(&space.ceiling())?],
            mask: upload(&mask)?,
        })
    }
}

impl<B: Pointwise> DesignTransform<B> for Passive<B> {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        let [floor, ceiling] = &self.bounds;
        backend.scale_within(1.0, x, [floor, ceiling], y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        backend.multiply(dy, &self.mask, dx);
        Ok(())
    }
}
