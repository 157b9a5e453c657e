//! Directions at nodes that are not x, y and z.

use topopt_mesh::vector::length;

/// Directions closer to an axis than this are that axis: angles have some ten digits.
const ALONG: f64 = 1e-9;

/// The axis along which a vector points, either way; none if it is along no axis.
pub(crate) fn axis_along(vector: [f64; 3]) -> Option<usize> {
    (0..3).find(|&axis| vector[axis].abs() > (1.0 - ALONG) * length(vector))
}

/// The vector of components along `axes`.
pub(crate) fn composed(axes: &[[f64; 3]; 3], components: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| (0..3).map(|k| axes[k][i] * components[k]).sum())
}
