//! Projections of the filtered density, which make it nearly solid or empty.

use topopt_linalg::{BackendError, Pointwise, SmoothStep, Space};

use super::subpixel::Subpixel;
use crate::{DesignTransform, Settings, Transformed};

/// $y_e = a + (1 - a) \frac{t(\eta) + t(x_e - \eta)}{t(\eta) + t(1 - \eta)}, t(z) = \tanh \beta z$
/// \[WangLazarovSigmund2011\], which takes `[0, 1]` to `[a, 1]`: variables go down to 0, where the
/// density is a. With [`Subpixel`] it is of the means over corners, and from the first stage with a
/// half width on by that step, from a to 1 as well.
pub struct Projection<'a, B: Pointwise> {
    elements: Space,
    /// a
    floor: f64,
    /// eta
    threshold: f64,
    step: SmoothStep,
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
        let step = step(floor, threshold, sharpness);
        let elements = Space::elements(n);
        let point = backend.zeros(elements)?;
        Ok(Self { elements, floor, threshold, step, subpixel: None, is_subpixel: false, point })
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
            _ => backend.smooth_step(&self.step, &self.point, y),
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
        backend.smooth_step_slope(&self.step, &self.point, dx);
        if let Some(subpixel) = &mut self.subpixel {
            subpixel.values_backward(backend, dx);
        }
        Ok(())
    }

    /// (y - a) / (1 - a), which takes the bounds of the density to those of x.
    fn inputs_for(&self, outputs: Vec<f64>) -> Vec<f64> {
        outputs.into_iter().map(|y| (y - self.floor) / (1.0 - self.floor)).collect()
    }

    fn enter(&mut self, _: &B, settings: &Settings) -> Transformed {
        if let Some(sharpness) = settings.sharpness {
            self.step = step(self.floor, self.threshold, sharpness);
        }
        if let (Some(half_width), Some(subpixel)) = (settings.half_width, &mut self.subpixel) {
            subpixel.set(half_width, settings.is_frozen);
            self.is_subpixel = true;
        }
        Ok(())
    }
}

fn step(floor: f64, threshold: f64, sharpness: f64) -> SmoothStep {
    let (below, above) = ((sharpness * threshold).tanh(), (sharpness * (1.0 - threshold)).tanh());
    let height = (1.0 - floor) / (below + above);
    SmoothStep { base: floor + height * below, height, sharpness, center: threshold }
}
