//! Forces of elasticity by strain modes, several elements per SIMD lane group, with coordinates,
//! displacements and forces scaled as in [`crate::mode_geometry`].

use pulp::Simd;

use super::integrals::{plane, stress};
use crate::mode_geometry::{
    ETA, Geometry, HOURGLASS, SMOOTH, VOLUME_SCALE, Vector, XI, ZETA, add, coefficients, dot,
    from_coefficients, plus, scaled,
};
use crate::operators::{Lanes, Nodal};

/// Forces at the nodes of elements with coordinates `x`, displacements `u`, moduli `modulus`, and
/// Lame's constants (lambda, mu) at unit modulus.
#[inline(always)]
pub fn mode_forces<S: Simd>(
    simd: S,
    [x, u]: [&Nodal<S>; 2],
    modulus: Lanes<S>,
    lame: (f64, f64),
) -> Nodal<S> {
    let (x, u) = (coefficients(x), coefficients(u));
    let geometry = Geometry::of(simd, &x);
    let gradient = geometry.gradient(simd, &u);

    let hourglass = Geometry::hourglass(&x, &u, &gradient);
    let scale = Lanes::splat(simd, VOLUME_SCALE) * modulus;
    let tangents = [XI, ETA, ZETA].map(|m| x[m]);
    let forces = hourglass_forces(simd, &geometry, tangents, &hourglass, scale, lame);

    // Stress of the mean gradient times the volume, less what the hourglasses take of it.
    let [volume, _] = geometry.determinants;
    let lanes = (Lanes::splat(simd, lame.0), Lanes::splat(simd, lame.1));
    let mut flux = stress(&gradient, lanes, scale);
    let inverse = volume.recip();
    for c in 0..3 {
        for i in 0..3 {
            for k in 0..4 {
                let taken = forces[k][c] * inverse;
                flux[c][i] = taken.negate_mul_add(x[HOURGLASS[k]][i], flux[c][i]);
            }
        }
    }

    let mut out = [[Lanes::splat(simd, 0.0); 3]; 8];
    for m in 0..6 {
        for c in 0..3 {
            out[SMOOTH[m]][c] = dot(flux[c], geometry.mean[m]);
        }
    }
    for k in 0..4 {
        out[HOURGLASS[k]] = plus(out[HOURGLASS[k]], forces[k]);
    }
    from_coefficients(&out)
}

/// Forces of the hourglass coefficients, in the order of [`HOURGLASS`], for the element whose
/// coordinates have the linear coefficients `tangents`, along xi, eta and zeta.
#[inline(always)]
fn hourglass_forces<S: Simd>(
    simd: S,
    geometry: &Geometry<S>,
    tangents: [Vector<S>; 3],
    [xy, xz, yz, all]: &[Vector<S>; 4],
    scale: Lanes<S>,
    lame: (f64, f64),
) -> [Vector<S>; 4] {
    let [volume, at_center] = geometry.determinants;
    let [t_x, t_y, t_z] = tangents;
    let (xx, yy, zz) = (dot(t_x, t_x), dot(t_y, t_y), dot(t_z, t_z));
    let (x_y, x_z, y_z) = (dot(t_x, t_y), dot(t_x, t_z), dot(t_y, t_z));
    let third = Lanes::splat(simd, 1.0 / 3.0);
    let weight = scale * third * volume;

    let plane = [t_y, t_z];
    let (xy_0, xz_0) = relaxed(simd, [*xy, *xz], plane, [yy, y_z, zz], weight, lame);
    let plane = [t_x, t_z];
    let (xy_1, yz_1) = relaxed(simd, [*xy, *yz], plane, [xx, x_z, zz], weight, lame);
    let plane = [t_x, t_y];
    let (xz_2, yz_2) = relaxed(simd, [*xz, *yz], plane, [xx, x_y, yy], weight, lame);

    // All three directions of xi eta zeta, none of them relaxed.
    let [a, b, c] = geometry.center;
    let inverse = at_center.recip();
    let weight = third * weight * inverse * inverse;
    let sum = weight * Lanes::splat(simd, lame.0 + lame.1);
    let along = weight * Lanes::splat(simd, lame.1) * (dot(a, a) + dot(b, b) + dot(c, c));
    let mut of_all = scaled(along, *all);
    of_all = add(of_all, sum * dot(a, *all), a);
    of_all = add(of_all, sum * dot(b, *all), b);
    of_all = add(of_all, sum * dot(c, *all), c);

    [plus(xy_0, xy_1), plus(xz_0, xz_2), plus(yz_1, yz_2), of_all]
}

/// Forces of two hourglass coefficients h in the plane of the tangents t, which no stress leaves.
///
/// The gradient is h_0 along the first reference coordinate of the plane and h_1 along the second,
/// so that h_0 . t_0, h_1 . t_1 and h_0 . t_1 + h_1 . t_0 are all of its strain in the plane. With
/// `metric` (t_0 . t_0, t_0 . t_1, t_1 . t_1) = (m_00, m_01, m_11) of determinant M, the stress is
/// that of an isotropic material in plane stress; as A = adj(m) has A e A = (A : e) A - M adj(e),
/// it takes one product.
#[inline(always)]
fn relaxed<S: Simd>(
    simd: S,
    h: [Vector<S>; 2],
    t: [Vector<S>; 2],
    [m_00, m_01, m_11]: [Lanes<S>; 3],
    weight: Lanes<S>,
    (lambda, mu): (f64, f64),
) -> (Vector<S>, Vector<S>) {
    let inverse = m_01.negate_mul_add(m_01, m_00 * m_11).recip();
    let shear = Lanes::splat(simd, mu) * weight * inverse;
    let twice = shear + shear;
    let normal = Lanes::splat(simd, plane(lambda, mu) / mu + 2.0) * shear * inverse;

    let (e_00, e_11) = (dot(h[0], t[0]), dot(h[1], t[1]));
    let e_01 = dot(h[0], t[1]) + dot(h[1], t[0]);
    let trace = m_01.negate_mul_add(e_01, m_00.mul_add(e_11, m_11 * e_00));
    let trace = normal * trace;
    let s_00 = twice.negate_mul_add(e_11, trace * m_11);
    let s_11 = twice.negate_mul_add(e_00, trace * m_00);
    let s_01 = trace.negate_mul_add(m_01, shear * e_01);
    (add(scaled(s_00, t[0]), s_01, t[1]), add(scaled(s_11, t[1]), s_01, t[0]))
}
