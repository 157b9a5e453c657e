//! Gradients of the shape functions of one element, by plain loops.

use topopt_mesh::hexahedron;

/// Gradients dN_a/dx_i at `xi`, `[node][direction]`, and the Jacobian determinant.
pub fn physical_gradients(x: &[[f64; 3]; 8], xi: [f64; 3]) -> ([[f64; 3]; 8], f64) {
    let jacobian = hexahedron::jacobian(x, xi);
    let det = hexahedron::determinant(&jacobian);
    let inverse = hexahedron::inverse(&jacobian, det);
    let reference = hexahedron::shape_gradients(xi);
    let physical =
        reference.map(|g| std::array::from_fn(|i| (0..3).map(|j| g[j] * inverse[j][i]).sum()));
    (physical, det)
}

/// Values at the nodes of `hex` such that a node that stands twice has both at its first place.
pub(crate) fn join_twins<const N: usize>(hex: &[u32; 8], values: &mut [[f64; N]; 8]) {
    for a in 1..8 {
        if let Some(first) = hex[..a].iter().position(|node| *node == hex[a]) {
            let twin = std::mem::replace(&mut values[a], [0.0; N]);
            (0..N).for_each(|i| values[first][i] += twin[i]);
        }
    }
}
