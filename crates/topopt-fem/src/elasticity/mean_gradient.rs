//! Integrals of elasticity over hexahedra by strain modes, several elements per SIMD lane group.
//!
//! The formulas are those of [`crate::StrainMode`], with monomials by the bits of the tensor
//! position (xi 4, eta 2, zeta 1). Coordinates, displacements and forces are eight times
//! coefficients, odd ones negative: both signs cancel but in the volume.

use pulp::Simd;

use topopt_mesh::hexahedron::NODES;

use super::integrals::{plane, stress};
use crate::operators::{Gradients, Lanes, Matrix, NODE, Nodal, hadamard};

/// Product of the scales of coordinates in a determinant, with the sign of its odd monomials.
const VOLUME_SCALE: f64 = -1.0 / 64.0;

const ZETA: usize = 1;
const ETA: usize = 2;
const ETA_ZETA: usize = 3;
const XI: usize = 4;
const XI_ZETA: usize = 5;
const XI_ETA: usize = 6;
const ALL: usize = 7;

const POSITIONS: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Monomials that have a mean gradient.
const SMOOTH: [usize; 6] = [XI, ETA, ZETA, XI_ETA, XI_ZETA, ETA_ZETA];

/// Monomials that deform an element in hourglasses.
const HOURGLASS: [usize; 4] = [XI_ETA, XI_ZETA, ETA_ZETA, ALL];

type Vector<S> = [Lanes<S>; 3];

/// Geometry of elements in lanes.
struct Geometry<S: Simd> {
    /// Mean cofactors, by the order of [`SMOOTH`].
    mean: [Vector<S>; 6],
    /// Cofactors at the center.
    center: [Vector<S>; 3],
    /// Mean determinant, and the one at the center.
    determinants: [Lanes<S>; 2],
}

impl<S: Simd> Geometry<S> {
    /// Geometry of elements with the coefficients `x`.
    #[inline(always)]
    fn of(simd: S, x: &Nodal<S>) -> Self {
        let third = Lanes::splat(simd, 1.0 / 3.0);
        let center = [cross(x[ETA], x[ZETA]), cross(x[ZETA], x[XI]), cross(x[XI], x[ETA])];
        let mean = [
            add(center[0], third, cross(x[XI_ETA], x[XI_ZETA])),
            add(center[1], third, cross(x[ETA_ZETA], x[XI_ETA])),
            add(center[2], third, cross(x[XI_ZETA], x[ETA_ZETA])),
            scaled(third, plus(cross(x[ETA], x[ETA_ZETA]), cross(x[XI_ZETA], x[XI]))),
            scaled(third, plus(cross(x[ETA_ZETA], x[ZETA]), cross(x[XI], x[XI_ETA]))),
            scaled(third, plus(cross(x[ZETA], x[XI_ZETA]), cross(x[XI_ETA], x[ETA]))),
        ];

        let mut sum = dot(x[SMOOTH[0]], mean[0]);
        for m in 1..6 {
            sum = sum + dot(x[SMOOTH[m]], mean[m]);
        }
        let at_center = dot(x[XI], center[0]);
        Self { mean, center, determinants: [third * sum, at_center] }
    }

    /// Mean gradient of a field with the coefficients `u`, `[component][direction]`.
    #[inline(always)]
    fn gradient(&self, simd: S, u: &Nodal<S>) -> Matrix<S> {
        let mut gradient = [[Lanes::splat(simd, 0.0); 3]; 3];
        let inverse = self.determinants[0].recip();
        for c in 0..3 {
            for i in 0..3 {
                let mut sum = u[SMOOTH[0]][c] * self.mean[0][i];
                for m in 1..6 {
                    sum = u[SMOOTH[m]][c].mul_add(self.mean[m][i], sum);
                }
                gradient[c][i] = inverse * sum;
            }
        }
        gradient
    }
}

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

    // Hourglass coefficients without the part of the mean gradient.
    let mut hourglass = [x[0]; 4];
    for (h, &m) in hourglass.iter_mut().zip(&HOURGLASS) {
        for c in 0..3 {
            h[c] = u[m][c] - dot(gradient[c], x[m]);
        }
    }

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

