//! Diffusion by modes of the gradient in closed form, several elements per SIMD lane group, with
//! coordinates, values and products scaled as in [`crate::mode_geometry`].

use pulp::Simd;

use super::points::shares;
use crate::lanes::MAX_LANES;
use crate::mode_geometry::{
    Geometry, HOURGLASS, SMOOTH, VOLUME_SCALE, coefficients, dot, from_coefficients, scaled,
};
use crate::operators::{Lanes, Nodal, determinants};

/// Operations of [`product`] for one element without a capacity: coefficients 4 x 24, geometry 185,
/// gradient 37, hourglasses 84, what is conjugate to them 66, values at nodes 24.
pub const FLOPS: f64 = 492.0;

/// (k L + c M) u of elements with coordinates `x` and values `u`.
#[inline(always)]
pub fn product<S: Simd>(
    simd: S,
    [conductivity, capacity]: [Lanes<S>; 2],
    (x, u): (&Nodal<S>, &Nodal<S, 1>),
) -> Nodal<S, 1> {
    let mut out = conduction(simd, conductivity, (x, u));
    let mut capacities = [0.0; MAX_LANES];
    capacity.store(&mut capacities);
    if capacities != [0.0; MAX_LANES] {
        let shares = shares(simd, determinants(simd, x));
        for a in 0..8 {
            out[a][0] = (capacity * shares[a]).mul_add(u[a][0], out[a][0]);
        }
    }
    out
}

/// k L u. The flux of the mean gradient G is less what the hourglasses H take of it. With the
/// gradients g of the reference coordinates at the center, their part of the energy is k V / 6 times
/// the sum of the squares of (H_xy g_y + H_xz g_z), of (H_xy g_x + H_yz g_z), of
/// (H_xz g_x + H_yz g_y) and, a third of them, of the three H_xyz g.
#[inline(always)]
fn conduction<S: Simd>(
    simd: S,
    conductivity: Lanes<S>,
    (x, u): (&Nodal<S>, &Nodal<S, 1>),
) -> Nodal<S, 1> {
    let (x, u) = (coefficients(x), coefficients(u));
    let geometry = Geometry::of(simd, &x);
    let gradient = geometry.gradient(simd, &u);
    let [[xy], [xz], [yz], [all]] = Geometry::hourglass(&x, &u, &gradient);

    // Products of the cofactors at the center, which are its determinant times g.
    let [a, b, c] = geometry.center;
    let (aa, bb, cc, ab, ac, bc) =
        (dot(a, a), dot(b, b), dot(c, c), dot(a, b), dot(a, c), dot(b, c));
    let [volume, at_center] = geometry.determinants;
    let third = Lanes::splat(simd, 1.0 / 3.0);
    let inverse = at_center.recip();
    let weight = third * inverse * inverse;
    let taken = [
        weight * ac.mul_add(yz, bc.mul_add(xz, (aa + bb) * xy)),
        weight * ab.mul_add(yz, bc.mul_add(xy, (aa + cc) * xz)),
        weight * ab.mul_add(xz, ac.mul_add(xy, (bb + cc) * yz)),
        weight * third * (aa + bb + cc) * all,
    ];

    let scale = Lanes::splat(simd, VOLUME_SCALE) * conductivity;
    let [mut flux] = gradient;
    for k in 0..4 {
        for i in 0..3 {
            flux[i] = taken[k].negate_mul_add(x[HOURGLASS[k]][i], flux[i]);
        }
    }
    let flux = scaled(scale, flux);

    let mut out = [[Lanes::splat(simd, 0.0)]; 8];
    for m in 0..6 {
        out[SMOOTH[m]][0] = dot(flux, geometry.mean[m]);
    }
    let scale = scale * volume;
    for k in 0..4 {
        out[HOURGLASS[k]][0] = scale.mul_add(taken[k], out[HOURGLASS[k]][0]);
    }
    from_coefficients(&out)
}
