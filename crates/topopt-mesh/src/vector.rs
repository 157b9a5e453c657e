//! Vectors in space.
//!
//! What loops over triangles and elements call is written component by component: mapped arrays are
//! calls of closures in tests, which are compiled in many parts.

/// Computes a - b.
#[inline]
pub fn difference(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Computes a . b, summed in the order of the components.
#[inline]
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Computes a x b.
#[inline]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Two directions of length 1 across `axis`, of length 1, and across each other.
pub fn across(axis: [f64; 3]) -> [[f64; 3]; 2] {
    let other = if axis[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let first = cross(axis, other);
    let first = first.map(|x| x / length(first));
    [first, cross(axis, first)]
}

/// The vector of length 1 along `a`; none if that has no direction. Its length may be beyond the
/// range of numbers.
pub fn unit(a: [f64; 3]) -> Option<[f64; 3]> {
    let largest = a.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 || !a.iter().all(|x| x.is_finite()) {
        return None;
    }
    // A power of two, so that vectors of usual lengths keep their bits.
    let exponent = (largest.log2().floor() as i32).clamp(-MOST_EXPONENT, MOST_EXPONENT);
    let a = a.map(|x| x * f64::powi(2.0, -exponent));
    let size = length(a);
    Some(a.map(|x| x / size))
}

/// Exponent of the largest powers of two whose inverses are numbers.
const MOST_EXPONENT: i32 = 1022;

/// Computes a + share b.
#[inline]
pub fn along(a: [f64; 3], share: f64, b: [f64; 3]) -> [f64; 3] {
    [a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]]
}

/// Length of `a`.
#[inline]
pub fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{length, unit};

    #[test]
    fn directions_have_any_length() {
        for size in [1.0, 1e-160, 1e160, 1e300, 1.7e308, 1e-300, 5e-324] {
            let direction = unit([0.0, -size, size]).unwrap();
            assert!((direction[1] + 0.5_f64.sqrt()).abs() < 1e-15, "{size}: {direction:?}");
        }
        let a = [3.1, -0.2, 7.7];
        assert_eq!(unit(a), Some(a.map(|x| x / length(a))));
        assert_eq!(unit([0.0; 3]), None);
        assert_eq!(unit([f64::INFINITY, 0.0, 0.0]), None);
        assert_eq!(unit([f64::NAN, 1.0, 0.0]), None);
    }
}
