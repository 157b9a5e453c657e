//! A step as wide as an element where a field crosses a level.

/// Step of unit height across a level of a field v, a quintic polynomial of the distance from the
/// level in units of the half width R \[HammondOskooiHammond2025\]:
///
/// $s = base + height (\frac12 - \frac{15}{16} t + \frac58 t^3 - \frac3{16} t^5)$,
/// $t = (level - v) / (R n)$ kept within +-1.
///
/// n is the steepness of the field: its change per length, so that (level - v) / n is the distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubpixelStep {
    /// s far below the level.
    pub base: f64,
    /// Total rise.
    pub height: f64,
    /// Level of v at the middle of the step.
    pub level: f64,
    /// R in widths of an element, > 0.
    pub half_width: f64,
}

/// Least square of the change of a field across an element, below which the step is sharp: a
/// uniform field has no distance from any level.
const LEAST_SQUARE: f64 = 1e-30;

impl SubpixelStep {
    /// Computes s where the field is `v` and its change across the element, n times the width, is
    /// the root of `square`.
    pub fn value(&self, v: f64, square: f64) -> f64 {
        let t = self.distance(v, square.max(LEAST_SQUARE));
        let tt = t * t;
        self.base + self.height * (0.5 - t * (15.0 - tt * (10.0 - 3.0 * tt)) / 16.0)
    }

    /// Computes the derivatives of s by the field and by the square of its change.
    pub fn slopes(&self, v: f64, square: f64) -> [f64; 2] {
        let square = square.max(LEAST_SQUARE);
        let t = self.distance(v, square);
        let by_distance = -0.9375 * self.height * (1.0 - t * t).powi(2);
        [-by_distance / (self.half_width * square.sqrt()), -0.5 * by_distance * t / square]
    }

    /// t
    fn distance(&self, v: f64, square: f64) -> f64 {
        ((self.level - v) / (self.half_width * square.sqrt())).clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_rises_across_two_half_widths_and_its_slopes_are_its_derivatives() {
        let step = SubpixelStep { base: 0.1, height: 0.9, level: 0.5, half_width: 0.7 };
        // At a change of 0.2 the step ends 0.14 from the level.
        for (v, expected) in [(0.0, 0.1), (0.36, 0.1), (0.5, 0.55), (0.64, 1.0), (1.0, 1.0)] {
            assert!((step.value(v, 0.04) - expected).abs() < 1e-14, "{v}");
        }
        assert_eq!([0.49, 0.51].map(|v| step.value(v, 0.0)), [0.1, 1.0]);

        let h = 1e-6;
        for v in [0.3, 0.37, 0.41, 0.5, 0.58, 0.63, 0.7] {
            let [by_value, by_square] = step.slopes(v, 0.04);
            let difference = (step.value(v + h, 0.04) - step.value(v - h, 0.04)) / (2.0 * h);
            assert!((by_value - difference).abs() < 1e-8, "{v}");
            let difference = (step.value(v, 0.04 + h) - step.value(v, 0.04 - h)) / (2.0 * h);
            assert!((by_square - difference).abs() < 1e-7, "{v}");
        }
    }
}
