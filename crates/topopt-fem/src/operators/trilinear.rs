//! Element forces f_e = E_e K_e u_e without K_e: the 2x2x2 Gauss rule by sum factorisation.
//!
//! Along one reference direction the gradient of a trilinear field is a difference, along the
//! other two an interpolation with weights (1 +- 1/sqrt 3)/2. So a derivative takes only four
//! values over the eight Gauss points, and all of them cost 28 operations.

use pulp::Simd;
use topopt_mesh::hexahedron::GAUSS;

use super::lanes::Lanes;

/// A value a node and component, \[8\]\[3\].
pub type Nodal<S> = [[Lanes<S>; 3]; 8];

/// Additions and multiplications of [`element_forces`] for one element, counted.
pub const FLOPS: f64 = 2064.0;

/// VTK node of tensor position (i, j, k).
const NODE: [[[usize; 2]; 2]; 2] = [[[0, 4], [3, 7]], [[1, 5], [2, 6]]];

/// A 3x3 matrix.
type Matrix<S> = [[Lanes<S>; 3]; 3];

/// The three reference derivatives of one component. Each is constant along its own direction,
/// so four values, \[2 s + t\] over the other two directions in increasing order.
type Derivatives<S> = [[Lanes<S>; 4]; 3];

/// Forces at the nodes of elements with coordinates `x`, displacements `u`, moduli `modulus`,
/// and Lame's constants (lambda, mu) at unit modulus.
///
/// Plain loops, here and below: a closure would not be compiled for the wide registers.
#[inline(always)]
pub fn element_forces<S: Simd>(
    simd: S,
    x: &Nodal<S>,
    u: &Nodal<S>,
    modulus: Lanes<S>,
    lame: (f64, f64),
) -> Nodal<S> {
    let (lambda, mu) = (Lanes::splat(simd, lame.0), Lanes::splat(simd, lame.1));
    let dx = [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)];
    let du = [derivatives(simd, u, 0), derivatives(simd, u, 1), derivatives(simd, u, 2)];
    let zero = Lanes::splat(simd, 0.0);
    let mut flux: [Derivatives<S>; 3] = [[[zero; 4]; 3]; 3];
    for q in 0..8 {
        let at = slots(q);
        let (cofactors, det) = cofactors(&at_point(&dx, at));
        let h = product(&at_point(&du, at), &cofactors); // det J grad u
        let stress = stress(&h, lambda, mu, modulus * det.recip());
        for c in 0..3 {
            for k in 0..3 {
                // sigma_c . cofactor row k: the flux conjugate to du_c/dxi_k
                let sum = stress[c][0].mul_add(cofactors[k][0], flux[c][k][at[k]]);
                let sum = stress[c][1].mul_add(cofactors[k][1], sum);
                flux[c][k][at[k]] = stress[c][2].mul_add(cofactors[k][2], sum);
            }
        }
    }
    let mut forces = [[zero; 3]; 8];
    for c in 0..3 {
        derivatives_transposed(simd, &flux[c], c, &mut forces);
    }
    forces
}

/// Where the three derivatives at Gauss point q = (i, j, k) stand among their four values.
#[inline(always)]
fn slots(q: usize) -> [usize; 3] {
    let (i, j, k) = (q >> 2, (q >> 1) & 1, q & 1);
    [2 * j + k, 2 * i + k, 2 * i + j]
}

/// The gradient \[component\]\[direction\] at a Gauss point.
#[inline(always)]
fn at_point<S: Simd>(d: &[Derivatives<S>; 3], at: [usize; 3]) -> Matrix<S> {
    let row = [d[0][0][0]; 3];
    let mut gradient = [row, row, row];
    for c in 0..3 {
        for k in 0..3 {
            gradient[c][k] = d[c][k][at[k]];
        }
    }
    gradient
}

/// Node at position `along` of direction `k` and `st` = 2 s + t of the other two.
#[inline(always)]
fn node(k: usize, along: usize, st: usize) -> usize {
    let (s, t) = (st >> 1, st & 1);
    match k {
        0 => NODE[along][s][t],
        1 => NODE[s][along][t],
        _ => NODE[s][t][along],
    }
}

/// Reference derivatives of component `c` of a nodal field at the Gauss points.
#[inline(always)]
fn derivatives<S: Simd>(simd: S, v: &Nodal<S>, c: usize) -> Derivatives<S> {
    let mut derivatives = [[Lanes::splat(simd, 0.0); 4]; 3];
    for k in 0..3 {
        for st in 0..4 {
            derivatives[k][st] = v[node(k, 1, st)][c] - v[node(k, 0, st)][c];
        }
        derivatives[k] = interpolate_plane(simd, derivatives[k]);
    }
    derivatives
}

/// The transpose of [`derivatives`]: adds to component `c` of the nodal forces.
#[inline(always)]
fn derivatives_transposed<S: Simd>(
    simd: S,
    flux: &Derivatives<S>,
    c: usize,
    forces: &mut Nodal<S>,
) {
    for k in 0..3 {
        let d = interpolate_plane(simd, flux[k]);
        for st in 0..4 {
            let (far, near) = (node(k, 1, st), node(k, 0, st));
            forces[far][c] = forces[far][c] + d[st];
            forces[near][c] = forces[near][c] - d[st];
        }
    }
}

/// Interpolation between nodes and Gauss points along both directions of a plane, with the factor
/// 1/2 of the difference along the third; symmetric, so it is its own transpose.
#[inline(always)]
fn interpolate_plane<S: Simd>(simd: S, v: [Lanes<S>; 4]) -> [Lanes<S>; 4] {
    let [a, b] = interpolate_pair(simd, v[0], v[1], 0.5);
    let [c, d] = interpolate_pair(simd, v[2], v[3], 0.5);
    let [a, c] = interpolate_pair(simd, a, c, 1.0);
    let [b, d] = interpolate_pair(simd, b, d, 1.0);
    [a, b, c, d]
}

/// Interpolation of two values at -1 and 1 to -1/sqrt 3 and 1/sqrt 3, times `factor`.
#[inline(always)]
fn interpolate_pair<S: Simd>(simd: S, a: Lanes<S>, b: Lanes<S>, factor: f64) -> [Lanes<S>; 2] {
    let near = Lanes::splat(simd, factor * 0.5 * (1.0 + GAUSS));
    let far = Lanes::splat(simd, factor * 0.5 * (1.0 - GAUSS));
    [a.mul_add(near, b * far), b.mul_add(near, a * far)]
}

/// Cofactors C with J^-1 = C / det J, C\[k\]\[i\] = det J * dxi_k/dx_i, and det J.
#[inline(always)]
fn cofactors<S: Simd>(j: &Matrix<S>) -> (Matrix<S>, Lanes<S>) {
    let mut c = *j;
    for k in 0..3 {
        for i in 0..3 {
            let (r, s, a, b) = ((i + 1) % 3, (i + 2) % 3, (k + 1) % 3, (k + 2) % 3);
            c[k][i] = j[r][a] * j[s][b] - j[r][b] * j[s][a];
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
fn stress<S: Simd>(h: &Matrix<S>, lambda: Lanes<S>, mu: Lanes<S>, scale: Lanes<S>) -> Matrix<S> {
    let (lambda, mu) = (lambda * scale, mu * scale);
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
