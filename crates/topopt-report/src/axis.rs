//! Axes: where values lie, and where they have ticks.

/// An axis from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    /// Distance between ticks; none where the axis is logarithmic.
    step: Option<f64>,
}

/// Values whose largest is more than so many times the least are shown on a logarithmic axis.
const LOG_FROM: f64 = 30.0;

impl Axis {
    /// An axis for `values`, those that are not finite left out: logarithmic where all are
    /// positive and their range is wide, else linear between ticks. Values that differ by rounding
    /// alone are one.
    pub fn of(values: &[f64]) -> Self {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::MIN, f64::max);
        if low > high {
            return Self::between(0.0, 1.0);
        }

        if low > 0.0 && high / low > LOG_FROM {
            let decade = |x: f64, up: fn(f64) -> f64| 10f64.powf(up(x.log10()));
            return Self {
                low: decade(low, f64::floor),
                high: decade(high, f64::ceil),
                step: None,
            };
        }

        let size = high.abs().max(low.abs());
        // Rounding errors are not a curve.
        let (low, high, spread) = if high - low > 1e-6 * size {
            (low, high, high - low)
        } else {
            (low, low, size.max(1e-3))
        };

        let step = round_step(spread);
        let low = (low / step).floor() * step;
        let mut high = (high / step).ceil() * step;
        if low == high {
            high += step;
        }
        Self { low, high, step: Some(step) }
    }

    /// A linear axis from exactly `low` to `high`.
    pub fn between(low: f64, high: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, step: Some(round_step(high - low)) }
    }

    /// Place of `value`, 0 at the low end and 1 at the high one.
    pub fn place(&self, value: f64) -> f64 {
        let x = |value: f64| if self.step.is_none() { value.log10() } else { value };
        (x(value) - x(self.low)) / (x(self.high) - x(self.low))
    }

    /// Values of the ticks: powers of ten, also 2 and 5 times them where there are few; or
    /// multiples of a round step.
    pub fn ticks(&self) -> Vec<f64> {
        let Some(step) = self.step else {
            let (first, last) = (self.low.log10().round() as i32, self.high.log10().round() as i32);
            let skip = ((last - first) / 6 + 1) as usize;
            let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let tick = |power: i32| factors.iter().map(move |f| f * 10f64.powi(power));
            let ticks = (first..=last).step_by(skip).flat_map(tick);
            return ticks.filter(|tick| *tick <= self.high * 1.000_001).collect();
        };
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

/// Returns 1, 2 or 5 times a power of ten, such that `spread` holds three to eight of it.
fn round_step(spread: f64) -> f64 {
    // Neither 0 nor infinite, however near or far apart the values are.
    let spread = spread.clamp(f64::MIN_POSITIVE, f64::MAX);
    let power = 10f64.powf(spread.log10().floor());
    let fits = |step: &f64| spread / step >= 2.999;
    [2.0, 1.0, 0.5].map(|factor| factor * power).into_iter().find(fits).unwrap_or(0.2 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_range_of_positive_values_has_powers_of_ten() {
        let axis = Axis::of(&[43_716.0, 25_200.0, 386.0, f64::NAN]);
        assert_eq!(axis.ticks().len(), 4);
        for (tick, expected) in axis.ticks().iter().zip([1e2, 1e3, 1e4, 1e5]) {
            assert!((tick / expected - 1.0).abs() < 1e-12, "{tick}");
        }
        assert_eq!([1e2, 1e3, 1e5].map(|x| (axis.place(x) * 3.0).round()), [0.0, 1.0, 3.0]);
        assert!((axis.place(10f64.powf(3.5)) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn few_decades_have_ticks_between() {
        let axis = Axis::of(&[1.5, 80.0]);
        let ticks: Vec<f64> = axis.ticks().iter().map(|tick| tick.round()).collect();
        assert_eq!(ticks, [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
    }

    #[test]
    fn linear_axes_end_at_ticks() {
        for (values, ticks) in [
            (&[0.0, 10.0][..], &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0][..]),
            (&[14.0, 31.0], &[10.0, 15.0, 20.0, 25.0, 30.0, 35.0]),
            (&[0.2424, 0.84], &[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
            (&[-0.04, 0.2], &[-0.05, 0.0, 0.05, 0.1, 0.15, 0.2]),
        ] {
            let axis = Axis::of(values);
            assert_eq!(axis.ticks().len(), ticks.len(), "{:?}", axis.ticks());
            for (found, expected) in axis.ticks().iter().zip(ticks) {
                assert!((found - expected).abs() < 1e-12, "{:?}", axis.ticks());
            }
            assert!(axis.place(ticks[0]).abs() < 1e-12);
            assert!((axis.place(ticks[ticks.len() - 1]) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn any_values_have_an_axis() {
        assert_eq!(Axis::of(&[0.3, 0.3 + 1e-12]).ticks().len(), Axis::of(&[0.3]).ticks().len());
        for values in [
            &[][..],
            &[0.3],
            &[0.0],
            &[f64::NAN],
            &[5.0, 5.0],
            &[-1e-30, 1e30],
            &[0.0, 5e-324],
            &[-1e308, 1e308],
        ] {
            let axis = Axis::of(values);
            assert!((2..=12).contains(&axis.ticks().len()), "{values:?} {:?}", axis.ticks());
            let places = values.iter().map(|&value| axis.place(value));
            assert!(
                places.filter(|p| !p.is_nan()).all(|p| (-1e-9..=1.000_001).contains(&p)),
                "{values:?}"
            );
        }
    }
}
