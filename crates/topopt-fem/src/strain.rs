//! Strains in elements from nodal displacements, and the transpose of that map.

use rayon::prelude::*;
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::gauss_points;
use topopt_mesh::vector::dot;

use crate::elements::Corners;
use crate::relaxation::{relaxed, relaxed_transpose, tensor};
use crate::shape_gradients::physical_gradients;
use crate::strain_modes::{MONOMIALS, StrainMode, monomial};
pub use crate::strain_tensor::Strain;
use crate::strain_tensor::{Tensor, listed};
use crate::{DIM, Elasticity, ElementKernel, Formulation, tetrahedra};

/// The strain B(xi) u_e of every element at the reference coordinates `xi`, `[n_elements][6]`, for
/// displacements `u`, `[n_nodes][3]` (length).
pub fn strains(kernel: &Elasticity, mesh: &HexMesh, u: &[f64], xi: [f64; 3]) -> Vec<Strain> {
    (0..mesh.n_elements()).into_par_iter().map(|e| strain_at(kernel, mesh, u, e, xi)).collect()
}

/// The strain of one `element`; all else as in [`strains`].
pub fn strain_at(
    kernel: &Elasticity,
    mesh: &HexMesh,
    u: &[f64],
    element: usize,
    xi: [f64; 3],
) -> Strain {
    let u = u.as_chunks::<DIM>().0;
    if mesh.shape() == Shape::Tetrahedron {
        return tetrahedra::strain(mesh, u, element, xi);
    }
    let u = mesh.hexes()[element].map(|node| u[node as usize]);
    let mut strain = [[0.0; DIM]; DIM];
    for (factor, mode) in modes_at(kernel, &mesh.element_coordinates(element), xi) {
        let own = strain_of(kernel, &mode, &u);
        for (sums, own) in strain.iter_mut().zip(own) {
            (0..DIM).for_each(|i| sums[i] += factor * own[i]);
        }
    }
    listed(&strain)
}

/// The strain energy of the element at `x` at Young's modulus 1, for displacements `u` of its
/// nodes: half of u^T K_e u, in a tenth of the time that K_e takes.
pub fn strain_energy(kernel: &Elasticity, x: &Corners, u: &[[f64; DIM]; 8]) -> f64 {
    let (lambda, mu) = kernel.material().unit_lame();
    let energy = |mode: &StrainMode| {
        let strain = strain_of(kernel, mode, u);
        let trace: f64 = (0..DIM).map(|i| strain[i][i]).sum();
        let square: f64 = strain.as_flattened().iter().map(|e| e * e).sum();
        mode.weight * (0.5 * lambda * trace * trace + mu * square)
    };
    match kernel.formulation() {
        Formulation::Full => gauss_points().iter().map(|xi| energy(&at_point(x, *xi))).sum(),
        Formulation::Incompatible => StrainMode::all(x).iter().map(energy).sum(),
    }
}

/// Adds B(xi)^T s_e of every element to `out`, `[n_nodes][3]`, for `s`, `[n_elements][6]`.
pub fn add_strain_transpose(
    kernel: &Elasticity,
    mesh: &HexMesh,
    s: &[Strain],
    xi: [f64; 3],
    out: &mut [f64],
) {
    let out = out.as_chunks_mut::<DIM>().0;
    if mesh.shape() == Shape::Tetrahedron {
        return tetrahedra::add_strain_transpose(mesh, s, xi, out);
    }
    for (e, (hex, s)) in mesh.hexes().iter().zip(s).enumerate() {
        let [xx, yy, zz, xy, yz, zx] = *s;
        let s = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        for (factor, mode) in modes_at(kernel, &mesh.element_coordinates(e), xi) {
            let own = mode.normal.map_or(s, |n| relaxed_transpose(&s, n, &kernel.relaxation()));
            for (&node, p) in hex.iter().zip(mode.gradients) {
                let sum = &mut out[node as usize];
                (0..DIM).for_each(|i| sum[i] += factor * dot(own[i], p));
            }
        }
    }
}

/// The strain modes that make the strain at `xi`, each with its factor there.
fn modes_at(kernel: &Elasticity, x: &Corners, xi: [f64; 3]) -> Vec<(f64, StrainMode)> {
    match kernel.formulation() {
        Formulation::Full => vec![(1.0, at_point(x, xi))],
        Formulation::Incompatible => {
            MONOMIALS.map(|k| monomial(k, xi)).into_iter().zip(StrainMode::all(x)).collect()
        }
    }
}

/// The strain of trilinear displacements at `xi`.
fn at_point(x: &Corners, xi: [f64; DIM]) -> StrainMode {
    let (gradients, weight) = physical_gradients(x, xi);
    StrainMode { gradients, weight, normal: None }
}

/// The strain that a mode gives displacements `u` of the nodes.
fn strain_of(kernel: &Elasticity, mode: &StrainMode, u: &[[f64; DIM]; 8]) -> Tensor {
    // du[i][j] = du_i / dx_j
    let mut du = [[0.0; DIM]; DIM];
    for (u, p) in u.iter().zip(mode.gradients) {
        for i in 0..DIM {
            (0..DIM).for_each(|j| du[i][j] += u[i] * p[j]);
        }
    }
    let own = tensor(|i, j| 0.5 * (du[i][j] + du[j][i]));
    mode.normal.map_or(own, |normal| relaxed(&own, normal, &kernel.relaxation()))
}
