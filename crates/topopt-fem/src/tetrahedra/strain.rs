//! Strains in tetrahedra, and the transpose of that map.

use topopt_mesh::HexMesh;
use topopt_mesh::tetrahedron::with_first;
use topopt_mesh::vector::dot;

use super::integrals::gradients;
use crate::DIM;
use crate::strain_tensor::{Strain, listed};

/// The strain of one `element` at the barycentric coordinates `xi` of vertices 1, 2 and 3.
pub(crate) fn strain(mesh: &HexMesh, u: &[[f64; DIM]], element: usize, xi: [f64; DIM]) -> Strain {
    let (gradients, _) = gradients(&mesh.tetrahedron_coordinates(element), with_first(xi));
    // du[i][j] = du_i / dx_j, half of which is in each of both shears.
    let mut half = [[0.0; DIM]; DIM];
    for (&node, g) in mesh.element(element).iter().zip(gradients) {
        for i in 0..DIM {
            (0..DIM).for_each(|j| half[i][j] += u[node as usize][i] * g[j]);
        }
    }
    listed(&half)
}

/// Adds B(xi)^T s_e of every element to `out`.
pub(crate) fn add_strain_transpose(
    mesh: &HexMesh,
    s: &[Strain],
    xi: [f64; DIM],
    out: &mut [[f64; DIM]],
) {
    for (e, [xx, yy, zz, xy, yz, zx]) in s.iter().copied().enumerate() {
        let rows = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        let (gradients, _) = gradients(&mesh.tetrahedron_coordinates(e), with_first(xi));
        for (&node, g) in mesh.element(e).iter().zip(gradients) {
            let sum = &mut out[node as usize];
            (0..DIM).for_each(|i| sum[i] += dot(rows[i], g));
        }
    }
}
