//! Vectors in space.

/// Computes a - b.
#[inline]
pub fn difference(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

/// Computes a . b, summed in the order of the components.
#[inline]
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Computes a x b.
#[inline]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

/// Two directions of length 1 across `axis`, of length 1, and across each other.
pub fn across(axis: [f64; 3]) -> [[f64; 3]; 2] {
    let other = if axis[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let first = cross(axis, other);
    let first = first.map(|x| x / length(first));
    [first, cross(axis, first)]
}

/// Length of `a`.
#[inline]
pub fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}
