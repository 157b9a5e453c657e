//! Strain modes of hexahedra, several elements per SIMD lane group: geometry, gradients, and the
//! coefficients of fields.
//!
//! The formulas are those of [`crate::StrainMode`], with monomials by the bits of the tensor
//! position (xi 4, eta 2, zeta 1). Coordinates, nodal fields and forces are eight times
//! coefficients, odd ones negative: both signs cancel but in the volume.

use pulp::Simd;
use topopt_mesh::hexahedron::NODES;

use crate::operators::{Gradients, Lanes, NODE, Nodal, hadamard};

/// Product of the scales of coordinates in a determinant, with the sign of its odd monomials.
pub const VOLUME_SCALE: f64 = -1.0 / 64.0;

pub const ZETA: usize = 1;
pub const ETA: usize = 2;
pub const ETA_ZETA: usize = 3;
pub const XI: usize = 4;
pub const XI_ZETA: usize = 5;
pub const XI_ETA: usize = 6;
pub const ALL: usize = 7;

const POSITIONS: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Monomials that have a mean gradient.
pub const SMOOTH: [usize; 6] = [XI, ETA, ZETA, XI_ETA, XI_ZETA, ETA_ZETA];

/// Monomials that deform an element in hourglasses.
pub const HOURGLASS: [usize; 4] = [XI_ETA, XI_ZETA, ETA_ZETA, ALL];

/// A vector in lanes.
pub type Vector<S> = [Lanes<S>; 3];

/// Geometry of elements in lanes.
pub struct Geometry<S: Simd> {
    /// Mean cofactors, by the order of [`SMOOTH`].
    pub mean: [Vector<S>; 6],
    /// Cofactors at the center.
    pub center: [Vector<S>; 3],
    /// Mean determinant, and the one at the center.
    pub determinants: [Lanes<S>; 2],
}

impl<S: Simd> Geometry<S> {
    /// Geometry of elements with the coefficients `x`.
    #[inline(always)]
    pub fn of(simd: S, x: &Nodal<S>) -> Self {
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
    pub fn gradient<const N: usize>(&self, simd: S, u: &Nodal<S, N>) -> [Vector<S>; N] {
        let mut gradient = [[Lanes::splat(simd, 0.0); 3]; N];
        let inverse = self.determinants[0].recip();
        for c in 0..N {
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
    /// Hourglass coefficients of a field `u`, by the order of [`HOURGLASS`], without what its mean
    /// `gradient` gives those of the coordinates `x`.
    #[inline(always)]
    pub fn hourglass<const N: usize>(
        x: &Nodal<S>,
        u: &Nodal<S, N>,
        gradient: &[Vector<S>; N],
    ) -> [[Lanes<S>; N]; 4] {
        let mut hourglass = [u[0]; 4];
        for (h, &m) in hourglass.iter_mut().zip(&HOURGLASS) {
            for c in 0..N {
                h[c] = u[m][c] - dot(gradient[c], x[m]);
            }
        }
        hourglass
    }
}

/// Sets the gradients of the strain modes of elements with coordinates `x`, each times the root of
/// its weight; if RELAXED, those of linear modes within the planes of their normals.
#[inline(always)]
pub fn set_modes<S: Simd, const RELAXED: bool>(
    simd: S,
    x: &Nodal<S>,
    gradients: &mut Gradients<S>,
) {
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
            let mode = if RELAXED { within(modes[k], normals[k], one) } else { modes[k] };
            gradients.at[1 + k][node] = scaled(linear, mode);
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

/// Coefficients of monomials by tensor position, eight times; odd ones negative.
#[inline(always)]
pub fn coefficients<S: Simd, const N: usize>(v: &Nodal<S, N>) -> Nodal<S, N> {
    transformed(v, &NODE, &POSITIONS)
}

/// Values at the nodes, the transpose of [`coefficients`].
#[inline(always)]
pub fn from_coefficients<S: Simd, const N: usize>(v: &Nodal<S, N>) -> Nodal<S, N> {
    transformed(v, &POSITIONS, &NODE)
}

/// The Hadamard transform of each component; position n is read at `from[n]` and written at
/// `to[n]`.
#[inline(always)]
fn transformed<S: Simd, const N: usize>(
    v: &Nodal<S, N>,
    from: &[usize; 8],
    to: &[usize; 8],
) -> Nodal<S, N> {
    let mut out = *v;
    for c in 0..N {
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

/// The vector product.
#[inline(always)]
fn cross<S: Simd>(a: Vector<S>, b: Vector<S>) -> Vector<S> {
    [
        a[2].negate_mul_add(b[1], a[1] * b[2]),
        a[0].negate_mul_add(b[2], a[2] * b[0]),
        a[1].negate_mul_add(b[0], a[0] * b[1]),
    ]
}

/// The scalar product.
#[inline(always)]
pub fn dot<S: Simd>(a: Vector<S>, b: Vector<S>) -> Lanes<S> {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

/// The sum of two vectors.
#[inline(always)]
pub fn plus<S: Simd>(a: Vector<S>, b: Vector<S>) -> Vector<S> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// A vector times a factor.
#[inline(always)]
pub fn scaled<S: Simd>(factor: Lanes<S>, a: Vector<S>) -> Vector<S> {
    [factor * a[0], factor * a[1], factor * a[2]]
}

/// a + factor b.
#[inline(always)]
pub fn add<S: Simd>(a: Vector<S>, factor: Lanes<S>, b: Vector<S>) -> Vector<S> {
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
