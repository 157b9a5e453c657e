//! Comparisons of numbers.

/// Euclidean norm.
pub fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Asserts that the norm of `found` - `expected` is at most `tolerance` times that of `expected`.
///
/// # Panics
/// If it is not, with `what` in the message, or if the lengths differ.
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let difference: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
    let error = norm(&difference) / norm(expected);
    assert!(error <= tolerance, "{what}: relative error {error:.2e} > {tolerance:.0e}");
}

/// Derivative of `f` at `x` along `direction`, by central differences of fourth order with step
/// `h`.
pub fn derivative(
    x: &[f64],
    direction: &[f64],
    h: f64,
    mut f: impl FnMut(&Vec<f64>) -> f64,
) -> f64 {
    let mut at = |h: f64| f(&x.iter().zip(direction).map(|(x, d)| x + h * d).collect());
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
}

/// The unit vector of direction `at` among `n`.
pub fn unit(n: usize, at: usize) -> Vec<f64> {
    (0..n).map(|i| f64::from(u8::from(i == at))).collect()
}
