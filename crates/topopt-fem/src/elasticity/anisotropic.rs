//! Integrals of elasticity with a stiffness matrix D: the element matrix by plain loops, forces and
//! blocks in lanes.
//!
//! A mode of strain within planes of normal n is joined by strains sym(alpha n^T) that leave no
//! stress on these, as incompatible modes do: alpha = -A^-1 (sigma n) with the stress sigma of the
//! mode and A_ij = D_(ik)(jl) n_k n_l.

use pulp::{Simd, WithSimd};
use topopt_mesh::hexahedron::gauss_points;
use topopt_mesh::vector::dot;

use crate::Formulation;
use crate::elements::Corners;
use crate::lanes::MAX_LANES;
use crate::mode_geometry::set_modes;
use crate::operators::{
    Gradients, LaneGroup, Lanes, Matrix, Nodal, cofactors, from_group, to_group,
};
use crate::shape_gradients::physical_gradients;
use crate::stiffness_tensor::{PLACE, Stiffness, coupling, relaxed};
use crate::strain_modes::StrainMode;
use crate::{DIM, ElementMatrix};

/// K_e of the element at `x` by plain loops.
pub fn matrix(d: &Stiffness, x: &Corners, formulation: Formulation) -> ElementMatrix<DIM> {
    let mut ke = [[[[0.0; DIM]; 8]; DIM]; 8];
    let mut add = |d: &Stiffness, p: &[[f64; DIM]; 8], project: Matrix3, weight: f64| {
        for (a, b) in (0..64).map(|k| (k / 8, k % 8)) {
            let block = times3(&times3(&project, &coupling(d, p[a], p[b])), &project);
            for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                ke[a][i][b][j] += weight * block[i][j];
            }
        }
    };

    match formulation {
        Formulation::Full => {
            for (p, weight) in gauss_points().map(|xi| physical_gradients(x, xi)) {
                add(d, &p, within([0.0; DIM]), weight);
            }
        }
        Formulation::Incompatible => {
            for StrainMode { gradients, weight, normal } in StrainMode::all(x) {
                let project = within(normal.unwrap_or_default());
                let p = gradients.map(|p| project.map(|row| dot(row, p)));
                add(&normal.map_or(*d, |n| relaxed(d, n)), &p, project, weight);
            }
        }
    }
    ke
}

/// Rows of a matrix of numbers.
type Matrix3 = [[f64; DIM]; DIM];

/// I - n n^T.
fn within(n: [f64; DIM]) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j)) - n[i] * n[j]))
}

fn times3(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..DIM).map(|k| a[i][k] * b[k][j]).sum()))
}

/// Forces at the nodes of elements in lanes: a function of its own for the registers of the
/// machine, since within the loop of isotropic elements it would take their values out of these.
struct Forces<'a> {
    /// D at Young's modulus 1.
    stiffness: &'a Stiffness,
    formulation: Formulation,
    /// Coordinates and displacements.
    xu: &'a [LaneGroup; 2],
}

impl WithSimd for Forces<'_> {
    type Output = LaneGroup;

    /// Plain loops, as in [`super::integrals::element_forces`].
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> LaneGroup {
        let Self { stiffness, formulation, xu } = self;
        let [x, u]: [Nodal<S>; 2] = [from_group(simd, &xu[0]), from_group(simd, &xu[1])];
        let mut gradients = Gradients::zeros(simd);
        let n_modes = set(simd, formulation, &x, &mut gradients);
        let zero = Lanes::splat(simd, 0.0);
        let mut forces = [[zero; DIM]; 8];

        for q in 0..n_modes {
            let p = &gradients.at[q];
            let normal = is_relaxed(formulation, q).then(|| gradients.normals[q - 1]);
            let mut du = [[zero; DIM]; DIM];
            for a in 0..8 {
                for i in 0..DIM {
                    for k in 0..DIM {
                        du[i][k] = u[a][i].mul_add(p[a][k], du[i][k]);
                    }
                }
            }
            if let Some(n) = &normal {
                project(n, &mut du);
            }

            let mut stress = contracted(simd, stiffness, &du);
            if let Some(n) = &normal {
                relax(simd, stiffness, n, &mut stress);
                project(n, &mut stress);
            }
            for i in 0..DIM {
                for k in 0..DIM {
                    for a in 0..8 {
                        forces[a][i] = stress[i][k].mul_add(p[a][k], forces[a][i]);
                    }
                }
            }
        }
        let mut group = [[[0.0; MAX_LANES]; DIM]; 8];
        to_group(&forces, &mut group);
        group
    }
}

