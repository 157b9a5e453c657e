//! Integrals of elasticity over elements, by Lame's constants (lambda, mu) at Young's modulus 1.

use pulp::Simd;
use topopt_mesh::hexahedron::{self, GAUSS, NODES};

use super::twins::{Twin, joined};
use crate::elements::Corners;
use crate::operators::{
    DETERMINANT_SCALE, Derivatives, GRADIENT_SCALE, Gradients, Lanes, Matrix, Nodal, at_point,
    cofactors, derivatives, derivatives_transposed, slots, times,
};
use crate::shape_gradients::physical_gradients;
use crate::{DIM, ElementMatrix};

/// K_e of the element at `x` by plain loops.
pub fn matrix(x: &Corners, lame: (f64, f64)) -> ElementMatrix<DIM> {
    let mut ke = [[[[0.0; DIM]; 8]; DIM]; 8];
    for xi in hexahedron::gauss_points() {
        let (g, det) = physical_gradients(x, xi);

        for a in 0..8 {
            for b in 0..8 {
                let coupling = coupling(g[a], g[b], lame);
                for i in 0..DIM {
                    for j in 0..DIM {
                        ke[a][i][b][j] += coupling[i][j] * det;
                    }
                }
            }
        }
    }
    ke
}

/// B_a^T D B_b for isotropic D and shape functions of the gradients a and b.
pub fn coupling(a: [f64; DIM], b: [f64; DIM], (lambda, mu): (f64, f64)) -> [[f64; DIM]; DIM] {
    let dot: f64 = (0..DIM).map(|k| a[k] * b[k]).sum();
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let identity = if i == j { mu * dot } else { 0.0 };
            lambda * a[i] * b[j] + mu * a[j] * b[i] + identity
        })
    })
}

/// The block of K_e between nodes a and b.
#[inline(always)]
pub fn block<S: Simd>(
    simd: S,
    gradients: &Gradients<S>,
    [a, b]: [usize; 2],
    modulus: Lanes<S>,
    lame: (f64, f64),
) -> Matrix<S> {
    let lambda = Lanes::splat(simd, lame.0) * modulus;
    let mu = Lanes::splat(simd, lame.1) * modulus;
    let p = gradients.products(a, b);
    let trace = mu * (p[0][0] + p[1][1] + p[2][2]);

    let mut block = p;
    for i in 0..DIM {
        for j in 0..DIM {
            let sum = if i == j { trace } else { mu * p[j][i] };
            block[i][j] = lambda.mul_add(p[i][j], sum);
        }
        block[i][i] = mu.mul_add(p[i][i], block[i][i]);
    }
    block
}

/// Diagonal blocks by full integration.
///
/// The block of a node with gradient g is the integral of (lambda + mu) g g^T + mu |g|^2.
#[inline(always)]
pub fn lane_diagonal_blocks<S: Simd>(
    simd: S,
    x: &Nodal<S>,
    twins: &[Twin],
    (lambda, mu): (f64, f64),
) -> [[Lanes<S>; 6]; 8] {
    // Two cofactors carry GRADIENT_SCALE to the fourth.
    let scale = Lanes::splat(simd, 1.0 / (GRADIENT_SCALE.powi(4) * DETERMINANT_SCALE));
    let dx = [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)];
    let mut blocks = [[Lanes::splat(simd, 0.0); 6]; 8];
    for q in 0..8 {
        let (cofactors, det) = cofactors(&at_point(&dx, slots(q)));
        let weight = scale * det.recip();
        let gradients = joined(simd, &shape_gradients(simd, &cofactors, q), twins);
        for a in 0..8 {
            let ([x, y, z], block) = (gradients[a], &mut blocks[a]);
            let (wx, wy, wz) = (weight * x, weight * y, weight * z);
            block[0] = wx.mul_add(x, block[0]);
            block[1] = wx.mul_add(y, block[1]);
            block[2] = wy.mul_add(y, block[2]);
            block[3] = wz.mul_add(x, block[3]);
            block[4] = wy.mul_add(z, block[4]);
            block[5] = wz.mul_add(z, block[5]);
        }
    }

    let (sum, mu) = (Lanes::splat(simd, lambda + mu), Lanes::splat(simd, mu));
    for a in 0..8 {
        let [xx, xy, yy, zx, yz, zz] = blocks[a];
        let along = mu * (xx + yy + zz);
        let [xx, yy, zz] = [xx.mul_add(sum, along), yy.mul_add(sum, along), zz.mul_add(sum, along)];
        blocks[a] = [xx, sum * xy, yy, sum * zx, sum * yz, zz];
    }
    blocks
}

