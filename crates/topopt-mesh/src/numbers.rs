//! Numbers as people read them.

/// `x` to six digits as people write it: with an exponent where it is very large or small.
pub fn shown(x: f64) -> String {
    let x = rounded(x);
    match x.abs() {
        size if !size.is_finite() => "beyond the range of numbers".into(),
        size if size != 0.0 && !(1e-5..1e15).contains(&size) => format!("{x:e}"),
        _ => x.to_string(),
    }
}

/// `x` to six digits.
pub fn rounded(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// Returns `sum` with 0 for components that are rounding of terms whose sizes add up to `size`.
pub fn without_rounding<const N: usize>(sum: [f64; N], size: f64) -> [f64; N] {
    sum.map(|s| if s.abs() < 1e-12 * size { 0.0 } else { s })
}

/// A point as people write it: `(1, 2.5, 0)`.
pub fn place(point: [f64; 3]) -> String {
    place_in(point, point.into_iter().map(f64::abs).fold(0.0, f64::max))
}

/// A point of a part of this `size` (length), where rounding counts as 0.
pub fn place_in(point: [f64; 3], size: f64) -> String {
    let [x, y, z] = without_rounding(point, size).map(|x| shown(x + 0.0));
    format!("({x}, {y}, {z})")
}

#[cfg(test)]
mod tests {
    use super::{place, place_in};

    #[test]
    fn rounding_counts_as_zero_in_places() {
        assert_eq!(place([-0.0, 3e-18, -2.5]), "(0, 0, -2.5)");
        assert_eq!(place([0.0, -0.0, 0.0]), "(0, 0, 0)");
        assert_eq!(place([2e-6, 1e-6, -1e-7]), "(2e-6, 1e-6, -1e-7)");
        assert_eq!(place_in([2e-17, -1e-18, 0.0], 10.0), "(0, 0, 0)");
    }
}