/// Forces at the nodes of elements with coordinates `x`, displacements `u` and moduli `modulus`.
#[inline(always)]
pub fn forces<S: Simd>(
    simd: S,
    stiffness: &Stiffness,
    formulation: Formulation,
    xu: [&Nodal<S>; 2],
    modulus: Lanes<S>,
) -> Nodal<S> {
    let mut groups = [[[[0.0; MAX_LANES]; DIM]; 8]; 2];
    for k in 0..2 {
        to_group(xu[k], &mut groups[k]);
    }
    let forces = simd.vectorize(Forces { stiffness, formulation, xu: &groups });
    let mut forces = from_group(simd, &forces);
    for a in 0..8 {
        for i in 0..DIM {
            forces[a][i] = modulus * forces[a][i];
        }
    }
    forces
}

/// Sets the gradients of a formulation and returns their number.
#[inline(always)]
fn set<S: Simd>(
    simd: S,
    formulation: Formulation,
    x: &Nodal<S>,
    gradients: &mut Gradients<S>,
) -> usize {
    match formulation {
        Formulation::Full => {
            gradients.set(simd, x);
            8
        }
        Formulation::Incompatible => {
            set_modes::<S, true>(simd, x, gradients);
            7
        }
    }
}

/// Whether strains of mode q leave no stress along a normal.
#[inline(always)]
fn is_relaxed(formulation: Formulation, q: usize) -> bool {
    formulation == Formulation::Incompatible && (1..=3).contains(&q)
}

/// Takes the components along n out of each column.
#[inline(always)]
fn project<S: Simd>(n: &[Lanes<S>; DIM], m: &mut Matrix<S>) {
    for k in 0..DIM {
        let along = n[2].mul_add(m[2][k], n[1].mul_add(m[1][k], n[0] * m[0][k]));
        for i in 0..DIM {
            m[i][k] = n[i].negate_mul_add(along, m[i][k]);
        }
    }
}

/// D : du, for a gradient du, whose symmetric part is the strain.
#[inline(always)]
fn contracted<S: Simd>(simd: S, d: &Stiffness, du: &Matrix<S>) -> Matrix<S> {
    let (xy, yz, zx) = (du[0][1] + du[1][0], du[1][2] + du[2][1], du[2][0] + du[0][2]);
    let strain = [du[0][0], du[1][1], du[2][2], xy, yz, zx];
    let mut stress = strain;
    for r in 0..6 {
        let mut sum = Lanes::splat(simd, d[r][0]) * strain[0];
        for c in 1..6 {
            sum = Lanes::splat(simd, d[r][c]).mul_add(strain[c], sum);
        }
        stress[r] = sum;
    }
    let [xx, yy, zz, xy, yz, zx] = stress;
    [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]
}

/// modulus D : du.
#[inline(always)]
pub fn stress<S: Simd>(simd: S, d: &Stiffness, du: &Matrix<S>, modulus: Lanes<S>) -> Matrix<S> {
    let mut stress = contracted(simd, d, du);
    for i in 0..DIM {
        for j in 0..DIM {
            stress[i][j] = modulus * stress[i][j];
        }
    }
    stress
}

/// A^-1 of the normal n, symmetric.
#[inline(always)]
fn across<S: Simd>(simd: S, d: &Stiffness, n: &[Lanes<S>; DIM]) -> Matrix<S> {
    let a = between(simd, d, &outer(n, n));
    let (cofactors, det) = cofactors(&a);
    let inverse = det.recip();
    let mut result = cofactors;
    for i in 0..DIM {
        for j in 0..DIM {
            result[i][j] = inverse * cofactors[i][j];
        }
    }
    result
}

/// Takes the stress of the strains that leave none on planes of normal n away.
#[inline(always)]
fn relax<S: Simd>(simd: S, d: &Stiffness, n: &[Lanes<S>; DIM], stress: &mut Matrix<S>) {
    let alpha = applied(&across(simd, d, n), &applied(stress, n));
    let added = contracted(simd, d, &outer(&alpha, n));
    for i in 0..DIM {
        for j in 0..DIM {
            stress[i][j] = stress[i][j] - added[i][j];
        }
    }
}