/// Gradients of the shape functions by the reference coordinates, `[point][node][direction]`;
/// the Gauss points in the order of [`slots`].
const REFERENCE_GRADIENTS: [[[f64; DIM]; 8]; 8] = {
    let mut gradients = [[[0.0; DIM]; 8]; 8];
    let (mut q, mut a) = (0, 0);
    while q < 8 {
        let signs = [(q >> 2) as f64, (q >> 1 & 1) as f64, (q & 1) as f64];
        let n = NODES[a];
        let x = 1.0 + n[0] * GAUSS * (2.0 * signs[0] - 1.0);
        let y = 1.0 + n[1] * GAUSS * (2.0 * signs[1] - 1.0);
        let z = 1.0 + n[2] * GAUSS * (2.0 * signs[2] - 1.0);
        gradients[q][a] = [0.125 * n[0] * y * z, 0.125 * n[1] * x * z, 0.125 * n[2] * x * y];
        (q, a) = (q + (a + 1) / 8, (a + 1) % 8);
    }
    gradients
};

/// det J times the gradients of the shape functions at Gauss point q, as the `cofactors` there are
/// scaled.
#[inline(always)]
fn shape_gradients<S: Simd>(simd: S, cofactors: &Matrix<S>, q: usize) -> Nodal<S> {
    let mut gradients = [[Lanes::splat(simd, 0.0); DIM]; 8];
    for a in 0..8 {
        let [x, y, z] = REFERENCE_GRADIENTS[q][a];
        let (x, y, z) = (Lanes::splat(simd, x), Lanes::splat(simd, y), Lanes::splat(simd, z));
        for i in 0..DIM {
            let sum = y.mul_add(cofactors[1][i], x * cofactors[0][i]);
            gradients[a][i] = z.mul_add(cofactors[2][i], sum);
        }
    }
    gradients
}

/// Forces at the nodes of elements with coordinates `x`, displacements `u`, moduli `modulus`,
/// and Lame's constants (lambda, mu) at unit modulus.
///
/// Plain loops, here and below: a closure would not be compiled for the wide registers. The Gauss
/// points are written out, so that indices are constants and values can stay in registers.
#[inline(always)]
pub fn element_forces<S: Simd>(
    simd: S,
    x: &Nodal<S>,
    u: &Nodal<S>,
    modulus: Lanes<S>,
    lame: (f64, f64),
) -> Nodal<S> {
    // Gradient of u, two cofactors and the transpose carry GRADIENT_SCALE to the sixth, 1/det J to
    // the -third.
    let scale = GRADIENT_SCALE.powi(-3);
    let lame = (Lanes::splat(simd, scale * lame.0), Lanes::splat(simd, scale * lame.1));

    let gradients = [
        [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)],
        [derivatives(simd, u, 0), derivatives(simd, u, 1), derivatives(simd, u, 2)],
    ];

    let zero = Lanes::splat(simd, 0.0);
    let mut flux = [[[zero; 4]; 3]; 3];
    add_flux(&gradients, modulus, lame, 0, &mut flux);
    add_flux(&gradients, modulus, lame, 1, &mut flux);
    add_flux(&gradients, modulus, lame, 2, &mut flux);
    add_flux(&gradients, modulus, lame, 3, &mut flux);
    add_flux(&gradients, modulus, lame, 4, &mut flux);
    add_flux(&gradients, modulus, lame, 5, &mut flux);
    add_flux(&gradients, modulus, lame, 6, &mut flux);
    add_flux(&gradients, modulus, lame, 7, &mut flux);

    let mut forces = [[zero; 3]; 8];
    for c in 0..3 {
        derivatives_transposed(simd, &flux[c], c, &mut forces);
    }
    forces
}

/// Adds sigma_c . cofactor row k at Gauss point q, the flux conjugate to du_c/dxi_k, to
/// `flux[c][k]`; `gradients` are those of x and u.
#[inline(always)]
fn add_flux<S: Simd>(
    [dx, du]: &[[Derivatives<S>; 3]; 2],
    modulus: Lanes<S>,
    lame: (Lanes<S>, Lanes<S>),
    q: usize,
    flux: &mut [Derivatives<S>; 3],
) {
    let at = slots(q);
    let (cofactors, det) = cofactors(&at_point(dx, at));
    let h = times(&at_point(du, at), &cofactors); // det J grad u
    let stress = stress(&h, lame, modulus * det.recip());
    for c in 0..3 {
        for k in 0..3 {
            let sum = stress[c][0].mul_add(cofactors[k][0], flux[c][k][at[k]]);
            let sum = stress[c][1].mul_add(cofactors[k][1], sum);
            flux[c][k][at[k]] = stress[c][2].mul_add(cofactors[k][2], sum);
        }
    }
}

/// Lame's lambda of plane stress.
pub fn plane(lambda: f64, mu: f64) -> f64 {
    2.0 * lambda * mu / (lambda + 2.0 * mu)
}

/// scale * (lambda tr(h) I + mu (h + h^T)).
#[inline(always)]
pub fn stress<S: Simd>(h: &Matrix<S>, lame: (Lanes<S>, Lanes<S>), scale: Lanes<S>) -> Matrix<S> {
    let (lambda, mu) = (lame.0 * scale, lame.1 * scale);
    let pressure = lambda * (h[0][0] + h[1][1] + h[2][2]);
    let mut stress = *h;
    for i in 0..3 {
        for j in 0..3 {
            let twice_strain = h[i][j] + h[j][i];
            stress[i][j] =
                if i == j { mu.mul_add(twice_strain, pressure) } else { mu * twice_strain };
        }
    }
    stress
}
