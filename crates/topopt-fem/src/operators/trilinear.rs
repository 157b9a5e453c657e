//! Element forces f_e = E_e K_e u_e without K_e: the 2x2x2 Gauss rule by sum factorization.
//!
//! Sums and differences of the nodal values along the three reference directions are eight times
//! the coefficients of 1, xi, eta, zeta, xi eta, ... So a derivative is bilinear in the other two
//! directions, and takes only four values over the eight Gauss points.

use pulp::Simd;
use topopt_mesh::hexahedron::GAUSS;

use crate::lanes::{Lanes, MAX_LANES};

/// A value a node and component, \[8\]\[3\].
pub type Nodal<S> = [[Lanes<S>; 3]; 8];

/// Additions and multiplications of [`element_forces`] for one element, counted.
pub const FLOPS: f64 = 1827.0;

/// What [`derivatives`] is of the derivatives: 8, by differences near - far.
const SCALE: f64 = -8.0;

/// VTK node of tensor position 4 i + 2 j + k.
pub const NODE: [usize; 8] = [0, 4, 3, 7, 1, 5, 2, 6];

/// A 3x3 matrix.
pub type Matrix<S> = [[Lanes<S>; 3]; 3];

/// The three reference derivatives of one component. Each is constant along its own direction,
/// so four values, \[2 s + t\] over the other two directions in increasing order.
pub type Derivatives<S> = [[Lanes<S>; 4]; 3];

/// Lane-major values of up to [`MAX_LANES`] elements, \[3 a + i\]\[lane\].
pub type LaneGroup = [[f64; MAX_LANES]; 24];

/// A lane group in registers.
#[inline(always)]
pub fn from_group<S: Simd>(simd: S, group: &LaneGroup) -> Nodal<S> {
    let mut nodal = [[Lanes::splat(simd, 0.0); 3]; 8];
    for a in 0..8 {
        for i in 0..3 {
            nodal[a][i] = Lanes::load(simd, &group[3 * a + i]);
        }
    }
    nodal
}

/// A lane group from registers.
#[inline(always)]
pub fn to_group<S: Simd>(nodal: &Nodal<S>, group: &mut LaneGroup) {
    for a in 0..8 {
        for i in 0..3 {
            nodal[a][i].store(&mut group[3 * a + i]);
        }
    }
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
    // Gradient of u, two cofactors and the transpose carry SCALE to the sixth, 1/det J to the -third.
    let scale = SCALE.powi(-3);
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
    let h = product(&at_point(du, at), &cofactors); // det J grad u
    let stress = stress(&h, lame, modulus * det.recip());
    for c in 0..3 {
        for k in 0..3 {
            let sum = stress[c][0].mul_add(cofactors[k][0], flux[c][k][at[k]]);
            let sum = stress[c][1].mul_add(cofactors[k][1], sum);
            flux[c][k][at[k]] = stress[c][2].mul_add(cofactors[k][2], sum);
        }
    }
}

/// Where the three derivatives at Gauss point q = (i, j, k) stand among their four values.
#[inline(always)]
pub fn slots(q: usize) -> [usize; 3] {
    let (i, j, k) = (q >> 2, (q >> 1) & 1, q & 1);
    [2 * j + k, 2 * i + k, 2 * i + j]
}

/// The gradient \[component\]\[direction\] at a Gauss point.
#[inline(always)]
pub fn at_point<S: Simd>(d: &[Derivatives<S>; 3], at: [usize; 3]) -> Matrix<S> {
    let row = [d[0][0][0]; 3];
    let mut gradient = [row, row, row];
    for c in 0..3 {
        for k in 0..3 {
            gradient[c][k] = d[c][k][at[k]];
        }
    }
    gradient
}

/// [`SCALE`] times the reference derivatives of component `c` of a nodal field at the Gauss points.
#[inline(always)]
pub fn derivatives<S: Simd>(simd: S, v: &Nodal<S>, c: usize) -> Derivatives<S> {
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
fn derivatives_transposed<S: Simd>(
    simd: S,
    flux: &Derivatives<S>,
    c: usize,
    forces: &mut Nodal<S>,
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
fn hadamard<S: Simd>(v: [Lanes<S>; 8]) -> [Lanes<S>; 8] {
    let [a, b, c, d] = hadamard_plane([v[0], v[1], v[2], v[3]]);
    let [e, f, g, h] = hadamard_plane([v[4], v[5], v[6], v[7]]);
    [a + e, b + f, c + g, d + h, a - e, b - f, c - g, d - h]
}

/// Sums and differences along two directions, \[2 s + t\].
#[inline(always)]
fn hadamard_plane<S: Simd>(v: [Lanes<S>; 4]) -> [Lanes<S>; 4] {
    let (a, b, c, d) = (v[0] + v[1], v[0] - v[1], v[2] + v[3], v[2] - v[3]);
    [a + c, b + d, a - c, b - d]
}

/// Cofactors C with J^-1 = C / det J, C\[k\]\[i\] = det J * dxi_k/dx_i, and det J.
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

/// a b for 3x3 matrices.
#[inline(always)]
fn product<S: Simd>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    let mut ab = *a;
    for i in 0..3 {
        for j in 0..3 {
            let sum = a[i][1].mul_add(b[1][j], a[i][0] * b[0][j]);
            ab[i][j] = a[i][2].mul_add(b[2][j], sum);
        }
    }
    ab
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
