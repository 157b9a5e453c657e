//! Products of vectors in space.

pub fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    let component = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
    [component(1, 2), component(2, 0), component(0, 1)]
}

/// `a` with length 1; zero stays zero.
pub fn normalized(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt();
    if length > 0.0 { a.map(|x| x / length) } else { a }
}
