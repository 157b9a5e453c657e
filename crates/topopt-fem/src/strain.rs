//! Strains in trilinear hexahedra from nodal displacements, and the transpose of that map.

use rayon::prelude::*;
use topopt_mesh::HexMesh;

use crate::DIM;
use crate::shape_gradients::physical_gradients;

/// A symmetric strain tensor as (xx, yy, zz, xy, yz, zx), with the shear angles du_i/dx_j + du_j/dx_i.
pub type Strain = [f64; 6];

/// Rows and columns of the shear angles.
const SHEAR: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

/// The strain B(xi) u_e of every element at the reference coordinates `xi`, `[n_elements][6]`, for
/// displacements `u`, `[n_nodes][3]` (length).
pub fn strains(mesh: &HexMesh, u: &[f64], xi: [f64; 3]) -> Vec<Strain> {
    (0..mesh.n_elements()).into_par_iter().map(|e| strain_at(mesh, u, e, xi)).collect()
}

/// The strain of one `element`; all else as in [`strains`].
pub fn strain_at(mesh: &HexMesh, u: &[f64], element: usize, xi: [f64; 3]) -> Strain {
    let u = u.as_chunks::<DIM>().0;
    let (gradients, _) = physical_gradients(&mesh.element_coordinates(element), xi);

    // du[i][j] = du_i / dx_j
    let mut du = [[0.0; DIM]; DIM];
    for (&node, gradient) in mesh.hexes()[element].iter().zip(gradients) {
        for i in 0..DIM {
            (0..DIM).for_each(|j| du[i][j] += u[node as usize][i] * gradient[j]);
        }
    }
    let [xy, yz, zx] = SHEAR.map(|(i, j)| du[i][j] + du[j][i]);
    [du[0][0], du[1][1], du[2][2], xy, yz, zx]
}

/// Adds B(xi)^T s_e of every element to `out`, `[n_nodes][3]`, for `s`, `[n_elements][6]`.
pub fn add_strain_transpose(mesh: &HexMesh, s: &[Strain], xi: [f64; 3], out: &mut [f64]) {
    let out = out.as_chunks_mut::<DIM>().0;
    for (e, (hex, s)) in mesh.hexes().iter().zip(s).enumerate() {
        let (gradients, _) = physical_gradients(&mesh.element_coordinates(e), xi);
        for (&node, gradient) in hex.iter().zip(gradients) {
            let sum = &mut out[node as usize];
            (0..DIM).for_each(|i| sum[i] += s[i] * gradient[i]);
            for (&(i, j), shear) in SHEAR.iter().zip(&s[3..]) {
                sum[i] += shear * gradient[j];
                sum[j] += shear * gradient[i];
            }
        }
    }
}
