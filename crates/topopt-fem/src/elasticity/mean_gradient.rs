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
    let forces = hourglass_forces(simd, &geometry, &hourglass, scale, lame);

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
    let [a, b, c] = geometry.center;
    let normals = [a, b, c].map(|n| scaled(dot(n, n).sqrt().recip(), n));
    gradients.normals = normals;

    for node in 0..8 {
        let gradient = scaled(of_mean, mean[node]);
        let [xy, xz, yz, all] =
            HOURGLASS.map(|m| Lanes::splat(simd, sign(node, m)) - dot(gradient, x[m]));
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

/// Forces of the hourglass coefficients, in the order of [`HOURGLASS`].
#[inline(always)]
fn hourglass_forces<S: Simd>(
    simd: S,
    geometry: &Geometry<S>,
    [xy, xz, yz, all]: &[Vector<S>; 4],
    scale: Lanes<S>,
    lame: (f64, f64),
) -> [Vector<S>; 4] {
    let [volume, at_center] = geometry.determinants;
    let [a, b, c] = geometry.center;
    let third = Lanes::splat(simd, 1.0 / 3.0);
    let inverse = at_center.recip();
    let weight = scale * third * volume * inverse * inverse;

    let (xy_0, xz_0) = relaxed(simd, [*xy, *xz], [b, c], a, weight, lame);
    let (xy_1, yz_1) = relaxed(simd, [*xy, *yz], [a, c], b, weight, lame);
    let (xz_2, yz_2) = relaxed(simd, [*xz, *yz], [a, b], c, weight, lame);

    // All three directions of xi eta zeta, none of them relaxed.
    let weight = third * weight;
    let sum = weight * Lanes::splat(simd, lame.0 + lame.1);
    let along = weight * Lanes::splat(simd, lame.1) * (dot(a, a) + dot(b, b) + dot(c, c));
    let mut of_all = scaled(along, *all);
    of_all = add(of_all, sum * dot(a, *all), a);
    of_all = add(of_all, sum * dot(b, *all), b);
    of_all = add(of_all, sum * dot(c, *all), c);

    [plus(xy_0, xy_1), plus(xz_0, xz_2), plus(yz_1, yz_2), of_all]
}

/// Forces of two hourglass coefficients h along the cofactors q, without stress on the planes of
/// normal n.
///
/// Their strain is that of h_0 (x) q_0 + h_1 (x) q_1 in these planes, of a material in plane
/// stress.
#[inline(always)]
fn relaxed<S: Simd>(
    simd: S,
    h: [Vector<S>; 2],
    q: [Vector<S>; 2],
    n: Vector<S>,
    weight: Lanes<S>,
    (lambda, mu): (f64, f64),
) -> (Vector<S>, Vector<S>) {
    let plane = Lanes::splat(simd, plane(lambda, mu)) * weight;
    let mu = Lanes::splat(simd, mu) * weight;
    let inverse = dot(n, n).recip();
    let [h_0, h_1] = [within(h[0], n, inverse), within(h[1], n, inverse)];
    let [q_0, q_1] = [within(q[0], n, inverse), within(q[1], n, inverse)];

    let (q_00, q_01, q_11) = (dot(q_0, q_0), dot(q_0, q_1), dot(q_1, q_1));
    let (h_00, h_01) = (dot(h_0, q_0), dot(h_0, q_1));
    let (h_10, h_11) = (dot(h_1, q_0), dot(h_1, q_1));
    let pressure = plane * (h_00 + h_11);

    let mut first = scaled(mu * q_00, h_0);
    first = add(first, mu * q_01, h_1);
    first = add(first, mu.mul_add(h_00, pressure), q_0);
    first = add(first, mu * h_10, q_1);
    let mut second = scaled(mu * q_01, h_0);
    second = add(second, mu * q_11, h_1);
    second = add(second, mu * h_01, q_0);
    second = add(second, mu.mul_add(h_11, pressure), q_1);
    (first, second)
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
