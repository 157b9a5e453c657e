//! Strains in elements from nodal displacements, and the transpose of that map.

use rayon::prelude::*;
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::gauss_points;
use topopt_mesh::vector::dot;

use crate::elements::Corners;
use crate::shape_gradients::physical_gradients;
use crate::stiffness_tensor::{PLACE, relaxing, stress};
use crate::strain_modes::{MONOMIALS, StrainMode};
pub use crate::strain_tensor::Strain;
use crate::strain_tensor::{Tensor, listed};
use crate::{DIM, Elasticity, Formulation, tetrahedra};

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
            let own = mode.normal.map_or(s, |n| relaxed_transpose(&s, n, kernel));
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
    mode.normal.map_or(own, |normal| relaxed(&own, normal, kernel))
}

/// The monomial of the reference coordinates by the bits of xi, eta and zeta.
fn monomial(bits: usize, xi: [f64; DIM]) -> f64 {
    (0..DIM).filter(|i| bits >> i & 1 == 1).map(|i| xi[i]).product()
}

/// The strain within planes of normal n, and the strains across that leave no stress on them.
fn relaxed(strain: &Tensor, n: [f64; DIM], kernel: &Elasticity) -> Tensor {
    let within = within(strain, n);
    if let Some(d) = kernel.anisotropic() {
        let [xx, yy, zz, xy, yz, zx] = stress(&relaxing(d, n), &stress(d, &listed(&within)));
        let [xy, yz, zx] = [xy, yz, zx].map(|angle| 0.5 * angle);
        let added = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        return tensor(|i, j| within[i][j] - added[i][j]);
    }
    let along = kernel.contraction() * (0..DIM).map(|i| within[i][i]).sum::<f64>();
    tensor(|i, j| within[i][j] - along * n[i] * n[j])
}

/// The transpose of [`relaxed`].
fn relaxed_transpose(s: &Tensor, n: [f64; DIM], kernel: &Elasticity) -> Tensor {
    let (own, normal) = (within(s, n), dot(s.map(|row| dot(row, n)), n));
    let Some(d) = kernel.anisotropic() else {
        let along = kernel.contraction() * normal;
        return tensor(|i, j| own[i][j] - along * (f64::from(u8::from(i == j)) - n[i] * n[j]));
    };
    let s = [s[0][0], s[1][1], s[2][2], s[0][1], s[1][2], s[2][0]];
    let of_added = stress(d, &stress(&relaxing(d, n), &s));
    let of_added = within(&tensor(|i, j| of_added[PLACE[i][j]]), n);
    tensor(|i, j| own[i][j] - of_added[i][j])
}

/// The part of a symmetric tensor within planes of normal n: (I - n n^T) t (I - n n^T).
fn within(t: &Tensor, n: [f64; DIM]) -> Tensor {
    let tn = t.map(|row| dot(row, n));
    let nn = dot(tn, n);
    tensor(|i, j| t[i][j] - tn[i] * n[j] - n[i] * tn[j] + nn * n[i] * n[j])
}

fn tensor(entry: impl Fn(usize, usize) -> f64) -> Tensor {
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}
