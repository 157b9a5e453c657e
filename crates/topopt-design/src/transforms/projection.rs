//! Projections of the filtered density, which make it nearly solid or empty.

use topopt_linalg::{BackendError, Pointwise, SmoothStep, Space};

use super::subpixel::Subpixel;
use crate::{DesignTransform, Realization, Settings, Sizes, Transformed};

/// $y_e = a + (1 - a) \frac{t(\eta) + t(x_e - \eta)}{t(\eta) + t(1 - \eta)}, t(z) = \tanh \beta z$
/// \[WangLazarovSigmund2011\], which takes `[0, 1]` to `[a, 1]`: variables go down to 0, where the
/// density is a. With [`Subpixel`] it is of the means over corners, and from the first stage with a
/// half width on by that step, from a to 1 as well.
pub struct Projection<'a, B: Pointwise> {
    elements: Space,
    /// a
    floor: f64,
    /// eta of the design that is made.
    threshold: f64,
    /// eta of the built design, and of thinner and thicker ones.
    built: f64,
    sizes: Option<Sizes>,
    /// beta
    sharpness: f64,
    subpixel: Option<Subpixel<'a, B>>,
    /// Whether `subpixel` is in force.
    is_subpixel: bool,
    /// Density or mean over corners that the last forward projected.
    point: B::Vector,
}

impl<'a, B: Pointwise> Projection<'a, B> {
    /// The projection of `n` elements, with smallest density a, threshold eta, 0 < eta < 1, and
    /// sharpness 0 < beta <= 256: beyond, slopes far from the threshold round to 0.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        n: usize,
        floor: f64,
        threshold: f64,
        sharpness: f64,
    ) -> Result<Self, BackendError> {
        let elements = Space::elements(n);
        Ok(Self {
            elements,
            floor,
            threshold,
            built: threshold,
            sizes: None,
            sharpness,
            subpixel: None,
            is_subpixel: false,
            point: backend.zeros(elements)?,
        })
    }

    /// Makes thinner and thicker designs, too.
    #[must_use]
    pub fn with_sizes(self, sizes: Option<Sizes>) -> Self {
        Self { sizes, ..self }
    }

    /// Adds the projection of stages with a half width.
    #[must_use]
    pub fn with_subpixel(self, subpixel: Subpixel<'a, B>) -> Self {
        Self { subpixel: Some(subpixel), ..self }
    }

    /// Base, height and level of the step of `subpixel`.
    fn range(&self) -> [f64; 3] {
        [self.floor, 1.0 - self.floor, self.threshold]
    }

    fn step(&self) -> SmoothStep {
        let &Self { floor, threshold, sharpness, .. } = self;
        let below = (sharpness * threshold).tanh();
        let height = (1.0 - floor) / (below + (sharpness * (1.0 - threshold)).tanh());
        SmoothStep { base: floor + height * below, height, sharpness, center: threshold }
    }
}

impl<B: Pointwise> DesignTransform<B> for Projection<'_, B> {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        let range = self.range();
        match &mut self.subpixel {
            Some(subpixel) => subpixel.values(backend, x, &mut self.point),
            None => backend.copy(x, &mut self.point),
        }
        match &mut self.subpixel {
            Some(subpixel) if self.is_subpixel => {
                subpixel.step(backend, range, &self.point, y);
            }
            _ => backend.smooth_step(&self.step(), &self.point, y),
        }
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        let range = self.range();
        if let Some(subpixel) = self.subpixel.as_mut().filter(|_| self.is_subpixel) {
            subpixel.step_backward(backend, range, &self.point, (dy, dx));
            return Ok(());
        }
        backend.copy(dy, dx);
        backend.smooth_step_slope(&self.step(), &self.point, dx);
        if let Some(subpixel) = &mut self.subpixel {
            subpixel.values_backward(backend, dx);
        }
        Ok(())
    }

    /// (y - a) / (1 - a), which takes the bounds of the density to those of x.
    fn inputs_for(&self, outputs: Vec<f64>) -> Vec<f64> {
        outputs.into_iter().map(|y| (y - self.floor) / (1.0 - self.floor)).collect()
    }

    fn realize(&mut self, realization: Realization) {
        self.threshold = match (realization, self.sizes) {
            (Realization::Eroded, Some(sizes)) => sizes.eroded,
            (Realization::Dilated, Some(sizes)) => sizes.dilated,
            _ => self.built,
        };
    }

    fn enter(&mut self, _: &B, settings: &Settings) -> Transformed {
        self.sharpness = settings.sharpness.unwrap_or(self.sharpness);
        if let (Some(half_width), Some(subpixel)) = (settings.half_width, &mut self.subpixel) {
            subpixel.set(half_width, settings.is_frozen);
            self.is_subpixel = true;
        }
        Ok(())
    }
}
