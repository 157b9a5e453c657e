//! The element stiffness by plain loops, and gradients of shape functions.

use crate::{DIM, Elasticity, ElementKernel, Material};

pub use crate::shape_gradients::physical_gradients;

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
