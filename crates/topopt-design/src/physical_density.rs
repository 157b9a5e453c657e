//! From design variables to the density that is solved, counted and written.

use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{Backend, Pointwise, Space};

use crate::{DensityFilter, DesignSpace, DesignTransform, Projection};

/// The density filter, a projection if there is one, and the passive elements, whose density is
/// fixed whatever their neighbors are.
pub struct PhysicalDensity<'a, B: Backend> {
    filter: DensityFilter<'a, B>,
    projection: Option<Projection<B>>,
    /// Bounds of the density, which agree in passive elements.
    bounds: [B::Vector; 2],
    /// 1 in design elements, 0 in passive ones.
    mask: B::Vector,
    scratch: B::Vector,
}

impl<'a, B: Pointwise> PhysicalDensity<'a, B> {
    /// Vectors of one entry an element that it holds, besides what H and a projection do.
    pub const ELEMENT_VECTORS: usize = 7;

    /// From the filter's operator H and the bounds and passive elements of `space`.
    ///
    /// # Errors
    /// [`AveragingError`] if the device has no room, or H fails.
    pub fn new(
        backend: &B,
        weights: Box<dyn Averaging<B> + 'a>,
        space: &DesignSpace,
    ) -> Result<Self, AveragingError> {
        let upload = |values: &[f64]| backend.upload(values, Space::elements(values.len()));
        let is_design = |volume: &f64| f64::from(u8::from(*volume > 0.0));
        let mask: Vec<f64> = space.design_volumes().iter().map(is_design).collect();
        Ok(Self {
            filter: DensityFilter::new(backend, weights, &space.volumes)?,
            projection: None,
            bounds: [upload(&space.floor())?, upload(&space.ceiling())?],
            mask: upload(&mask)?,
            scratch: backend.zeros(Space::elements(mask.len()))?,
        })
    }

    /// With a projection after the filter.
    #[must_use]
    pub fn projected(self, projection: Projection<B>) -> Self {
        Self { projection: Some(projection), ..self }
    }

    /// Takes another operator H.
    pub(crate) fn set_weights(
        &mut self,
        weights: Box<dyn Averaging<B> + 'a>,
    ) -> Result<(), AveragingError> {
        self.filter.set_weights(weights)
    }

    /// Takes another sharpness of the projection, if there is one.
    pub(crate) fn set_sharpness(&mut self, sharpness: f64) {
        self.projection.iter_mut().for_each(|projection| projection.set_sharpness(sharpness));
    }
}

impl<B: Pointwise> DesignTransform<B> for PhysicalDensity<'_, B> {
    fn forward(
        &mut self,
        backend: &B,
        x: &B::Vector,
        y: &mut B::Vector,
    ) -> Result<(), AveragingError> {
        let Self { filter, projection, bounds: [floor, ceiling], scratch, .. } = self;
        match projection {
            Some(projection) => {
                filter.forward(backend, x, y)?;
                projection.forward(backend, y, scratch)?;
            }
            None => filter.forward(backend, x, scratch)?,
        }
        backend.scale_within(1.0, scratch, [floor, ceiling], y);
        Ok(())
    }

    fn backward(
        &mut self,
        backend: &B,
        dy: &B::Vector,
        dx: &mut B::Vector,
    ) -> Result<(), AveragingError> {
        let Self { filter, projection, mask, scratch, .. } = self;
        match projection {
            Some(projection) => {
                backend.multiply(dy, mask, dx);
                projection.backward(backend, dx, scratch)?;
            }
            None => backend.multiply(dy, mask, scratch),
        }
        filter.backward(backend, scratch, dx)
    }
}
