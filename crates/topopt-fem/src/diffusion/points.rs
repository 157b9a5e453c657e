//! Diffusion by the 2x2x2 Gauss rule, several elements per SIMD lane group.

use pulp::Simd;
use topopt_mesh::hexahedron::GAUSS;

use crate::operators::{
    DETERMINANT_SCALE, GRADIENT_SCALE, Lanes, NODE, Nodal, at_point, cofactors, derivatives,
    derivatives_transposed, slots, times,
};

/// Operations of [`product`] for one element: derivatives 4 x 72, Gauss points 8 x 70, the
/// transpose 57, capacity 112.
pub const FLOPS: f64 = 1017.0;

/// (k L + c M) u of elements with coordinates `x` and values `u`.
#[inline(always)]
pub fn product<S: Simd>(
    simd: S,
    [conductivity, capacity]: [Lanes<S>; 2],
    x: &Nodal<S>,
    u: &Nodal<S, 1>,
) -> Nodal<S, 1> {
    // Gradient of u, two cofactors and the transpose carry the scale to the sixth, 1 / det J to
    // the -third.
    let k = Lanes::splat(simd, GRADIENT_SCALE.powi(-3)) * conductivity;
    let dx = [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)];
    let du = [derivatives(simd, u, 0)];
    let zero = Lanes::splat(simd, 0.0);
    let (mut flux, mut dets) = ([[zero; 4]; 3], [zero; 8]);
    for q in 0..8 {
        let at = slots(q);
        let (cofactors, det) = cofactors(&at_point(&dx, at));
        let [h] = times(&at_point(&du, at), &cofactors); // det J grad u
        let scale = k * det.recip();
        for j in 0..3 {
            let sum = h[1].mul_add(cofactors[j][1], h[0] * cofactors[j][0]);
            let sum = h[2].mul_add(cofactors[j][2], sum);
            flux[j][at[j]] = scale.mul_add(sum, flux[j][at[j]]);
        }
        dets[q] = det;
    }

    let mut out = [[zero]; 8];
    derivatives_transposed(simd, &flux, 0, &mut out);
    let c = Lanes::splat(simd, DETERMINANT_SCALE) * capacity;
    let shares = shares(simd, dets);
    for a in 0..8 {
        out[a][0] = (c * shares[a]).mul_add(u[a][0], out[a][0]);
    }
    out
}

/// The integrals of the shape functions for values of det J at the Gauss points, one direction
/// after the other.
#[inline(always)]
pub fn shares<S: Simd>(simd: S, mut values: [Lanes<S>; 8]) -> [Lanes<S>; 8] {
    let near = Lanes::splat(simd, 0.5 * (1.0 + GAUSS));
    let far = Lanes::splat(simd, 0.5 * (1.0 - GAUSS));
    for bit in [4, 2, 1] {
        for q in 0..8 {
            if q & bit == 0 {
                let (low, high) = (values[q], values[q | bit]);
                values[q] = near.mul_add(low, far * high);
                values[q | bit] = near.mul_add(high, far * low);
            }
        }
    }
    let mut shares = values;
    for q in 0..8 {
        shares[NODE[q]] = values[q];
    }
    shares
}
