//! Integrals of elasticity by strain modes: the element matrix by plain loops, and blocks in lanes.

use pulp::Simd;

use super::integrals::plane;
use super::twins::{Twin, joined};
use crate::elements::Corners;
use crate::mode_geometry::set_modes;
use crate::operators::{Gradients, Lanes, Matrix, Nodal};
use crate::strain_modes::StrainMode;
use crate::{DIM, ElementMatrix};

/// K_e of the element at `x` by plain loops.
pub fn matrix(x: &Corners, (lambda, mu): (f64, f64)) -> ElementMatrix<DIM> {
    let mut ke = [[[[0.0; DIM]; 8]; DIM]; 8];
    for mode in StrainMode::all(x) {
        // Without stress along the normal, the strain within the planes is that of plane stress.
        let (normal, lambda) = match mode.normal {
            Some(normal) => (normal, plane(lambda, mu)),
            None => ([0.0; DIM], lambda),
        };
        let p = mode.gradients.map(|p| {
            let along: f64 = (0..DIM).map(|i| p[i] * normal[i]).sum();
            std::array::from_fn::<f64, DIM, _>(|i| p[i] - along * normal[i])
        });

        for (a, b) in (0..64).map(|k| (k / 8, k % 8)) {
            let dot: f64 = (0..DIM).map(|k| p[a][k] * p[b][k]).sum();
            for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                let within = f64::from(u8::from(i == j)) - normal[i] * normal[j];
                let entry = lambda * p[a][i] * p[b][j] + mu * (p[a][j] * p[b][i] + dot * within);
                ke[a][i][b][j] += mode.weight * entry;
            }
        }
    }
    ke
}

/// The block of K_e between nodes a and b, of the `gradients` of strain modes.
#[inline(always)]
pub fn block<S: Simd>(
    simd: S,
    gradients: &Gradients<S>,
    [a, b]: [usize; 2],
    modulus: Lanes<S>,
    (lambda, mu): (f64, f64),
) -> Matrix<S> {
    let mut free = gradients.products_of::<0, 1>(a, b);
    let bilinear = gradients.products_of::<4, 7>(a, b);
    let relaxed = [
        gradients.products_of::<1, 2>(a, b),
        gradients.products_of::<2, 3>(a, b),
        gradients.products_of::<3, 4>(a, b),
    ];

    let plane = Lanes::splat(simd, plane(lambda, mu)) * modulus;
    let lambda = Lanes::splat(simd, lambda) * modulus;
    let mu = Lanes::splat(simd, mu) * modulus;
    let traces = relaxed.map(|t| mu * (t[0][0] + t[1][1] + t[2][2]));
    let (mut all, mut block) = (free, free);
    for i in 0..DIM {
        for j in 0..DIM {
            free[i][j] = free[i][j] + bilinear[i][j];
            let sum = relaxed[0][i][j] + relaxed[1][i][j] + relaxed[2][i][j];
            all[i][j] = free[i][j] + sum;
            block[i][j] = lambda.mul_add(free[i][j], plane * sum);
        }
    }

    let trace = mu * (all[0][0] + all[1][1] + all[2][2]);
    for i in 0..DIM {
        for j in 0..DIM {
            let mut entry = mu.mul_add(all[j][i], block[i][j]);
            for k in 0..DIM {
                let n = &gradients.normals[k];
                entry = (traces[k] * n[i]).negate_mul_add(n[j], entry);
            }
            block[i][j] = entry;
        }
        block[i][i] = block[i][i] + trace;
    }
    block
}

/// Diagonal blocks of K_e, see [`super::integrals::lane_diagonal_blocks`].
#[inline(always)]
pub fn diagonal_blocks<S: Simd>(
    simd: S,
    x: &Nodal<S>,
    twins: &[Twin],
    lame: (f64, f64),
) -> [[Lanes<S>; 6]; 8] {
    let mut gradients = Gradients::zeros(simd);
    set_modes::<S, true>(simd, x, &mut gradients);
    for mode in gradients.at.iter_mut().take(7) {
        *mode = joined(simd, mode, twins);
    }
    let one = Lanes::splat(simd, 1.0);
    let mut blocks = [[one; 6]; 8];
    for a in 0..8 {
        let k = block(simd, &gradients, [a, a], one, lame);
        blocks[a] = [k[0][0], k[0][1], k[1][1], k[2][0], k[1][2], k[2][2]];
    }
    blocks
}