/// a b^T.
#[inline(always)]
fn outer<S: Simd>(a: &[Lanes<S>; DIM], b: &[Lanes<S>; DIM]) -> Matrix<S> {
    let mut outer = [*a; DIM];
    for i in 0..DIM {
        for j in 0..DIM {
            outer[i][j] = a[i] * b[j];
        }
    }
    outer
}

/// m v.
#[inline(always)]
fn applied<S: Simd>(m: &Matrix<S>, v: &[Lanes<S>; DIM]) -> [Lanes<S>; DIM] {
    let mut sum = *v;
    for i in 0..DIM {
        sum[i] = m[i][2].mul_add(v[2], m[i][1].mul_add(v[1], m[i][0] * v[0]));
    }
    sum
}

/// The block of K_e between nodes a and b, of the `gradients` of a formulation.
#[inline(always)]
pub fn block<S: Simd>(
    simd: S,
    d: &Stiffness,
    formulation: Formulation,
    gradients: &Gradients<S>,
    [a, b]: [usize; 2],
    modulus: Lanes<S>,
) -> Matrix<S> {
    let (mut block, first_relaxed) = match formulation {
        Formulation::Full => (between(simd, d, &gradients.products(a, b)), 8),
        Formulation::Incompatible => {
            let (mut free, bilinear) =
                (gradients.products_of::<0, 1>(a, b), gradients.products_of::<4, 7>(a, b));
            for i in 0..DIM {
                for j in 0..DIM {
                    free[i][j] = free[i][j] + bilinear[i][j];
                }
            }
            (between(simd, d, &free), 1)
        }
    };
    for q in first_relaxed..4 {
        let own = relaxed_block(simd, d, gradients, q, [a, b]);
        for i in 0..DIM {
            for j in 0..DIM {
                block[i][j] = block[i][j] + own[i][j];
            }
        }
    }

    for i in 0..DIM {
        for j in 0..DIM {
            // Blocks on the diagonal are symmetric to the bit.
            block[i][j] = if a == b && j < i { block[j][i] } else { modulus * block[i][j] };
        }
    }
    block
}

/// The part of a relaxed mode q in the block between nodes a and b.
#[inline(always)]
fn relaxed_block<S: Simd>(
    simd: S,
    d: &Stiffness,
    gradients: &Gradients<S>,
    q: usize,
    [a, b]: [usize; 2],
) -> Matrix<S> {
    let (p, n) = (&gradients.at[q], &gradients.normals[q - 1]);
    let mut block = between(simd, d, &outer(&p[a], &p[b]));

    // Stresses on the planes of unit displacements, (sigma n)_i of component j.
    let inverse = across(simd, d, n);
    let (left, right) = (between(simd, d, &outer(n, &p[a])), between(simd, d, &outer(n, &p[b])));
    for j in 0..DIM {
        let alpha = applied(&inverse, &[right[0][j], right[1][j], right[2][j]]);
        for i in 0..DIM {
            for k in 0..DIM {
                block[i][j] = left[k][i].negate_mul_add(alpha[k], block[i][j]);
            }
        }
    }

    project(n, &mut block);
    for row in &mut block {
        let along = n[2].mul_add(row[2], n[1].mul_add(row[1], n[0] * row[0]));
        for j in 0..DIM {
            row[j] = n[j].negate_mul_add(along, row[j]);
        }
    }
    block
}

/// Sum over k and l of D_(ik)(jl) P_kl.
#[inline(always)]
fn between<S: Simd>(simd: S, d: &Stiffness, products: &Matrix<S>) -> Matrix<S> {
    let mut block = *products;
    for i in 0..DIM {
        for j in 0..DIM {
            let mut sum = Lanes::splat(simd, 0.0);
            for k in 0..DIM {
                for l in 0..DIM {
                    let entry = Lanes::splat(simd, d[PLACE[i][k]][PLACE[j][l]]);
                    sum = entry.mul_add(products[k][l], sum);
                }
            }
            block[i][j] = sum;
        }
    }
    block
}
