//! The smoothed Heaviside projection.

use topopt_linalg::{BackendError, Pointwise, SmoothStep, Space};

use crate::{DesignTransform, Stage, Transformed};

/// $y_e = a + (1 - a) \frac{t(\eta) + t(x_e - \eta)}{t(\eta) + t(1 - \eta)}, t(z) = \tanh \beta z$
/// \[WangLazarovSigmund2011\], which takes `[0, 1]` to `[a, 1]`: variables go down to 0, where the
/// density is a.
pub struct Projection<B: Pointwise> {
    elements: Space,
    /// a
    floor: f64,
    /// eta
    threshold: f64,
    step: SmoothStep,
    /// x of the last forward.
    point: B::Vector,
}

impl<B: Pointwise> Projection<B> {
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
        Ok(Self { elements, floor, threshold, step, point: backend.zeros(elements)? })
    }
}

impl<B: Pointwise> DesignTransform<B> for Projection<B> {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        backend.copy(x, &mut self.point);
        backend.smooth_step(&self.step, x, y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        backend.copy(dy, dx);
        backend.smooth_step_slope(&self.step, &self.point, dx);
        Ok(())
    }

    /// (y - a) / (1 - a), which takes the bounds of the density to those of x.
    fn inputs_for(&self, outputs: Vec<f64>) -> Vec<f64> {
        outputs.into_iter().map(|y| (y - self.floor) / (1.0 - self.floor)).collect()
    }

    fn enter(&mut self, _: &B, stage: &Stage) -> Transformed {
        if let Some(sharpness) = stage.sharpness {
            self.step = step(self.floor, self.threshold, sharpness);
        }
        Ok(())
    }
}

fn step(floor: f64, threshold: f64, sharpness: f64) -> SmoothStep {
    let (below, above) = ((sharpness * threshold).tanh(), (sharpness * (1.0 - threshold)).tanh());
    let height = (1.0 - floor) / (below + above);
    SmoothStep { base: floor + height * below, height, sharpness, center: threshold }
}
