//! Designs s c kept within limits, and the factor s at which one of them takes a given volume.

use topopt_linalg::{BackendError, Pointwise};

use crate::root::find_root_from;

/// Relative accuracy at which a linear function counts as met.
const LINEAR_ACCURACY: f64 = 1e-14;
/// Relative accuracy at which a function that a transform makes nonlinear counts as met.
pub(crate) const ACCURACY: f64 = 1e-10;
/// Largest first step of the logarithm of a factor.
const STEP: f64 = 0.05;
/// Logarithm of a factor at which every design variable is at a limit.
const LARGEST_LOG: f64 = 460.0;

/// The designs x_i = min(upper_i, max(lower_i, s c_i)) for factors s > 0.
pub(crate) struct Scaled<'s, B: Pointwise> {
    pub backend: &'s B,
    /// c
    pub candidate: &'s B::Vector,
    /// lower and upper
    pub limits: [&'s B::Vector; 2],
}

impl<B: Pointwise> Scaled<'_, B> {
    /// Writes the design of factor `scale`.
    pub fn write(&self, scale: f64, design: &mut B::Vector) {
        self.backend.scale_within(scale, self.candidate, self.limits, design);
    }

    /// Sum of `weights` times the design of factor `scale`.
    fn sum(&self, weights: &B::Vector, scale: f64) -> Result<f64, BackendError> {
        let Self { backend, candidate, limits } = *self;
        backend.value(&backend.dot_scaled_within(scale, candidate, limits, weights))
    }

    /// The factor at which the sum of `weights`, >= 0, times the design is `target`, or that of the
    /// nearest design.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn bisect(&self, weights: &B::Vector, target: f64) -> Result<f64, BackendError> {
        let sum = |scale: f64| self.sum(weights, scale);

        // Sensitivities have any unit, and lambda with them: large steps, to the limits of doubles.
        let (mut low, mut high) = (0.0, 1.0);
        while sum(high)? < target {
            low = high;
            high *= 16.0;
            if high > 1e200 {
                return Ok(high); // out of reach: everything at its upper limit
            }
        }

        loop {
            let middle = 0.5 * (low + high);
            let found = sum(middle)?;
            let met = (found - target).abs() <= LINEAR_ACCURACY * target;
            if met || middle <= low || middle >= high || high < 1e-200 {
                return Ok(middle);
            }
            if found < target { low = middle } else { high = middle }
        }
    }

    /// Derivative of the sum of `weights` times the design by log s at `scale`, by a difference.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn slope(&self, weights: &B::Vector, scale: f64) -> Result<f64, BackendError> {
        let step = STEP / 16.0;
        Ok((self.sum(weights, scale * step.exp())? - self.sum(weights, scale)?) / step)
    }

    /// Writes to `design` the one at which `excess`, which grows with the factor, vanishes to
    /// [`ACCURACY`] times `target`, or the nearest to it. The search starts from `scale`, along the
    /// `slope` of the excess by log s there if that is known. Returns the factor.
    ///
    /// # Errors
    /// The first error of `excess`.
    pub fn meet<E>(
        &self,
        (scale, slope): (f64, Option<f64>),
        target: f64,
        design: &mut B::Vector,
        excess: &mut dyn FnMut(&B::Vector) -> Result<f64, E>,
    ) -> Result<f64, E> {
        let mut found = scale;
        let step = |excess: f64| slope.map_or(STEP, |slope| (excess / slope).min(STEP));
        find_root_from(scale.ln(), step, LARGEST_LOG, ACCURACY * target, |log| {
            found = log.exp();
            self.write(found, design);
            excess(design)
        })?;
        Ok(found)
    }
}
