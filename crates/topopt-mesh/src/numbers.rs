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
    let [x, y, z] = point.map(shown);
    format!("({x}, {y}, {z})")
}
