//! Strains of incompatible modes: those across planes that leave no stress on them.

use topopt_mesh::vector::dot;

use crate::DIM;
use crate::stiffness_tensor::{PLACE, Stiffness, relaxing, stress};
use crate::strain_tensor::{Tensor, listed};

/// Numbers of a law of elasticity that say how planes relax.
#[derive(Debug, Clone, Copy)]
pub struct Relaxation<'a> {
    /// D of an anisotropic law.
    pub stiffness: Option<&'a Stiffness>,
    /// Contraction along the normal of a plane without stress, per change of area within the plane,
    /// of an isotropic one.
    pub contraction: f64,
}

/// The strain within planes of normal n, and the strains across that leave no stress on them.
pub fn relaxed(strain: &Tensor, n: [f64; DIM], law: &Relaxation) -> Tensor {
    let within = within(strain, n);
    if let Some(d) = law.stiffness {
        let [xx, yy, zz, xy, yz, zx] = stress(&relaxing(d, n), &stress(d, &listed(&within)));
        let [xy, yz, zx] = [xy, yz, zx].map(|angle| 0.5 * angle);
        let added = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        return tensor(|i, j| within[i][j] - added[i][j]);
    }
    let along = law.contraction * (0..DIM).map(|i| within[i][i]).sum::<f64>();
    tensor(|i, j| within[i][j] - along * n[i] * n[j])
}

/// The transpose of [`relaxed`].
pub fn relaxed_transpose(s: &Tensor, n: [f64; DIM], law: &Relaxation) -> Tensor {
    let (own, normal) = (within(s, n), dot(s.map(|row| dot(row, n)), n));
    let Some(d) = law.stiffness else {
        let along = law.contraction * normal;
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

/// A tensor of these entries.
pub fn tensor(entry: impl Fn(usize, usize) -> f64) -> Tensor {
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}
