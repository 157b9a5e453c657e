//! The element stiffness by plain loops, and gradients of shape functions.

use topopt_mesh::hexahedron;

use crate::{DIM, Elasticity, ElementKernel, Material};

/// Degrees of freedom of an element; number 3 a + i is component i at local node a.
pub const ELEMENT_DOFS: usize = 24;

/// The stiffness K_e of one element at Young's modulus 1, `[24][24]`.
pub fn element_stiffness(
    x: &[[f64; 3]; 8],
    material: &Material,
) -> [[f64; ELEMENT_DOFS]; ELEMENT_DOFS] {
    let ke = Elasticity::new(material).matrix(0, x);
    let at = |row: usize, column: usize| ke[row / DIM][row % DIM][column / DIM][column % DIM];
    std::array::from_fn(|row| std::array::from_fn(|column| at(row, column)))
}

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
