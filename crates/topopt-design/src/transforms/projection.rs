//! Projections of the filtered density, which make it nearly solid or empty.

use topopt_linalg::{BackendError, Pointwise, SmoothStep, Space};

use super::subpixel::Subpixel;
use crate::{Candidates, DesignTransform, Realization, Settings, Sizes, Transformed};

/// $y_e = a + (1 - a) \frac{t(\eta) + t(x_e - \eta)}{t(\eta) + t(1 - \eta)}, t(z) = \tanh \beta z$
/// \[WangLazarovSigmund2011\], which takes `[0, 1]` to `[a, 1]`: variables go down to 0, where the
/// density is a. With [`Subpixel`] it is of the means over corners, and from the first stage with a
/// half width on by that step, from a to 1 as well. With candidates there is such a step between
/// each two materials, steeper by as much as they are nearer to each other.
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
    /// Densities of one material alone, from 0 to 1.
    levels: Vec<f64>,
    subpixel: Option<Subpixel<'a, B>>,
    /// Whether `subpixel` is in force.
    is_subpixel: bool,
    /// Density or mean over corners that the last forward projected.
    point: B::Vector,
    /// Part of one of several steps.
    part: Option<B::Vector>,
}

/// Sharpness beyond which slopes far from the threshold round to 0.
const SHARPEST: f64 = 256.0;

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
            levels: vec![0.0, 1.0],
            subpixel: None,
            is_subpixel: false,
            point: backend.zeros(elements)?,
            part: None,
        })
    }

    /// Projects to the densities of `candidates`, too, with thresholds halfway between materials.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn with_candidates(
        self,
        backend: &B,
        candidates: &Candidates,
    ) -> Result<Self, BackendError> {
        let part = (!candidates.is_empty()).then(|| backend.zeros(self.elements));
        Ok(Self { levels: candidates.masses().collect(), part: part.transpose()?, ..self })
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

    /// The steps that add up to the projection.
    fn steps(&self) -> Vec<SmoothStep> {
        let pairs = self.levels.windows(2);
        pairs.map(|pair| self.step_between(pair[0], pair[1])).collect()
    }

    /// The step between two neighboring levels.
    fn step_between(&self, lower: f64, upper: f64) -> SmoothStep {
        let is_alone = self.levels.len() == 2;
        let center = if is_alone { self.threshold } else { 0.5 * (lower + upper) };
        let base = if lower == 0.0 { self.floor } else { 0.0 };
        let sharpness = (self.sharpness / (upper - lower)).min(SHARPEST);
        let below = (sharpness * center).tanh();
        let height = (upper - lower.max(base)) / (below + (sharpness * (1.0 - center)).tanh());
        SmoothStep { base: base + height * below, height, sharpness, center }
    }
}

impl<B: Pointwise> Projection<'_, B> {
    /// Writes the sum of the steps at the point to `y`.
    fn add_steps(&mut self, backend: &B, y: &mut B::Vector) {
        let steps = self.steps();
        backend.smooth_step(&steps[0], &self.point, y);
        let Some(part) = &mut self.part else { return };
        for step in &steps[1..] {
            backend.smooth_step(step, &self.point, part);
            backend.axpby(1.0, part, 1.0, y);
        }
    }

    /// Writes `dy` times the sum of their slopes there to `dx`.
    fn add_slopes(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) {
        let steps = self.steps();
        backend.copy(dy, dx);
        backend.smooth_step_slope(&steps[0], &self.point, dx);
        let Some(part) = &mut self.part else { return };
        for step in &steps[1..] {
            backend.copy(dy, part);
            backend.smooth_step_slope(step, &self.point, part);
            backend.axpby(1.0, part, 1.0, dx);
        }
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
            _ => self.add_steps(backend, y),
        }
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        let range = self.range();
        if let Some(subpixel) = self.subpixel.as_mut().filter(|_| self.is_subpixel) {
            subpixel.step_backward(backend, range, &self.point, (dy, dx));
            return Ok(());
        }
        self.add_slopes(backend, dy, dx);
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