/// Sets the gradients of the strain modes of elements with coordinates `x`, each times the root of
/// its weight; those of relaxed modes within their planes.
#[inline(always)]
pub fn set_modes<S: Simd>(simd: S, x: &Nodal<S>, gradients: &mut Gradients<S>) {
    let x = coefficients(x);
    let geometry = Geometry::of(simd, &x);
    let [volume, at_center] = geometry.determinants;
    let zero = [Lanes::splat(simd, 0.0); 3];
    let mut mean = [zero; 8];
    for m in 0..6 {
        mean[SMOOTH[m]] = geometry.mean[m];
    }
    let mean = from_coefficients(&mean);

    let root = (Lanes::splat(simd, VOLUME_SCALE) * volume).sqrt();
    let [linear, bilinear] = [1.0 / 3.0, 1.0 / 9.0].map(|share: f64| share.sqrt());
    let (of_mean, of_center) = (volume.recip(), root * at_center.recip());
    let linear = Lanes::splat(simd, linear) * of_center;
    let bilinear = Lanes::splat(simd, bilinear) * of_center;
    // Loops, as closures of several operations were not inlined, and each of these was a call.
    let [a, b, c] = geometry.center;
    let mut normals = [a, b, c];
    for n in &mut normals {
        *n = scaled(dot(*n, *n).sqrt().recip(), *n);
    }
    gradients.normals = normals;

    for node in 0..8 {
        let gradient = scaled(of_mean, mean[node]);
        let mut hourglass = [of_mean; 4];
        for (h, &m) in hourglass.iter_mut().zip(&HOURGLASS) {
            *h = Lanes::splat(simd, sign(node, m)) - dot(gradient, x[m]);
        }
        let [xy, xz, yz, all] = hourglass;
        let modes =
            [add(scaled(xy, b), xz, c), add(scaled(xy, a), yz, c), add(scaled(xz, a), yz, b)];
        gradients.at[0][node] = scaled(root, gradient);
        for k in 0..3 {
            let one = Lanes::splat(simd, 1.0);
            gradients.at[1 + k][node] = scaled(linear, within(modes[k], normals[k], one));
            gradients.at[4 + k][node] = scaled(bilinear * all, geometry.center[k]);
        }
    }
}

/// Sign of a monomial's coefficient, by tensor position, in the shape function of `node`.
const fn sign(node: usize, monomial: usize) -> f64 {
    let mut sign = 1.0;
    let mut k = 0;
    while k < 3 {
        if monomial >> (2 - k) & 1 == 1 {
            sign *= -NODES[node][k];
        }
        k += 1;
    }
    sign
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

/// Coefficients of monomials by tensor position, eight times; odd ones negative.
#[inline(always)]
fn coefficients<S: Simd>(v: &Nodal<S>) -> Nodal<S> {
    transformed(v, &NODE, &POSITIONS)
}

/// Values at the nodes, the transpose of [`coefficients`].
#[inline(always)]
fn from_coefficients<S: Simd>(v: &Nodal<S>) -> Nodal<S> {
    transformed(v, &POSITIONS, &NODE)
}

/// The Hadamard transform of each component; position n is read at `from[n]` and written at
/// `to[n]`.
#[inline(always)]
fn transformed<S: Simd>(v: &Nodal<S>, from: &[usize; 8], to: &[usize; 8]) -> Nodal<S> {
    let mut out = *v;
    for c in 0..3 {
        let mut values = [v[0][c]; 8];
        for n in 0..8 {
            values[n] = v[from[n]][c];
        }
        let values = hadamard(values);
        for n in 0..8 {
            out[to[n]][c] = values[n];
        }
    }
    out
}

#[inline(always)]
fn cross<S: Simd>(a: Vector<S>, b: Vector<S>) -> Vector<S> {
    [
        a[2].negate_mul_add(b[1], a[1] * b[2]),
        a[0].negate_mul_add(b[2], a[2] * b[0]),
        a[1].negate_mul_add(b[0], a[0] * b[1]),
    ]
}

#[inline(always)]
fn dot<S: Simd>(a: Vector<S>, b: Vector<S>) -> Lanes<S> {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

#[inline(always)]
fn plus<S: Simd>(a: Vector<S>, b: Vector<S>) -> Vector<S> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn scaled<S: Simd>(factor: Lanes<S>, a: Vector<S>) -> Vector<S> {
    [factor * a[0], factor * a[1], factor * a[2]]
}

/// a + factor b.
#[inline(always)]
fn add<S: Simd>(a: Vector<S>, factor: Lanes<S>, b: Vector<S>) -> Vector<S> {
    [factor.mul_add(b[0], a[0]), factor.mul_add(b[1], a[1]), factor.mul_add(b[2], a[2])]
}

/// The part of `a` within the planes of normal `n`, with 1 / |n|^2 as `inverse`.
#[inline(always)]
fn within<S: Simd>(a: Vector<S>, n: Vector<S>, inverse: Lanes<S>) -> Vector<S> {
    let along = inverse * dot(a, n);
    [
        along.negate_mul_add(n[0], a[0]),
        along.negate_mul_add(n[1], a[1]),
        along.negate_mul_add(n[2], a[2]),
    ]
}
