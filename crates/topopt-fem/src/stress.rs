//! Stresses in trilinear hexahedra from nodal displacements.

use rayon::prelude::*;
use topopt_mesh::HexMesh;

use crate::shape_gradients::physical_gradients;
use crate::{DIM, Material};

/// A symmetric stress tensor (force per area) as (xx, yy, zz, xy, yz, zx).
pub type Stress = [f64; 6];

/// Reference coordinates of the center of an element, where the stress is more accurate by an order
/// than elsewhere on a smooth mesh, and free of the parasitic shear of bent elements.
pub const CENTER: [f64; 3] = [0.0; 3];

/// The stress D(E_e) B(xi) u_e of every element at the reference coordinates `xi`, for instance
/// [`CENTER`] or one of [`topopt_mesh::hexahedron::gauss_points`]: \[n_elements\]\[6\].
///
/// `moduli`: Young's moduli E_e, \[n_elements\] (force per area); of `material` only Poisson's
/// ratio counts. `u`: displacements, \[n_nodes\]\[3\] (length).
pub fn stresses(
    mesh: &HexMesh,
    material: &Material,
    moduli: &[f64],
    u: &[f64],
    xi: [f64; 3],
) -> Vec<Stress> {
    let of_element = |e: usize| stress_at(mesh, material, moduli[e], u, e, xi);
    (0..mesh.n_elements()).into_par_iter().map(of_element).collect()
}

/// The stress of one `element` of Young's modulus `modulus`; all else as in [`stresses`].
pub fn stress_at(
    mesh: &HexMesh,
    material: &Material,
    modulus: f64,
    u: &[f64],
    element: usize,
    xi: [f64; 3],
) -> Stress {
    let (lambda, mu) = material.unit_lame();
    let u = u.as_chunks::<DIM>().0;
    let (gradients, _) = physical_gradients(&mesh.element_coordinates(element), xi);

    // du[i][j] = du_i / dx_j
    let mut du = [[0.0; DIM]; DIM];
    for (&node, gradient) in mesh.hexes()[element].iter().zip(gradients) {
        for i in 0..DIM {
            (0..DIM).for_each(|j| du[i][j] += u[node as usize][i] * gradient[j]);
        }
    }

    let trace = lambda * (du[0][0] + du[1][1] + du[2][2]);
    let normal = |i: usize| trace + 2.0 * mu * du[i][i];
    let shear = |i: usize, j: usize| mu * (du[i][j] + du[j][i]);
    [normal(0), normal(1), normal(2), shear(0, 1), shear(1, 2), shear(2, 0)]
        .map(|stress| modulus * stress)
}

/// The equivalent stress of von Mises, sqrt(3/2 s : s) with the deviator s: what a uniaxial stress
/// would have to be to distort the material as much.
pub fn von_mises(&[xx, yy, zz, xy, yz, zx]: &Stress) -> f64 {
    let normal = (xx - yy).powi(2) + (yy - zz).powi(2) + (zz - xx).powi(2);
    (0.5 * normal + 3.0 * (xy * xy + yz * yz + zx * zx)).sqrt()
}
