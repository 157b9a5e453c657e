//! A step smoothed by the hyperbolic tangent.

/// s(x) = base + height tanh(sharpness (x - center)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothStep {
    /// s at the center.
    pub base: f64,
    /// Half of the rise from far below the center to far above it.
    pub height: f64,
    /// How steep the step is, > 0.
    pub sharpness: f64,
    /// Position of the step, in x.
    pub center: f64,
}

impl SmoothStep {
    /// s(x).
    pub fn value(&self, x: f64) -> f64 {
        self.base + self.height * (self.sharpness * (x - self.center)).tanh()
    }

    /// ds/dx. It is above 0 as long as |sharpness (x - center)| < 355, unlike 1 - tanh^2, which
    /// rounds to 0 beyond 19.
    pub fn slope(&self, x: f64) -> f64 {
        let c = (self.sharpness * (x - self.center)).cosh();
        self.height * self.sharpness / (c * c)
    }
}
