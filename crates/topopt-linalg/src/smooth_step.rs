//! A step smoothed by the hyperbolic tangent.

/// s(x) = base + height tanh(sharpness (x - center)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothStep {
    /// s at the center.
    pub base: f64,
    /// Half of the total rise.
    pub height: f64,
    /// Steepness of the step, > 0, per unit of x.
    pub sharpness: f64,
    /// Position of the step, in x.
    pub center: f64,
}

impl SmoothStep {
    /// Computes s(x).
    pub fn value(&self, x: f64) -> f64 {
        self.base + self.height * (self.sharpness * (x - self.center)).tanh()
    }

    /// Computes ds/dx. By 1 / cosh^2 it stays above 0 up to |sharpness (x - center)| = 355, while
    /// 1 - tanh^2 rounds to 0 beyond 19.
    pub fn slope(&self, x: f64) -> f64 {
        let c = (self.sharpness * (x - self.center)).cosh();
        self.height * self.sharpness / (c * c)
    }
}
