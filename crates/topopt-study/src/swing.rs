//! Detection of designs that oscillate between two.

/// Number of designs that distinguish an oscillation from a search.
pub(crate) const LENGTH: usize = 8;

/// Smallest swing, as a share of the value, and how much of it two swings may differ by.
const SWING: f64 = 0.01;
const DIFFERENCE: f64 = 0.25;

/// The last two of `values`, if all of them oscillate between these.
pub(crate) fn between(values: &[f64]) -> Option<[f64; 2]> {
    let &[.., before, last] = values else { return None };
    let swings = |w: &[f64]| {
        let (there, back) = (w[1] - w[0], w[2] - w[1]);
        let size = there.abs().min(back.abs());
        there * back < 0.0
            && size > SWING * w[1].abs().max(w[2].abs())
            && (w[2] - w[0]).abs() < DIFFERENCE * size
    };
    (values.len() >= LENGTH && values.windows(3).all(swings)).then_some([before, last])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swing_is_told_from_a_search() {
        let of = |f: &dyn Fn(f64) -> f64| {
            let values: Vec<f64> = (0..LENGTH).map(|k| f(k as f64)).collect();
            between(&values)
        };
        let sign = |k: f64| if k % 2.0 == 0.0 { 1.0 } else { -1.0 };
        let [before, last] = of(&|k| 290.0 + 43.0 * sign(k) + 0.1 * k).unwrap();
        assert!(before > 330.0 && last < 250.0);
        // A fall, a swing that fades, one within rounding, and one that is not there for long enough.
        assert_eq!(of(&|k| 100.0 / (1.0 + k)), None);
        assert_eq!(of(&|k| 290.0 + 43.0 * sign(k) * 0.5f64.powf(k)), None);
        assert_eq!(of(&|k| 290.0 + 0.4 * sign(k)), None);
        assert_eq!(of(&|k| if k < 4.0 { 500.0 - k } else { 290.0 + 43.0 * sign(k) }), None);
        assert_eq!(between(&[246.0, 333.0, 246.0]), None);
    }
}
