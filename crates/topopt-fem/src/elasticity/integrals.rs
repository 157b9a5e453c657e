//! Integrals of elasticity over elements, by Lame's constants (lambda, mu) at Young's modulus 1.

use pulp::Simd;
use topopt_mesh::hexahedron;

use crate::DIM;
use crate::elements::Corners;
use crate::operators::{
    Derivatives, GRADIENT_SCALE, Lanes, Matrix, Nodal, at_point, cofactors, derivatives,
    derivatives_transposed, slots, times,
};
use crate::shape_gradients::{join_twins, physical_gradients};

/// The blocks of K_e that couple each node with itself, (xx, xy, yy, zx, yz, zz); see
/// [`crate::ElementKernel::diagonal_blocks`].
pub fn diagonal_blocks(hex: &[u32; 8], x: &Corners, (lambda, mu): (f64, f64)) -> [[f64; 6]; 8] {
    const DIAGONAL: [usize; DIM] = [0, 2, 5]; // xx, yy, zz
    const BESIDE: [usize; DIM] = [1, 4, 3]; // xy, yz, zx
    let mut blocks = [[0.0; 6]; 8];
    for xi in hexahedron::gauss_points() {
        let (mut g, det) = physical_gradients(x, xi);
        join_twins(hex, &mut g);
        for a in 0..8 {
            let dot: f64 = g[a].iter().map(|v| v * v).sum();
            for i in 0..DIM {
                let along = ((lambda + mu) * g[a][i] * g[a][i] + mu * dot) * det;
                blocks[a][DIAGONAL[i]] += along;
                blocks[a][BESIDE[i]] += (lambda + mu) * g[a][i] * g[a][(i + 1) % DIM] * det;
            }
        }
    }
    blocks
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

/// scale * (lambda tr(h) I + mu (h + h^T)).
#[inline(always)]
fn stress<S: Simd>(h: &Matrix<S>, lame: (Lanes<S>, Lanes<S>), scale: Lanes<S>) -> Matrix<S> {
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
