//! The element stiffness by plain loops: the reference that every operator is compared with.

use topopt_mesh::hexahedron;

use crate::{DIM, Material};

/// Degrees of freedom of an element; number 3 a + i is component i at local node a.
pub const ELEMENT_DOFS: usize = 24;

/// The stiffness K_e of one element at Young's modulus 1, \[24\]\[24\]:
/// integral of B^T D B by the 2x2x2 Gauss rule, without bubble or B-bar terms.
pub fn element_stiffness(
    x: &[[f64; 3]; 8],
    material: &Material,
) -> [[f64; ELEMENT_DOFS]; ELEMENT_DOFS] {
    let (lambda, mu) = material.unit_lame();
    let mut ke = [[0.0; ELEMENT_DOFS]; ELEMENT_DOFS];
    for xi in hexahedron::gauss_points() {
        let (g, det) = physical_gradients(x, xi);
        for a in 0..8 {
            for b in 0..8 {
                let dot: f64 = (0..DIM).map(|k| g[a][k] * g[b][k]).sum();
                for i in 0..DIM {
                    for j in 0..DIM {
                        // B_a^T D B_b for isotropic D
                        let identity = if i == j { mu * dot } else { 0.0 };
                        let entry = lambda * g[a][i] * g[b][j] + mu * g[a][j] * g[b][i] + identity;
                        ke[DIM * a + i][DIM * b + j] += entry * det;
                    }
                }
            }
        }
    }
    ke
}

/// The 3x3 blocks of K_e that couple each node of the element `hex` at `x` with itself, as (xx, yy,
/// zz, xy, yz, zx), \[8\]\[6\]. A node that stands twice has the block of the sum of its two shape
/// functions at the first place, and zero at the other.
pub fn element_diagonal_blocks(
    hex: &[u32; 8],
    x: &[[f64; 3]; 8],
    material: &Material,
) -> [[f64; 6]; 8] {
    let (lambda, mu) = material.unit_lame();
    let mut blocks = [[0.0; 6]; 8];
    for xi in hexahedron::gauss_points() {
        let (mut g, det) = physical_gradients(x, xi);
        for a in 1..8 {
            if let Some(first) = hex[..a].iter().position(|node| *node == hex[a]) {
                let twin = std::mem::take(&mut g[a]);
                (0..DIM).for_each(|i| g[first][i] += twin[i]);
            }
        }
        for a in 0..8 {
            let dot: f64 = g[a].iter().map(|v| v * v).sum();
            for i in 0..DIM {
                blocks[a][i] += ((lambda + mu) * g[a][i] * g[a][i] + mu * dot) * det;
                blocks[a][DIM + i] += (lambda + mu) * g[a][i] * g[a][(i + 1) % DIM] * det;
            }
        }
    }
    blocks
}

/// Gradients dN_a/dx_i at `xi`, \[node\]\[direction\], and the Jacobian determinant.
pub fn physical_gradients(x: &[[f64; 3]; 8], xi: [f64; 3]) -> ([[f64; 3]; 8], f64) {
    let jacobian = hexahedron::jacobian(x, xi);
    let det = hexahedron::determinant(&jacobian);
    let inverse = hexahedron::inverse(&jacobian, det);
    let reference = hexahedron::shape_gradients(xi);
    let physical =
        reference.map(|g| std::array::from_fn(|i| (0..3).map(|j| g[j] * inverse[j][i]).sum()));
    (physical, det)
}
