//! Derivatives of nodal fields at the Gauss points, and their transpose, by sum factorization.
//!
//! Sums and differences of the nodal values along the three reference directions are eight times
//! the coefficients of 1, xi, eta, zeta, xi eta, ... So a derivative is bilinear in the other two
//! directions, and takes only four values over the eight Gauss points.

use pulp::Simd;
use topopt_mesh::hexahedron::GAUSS;

use crate::lanes::{Lanes, MAX_LANES};

/// Values by node and component, `[E][N]`; by default of hexahedra.
pub type Nodal<S, const N: usize = 3, const E: usize = 8> = [[Lanes<S>; N]; E];

/// Factor of the derivatives that [`derivatives`] returns: 8, by differences near - far.
pub const GRADIENT_SCALE: f64 = -8.0;

/// det J is that times what [`cofactors`] makes of such derivatives.
pub const DETERMINANT_SCALE: f64 = -1.0 / 512.0;

/// VTK node of tensor position 4 i + 2 j + k.
pub const NODE: [usize; 8] = [0, 4, 3, 7, 1, 5, 2, 6];

/// A 3x3 matrix.
pub type Matrix<S> = [[Lanes<S>; 3]; 3];

/// The three reference derivatives of one component. Each is constant along its own direction,
/// so four values, `[2 s + t]` over the other two directions in increasing order.
pub type Derivatives<S> = [[Lanes<S>; 4]; 3];

/// Values of up to [`MAX_LANES`] elements, `[8][N][lane]`.
pub type LaneGroup<const N: usize = 3> = [[[f64; MAX_LANES]; N]; 8];

/// A lane group in registers.
#[inline(always)]
pub fn from_group<S: Simd, const N: usize>(simd: S, group: &LaneGroup<N>) -> Nodal<S, N> {
    let mut nodal = [[Lanes::splat(simd, 0.0); N]; 8];
    for a in 0..8 {
        for i in 0..N {
            nodal[a][i] = Lanes::load(simd, &group[a][i]);
        }
    }
    nodal
}

/// A lane group from registers.
#[inline(always)]
pub fn to_group<S: Simd, const N: usize>(nodal: &Nodal<S, N>, group: &mut LaneGroup<N>) {
    for a in 0..8 {
        for i in 0..N {
            nodal[a][i].store(&mut group[a][i]);
        }
    }
}

/// Returns the positions of the three derivatives at Gauss point q = (i, j, k) in their four
/// values.
#[inline(always)]
pub fn slots(q: usize) -> [usize; 3] {
    let (i, j, k) = (q >> 2, (q >> 1) & 1, q & 1);
    [2 * j + k, 2 * i + k, 2 * i + j]
}

/// The gradient `[component][direction]` at a Gauss point.
#[inline(always)]
pub fn at_point<S: Simd, const N: usize>(
    d: &[Derivatives<S>; N],
    at: [usize; 3],
) -> [[Lanes<S>; 3]; N] {
    let mut gradient = [[d[0][0][0]; 3]; N];
    for c in 0..N {
        for k in 0..3 {
            gradient[c][k] = d[c][k][at[k]];
        }
    }
    gradient
}

/// [`GRADIENT_SCALE`] times the reference derivatives of component `c` of a nodal field at the
/// Gauss points.
#[inline(always)]
pub fn derivatives<S: Simd, const N: usize>(simd: S, v: &Nodal<S, N>, c: usize) -> Derivatives<S> {
    let mut values = [v[0][c]; 8];
    for n in 0..8 {
        values[n] = v[NODE[n]][c];
    }
    let m = hadamard(values);
    [
        plane(simd, m[4], m[6], m[5], m[7]),
        plane(simd, m[2], m[6], m[3], m[7]),
        plane(simd, m[1], m[5], m[3], m[7]),
    ]
}

/// The transpose of [`derivatives`]: component `c` of the nodal forces.
#[inline(always)]
pub fn derivatives_transposed<S: Simd, const N: usize>(
    simd: S,
    flux: &Derivatives<S>,
    c: usize,
    forces: &mut Nodal<S, N>,
) {
    let (g, gg) = (Lanes::splat(simd, GAUSS), Lanes::splat(simd, GAUSS * GAUSS));
    let [i, j, k] = [hadamard_plane(flux[0]), hadamard_plane(flux[1]), hadamard_plane(flux[2])];
    let zero = Lanes::splat(simd, 0.0);
    let values = hadamard([
        zero,
        k[0],
        j[0],
        g * (j[1] + k[1]),
        i[0],
        g * (i[1] + k[2]),
        g * (i[2] + j[2]),
        gg * (i[3] + j[3] + k[3]),
    ]);
    for n in 0..8 {
        forces[NODE[n]][c] = values[n];
    }
}

/// a + s b + t c + s t d at the Gauss points s, t = +-1/sqrt 3.
#[inline(always)]
fn plane<S: Simd>(simd: S, a: Lanes<S>, b: Lanes<S>, c: Lanes<S>, d: Lanes<S>) -> [Lanes<S>; 4] {
    let g = Lanes::splat(simd, GAUSS);
    let (p, q) = (b.mul_add(g, a), d.mul_add(g, c));
    let (r, s) = (b.negate_mul_add(g, a), d.negate_mul_add(g, c));
    [q.mul_add(g, p), q.negate_mul_add(g, p), s.mul_add(g, r), s.negate_mul_add(g, r)]
}

/// Sums and differences along three directions; symmetric, so it is its own transpose.
#[inline(always)]
pub fn hadamard<S: Simd>(v: [Lanes<S>; 8]) -> [Lanes<S>; 8] {
    let [a, b, c, d] = hadamard_plane([v[0], v[1], v[2], v[3]]);
    let [e, f, g, h] = hadamard_plane([v[4], v[5], v[6], v[7]]);
    [a + e, b + f, c + g, d + h, a - e, b - f, c - g, d - h]
}

/// Sums and differences along two directions, `[2 s + t]`.
#[inline(always)]
fn hadamard_plane<S: Simd>(v: [Lanes<S>; 4]) -> [Lanes<S>; 4] {
    let (a, b, c, d) = (v[0] + v[1], v[0] - v[1], v[2] + v[3], v[2] - v[3]);
    [a + c, b + d, a - c, b - d]
}

/// Cofactors C with J^-1 = C / det J, C`[k][i]` = det J * dxi_k/dx_i, and det J.
#[inline(always)]
pub fn cofactors<S: Simd>(j: &Matrix<S>) -> (Matrix<S>, Lanes<S>) {
    let mut c = *j;
    for k in 0..3 {
        for i in 0..3 {
            let (r, s, a, b) = ((i + 1) % 3, (i + 2) % 3, (k + 1) % 3, (k + 2) % 3);
            c[k][i] = j[r][b].negate_mul_add(j[s][a], j[r][a] * j[s][b]);
        }
    }
    let det = j[2][0].mul_add(c[0][2], j[1][0].mul_add(c[0][1], j[0][0] * c[0][0]));
    (c, det)
}

/// a b for an N x 3 and a 3 x 3 matrix.
#[inline(always)]
pub fn times<S: Simd, const N: usize>(a: &[[Lanes<S>; 3]; N], b: &Matrix<S>) -> [[Lanes<S>; 3]; N] {
    let mut ab = *a;
    for i in 0..N {
        for j in 0..3 {
            let sum = a[i][1].mul_add(b[1][j], a[i][0] * b[0][j]);
            ab[i][j] = a[i][2].mul_add(b[2][j], sum);
        }
    }
    ab
}
