//! Element forces f_e = E_e K_e u_e without K_e: the 2x2x2 Gauss rule by sum factorisation.
//!
//! Along one reference direction the gradient of a trilinear field is a difference, along the
//! other two an interpolation with weights (1 +- 1/sqrt 3)/2. So a derivative takes only four
//! values over the eight Gauss points, and all of them cost 20 operations.

use std::array::from_fn;

use pulp::Simd;
use topopt_mesh::hexahedron::GAUSS;

use super::lanes::Lanes;

/// A value a node and component, \[8\]\[3\].
pub type Nodal<S> = [[Lanes<S>; 3]; 8];

/// Additions and multiplications of [`element_forces`] for one element, counted.
pub const FLOPS: f64 = 2870.0;

/// VTK node of tensor position (i, j, k).
const NODE: [[[usize; 2]; 2]; 2] = [[[0, 4], [3, 7]], [[1, 5], [2, 6]]];

/// The three reference derivatives of one component. Each is constant along its own direction,
/// so four values, \[2 s + t\] over the other two directions in increasing order.
type Derivatives<S> = [[Lanes<S>; 4]; 3];

/// Forces at the nodes of elements with coordinates `x`, displacements `u`, moduli `modulus`,
/// and Lame's constants (lambda, mu) at unit modulus.
#[inline(always)]
pub fn element_forces<S: Simd>(
    simd: S,
    x: &Nodal<S>,
    u: &Nodal<S>,
    modulus: Lanes<S>,
    lame: (f64, f64),
) -> Nodal<S> {
    let (lambda, mu) = (Lanes::splat(simd, lame.0), Lanes::splat(simd, lame.1));
    let dx: [Derivatives<S>; 3] = from_fn(|c| derivatives(simd, x, c));
    let du: [Derivatives<S>; 3] = from_fn(|c| derivatives(simd, u, c));
    let zero = Lanes::splat(simd, 0.0);
    let mut flux: [Derivatives<S>; 3] = [[[zero; 4]; 3]; 3];
    for q in 0..8 {
        let at = slots(q);
        let jacobian = at_point(&dx, at);
        let gradient = at_point(&du, at);
        let (cofactors, det) = cofactors(&jacobian);
        let h = product(&gradient, &cofactors); // det * grad u
        let stress = stress(&h, lambda, mu, modulus * det.recip());
        for c in 0..3 {
            for k in 0..3 {
                // sigma_c . cofactor row k: the flux conjugate to du_c/dxi_k
                let t = stress[c][2].mul_add(
                    cofactors[k][2],
                    stress[c][1].mul_add(cofactors[k][1], stress[c][0] * cofactors[k][0]),
                );
                flux[c][k][at[k]] = flux[c][k][at[k]] + t;
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

#[inline(always)]
fn at_point<S: Simd>(d: &[Derivatives<S>; 3], at: [usize; 3]) -> [[Lanes<S>; 3]; 3] {
    from_fn(|c| from_fn(|k| d[c][k][at[k]]))
}

/// Node at position `along` of direction `k` and (s, t) of the other two.
#[inline(always)]
fn node(k: usize, along: usize, s: usize, t: usize) -> usize {
    match k {
        0 => NODE[along][s][t],
        1 => NODE[s][along][t],
        _ => NODE[s][t][along],
    }
}

/// Reference derivatives of component `c` of a nodal field at the Gauss points.
#[inline(always)]
fn derivatives<S: Simd>(simd: S, v: &Nodal<S>, c: usize) -> Derivatives<S> {
    let half = Lanes::splat(simd, 0.5);
    from_fn(|k| {
        let d: [Lanes<S>; 4] = from_fn(|st| {
            (v[node(k, 1, st >> 1, st & 1)][c] - v[node(k, 0, st >> 1, st & 1)][c]) * half
        });
        interpolate_plane(simd, d)
    })
}

/// The transpose of [`derivatives`]: adds to component `c` of the nodal forces.
#[inline(always)]
fn derivatives_transposed<S: Simd>(
    simd: S,
    flux: &Derivatives<S>,
    c: usize,
    forces: &mut Nodal<S>,
) {
    let half = Lanes::splat(simd, 0.5);
    for k in 0..3 {
        let d = interpolate_plane(simd, flux[k]);
        for st in 0..4 {
            let value = d[st] * half;
            let (far, near) = (node(k, 1, st >> 1, st & 1), node(k, 0, st >> 1, st & 1));
            forces[far][c] = forces[far][c] + value;
            forces[near][c] = forces[near][c] - value;
        }
    }
}

/// Interpolation between nodes and Gauss points along both directions of a plane; symmetric, so
/// it is its own transpose.
#[inline(always)]
fn interpolate_plane<S: Simd>(simd: S, v: [Lanes<S>; 4]) -> [Lanes<S>; 4] {
    let near = Lanes::splat(simd, 0.5 * (1.0 + GAUSS));
    let far = Lanes::splat(simd, 0.5 * (1.0 - GAUSS));
    let pair = |a: Lanes<S>, b: Lanes<S>| (a.mul_add(near, b * far), b.mul_add(near, a * far));
    let ((a, b), (c, d)) = (pair(v[0], v[1]), pair(v[2], v[3]));
    let ((a, c), (b, d)) = (pair(a, c), pair(b, d));
    [a, b, c, d]
}

/// Cofactors C with J^-1 = C / det J, C\[k\]\[i\] = det J * dxi_k/dx_i, and det J.
#[inline(always)]
fn cofactors<S: Simd>(j: &[[Lanes<S>; 3]; 3]) -> ([[Lanes<S>; 3]; 3], Lanes<S>) {
    let c: [[Lanes<S>; 3]; 3] = from_fn(|k| {
        from_fn(|i| {
            let (r, s, a, b) = ((i + 1) % 3, (i + 2) % 3, (k + 1) % 3, (k + 2) % 3);
            j[r][a] * j[s][b] - j[r][b] * j[s][a]
        })
    });
    let det = j[2][0].mul_add(c[0][2], j[1][0].mul_add(c[0][1], j[0][0] * c[0][0]));
    (c, det)
}

/// a b for 3x3 matrices.
#[inline(always)]
fn product<S: Simd>(a: &[[Lanes<S>; 3]; 3], b: &[[Lanes<S>; 3]; 3]) -> [[Lanes<S>; 3]; 3] {
    from_fn(|i| from_fn(|j| a[i][2].mul_add(b[2][j], a[i][1].mul_add(b[1][j], a[i][0] * b[0][j]))))
}

/// scale * (lambda tr(h) I + mu (h + h^T)).
#[inline(always)]
fn stress<S: Simd>(
    h: &[[Lanes<S>; 3]; 3],
    lambda: Lanes<S>,
    mu: Lanes<S>,
    scale: Lanes<S>,
) -> [[Lanes<S>; 3]; 3] {
    let (lambda, mu) = (lambda * scale, mu * scale);
    let pressure = lambda * (h[0][0] + h[1][1] + h[2][2]);
    let shear: [Lanes<S>; 3] =
        from_fn(|i| mu * (h[(i + 1) % 3][(i + 2) % 3] + h[(i + 2) % 3][(i + 1) % 3]));
    from_fn(|i| {
        from_fn(|j| if i == j { mu.mul_add(h[i][i] + h[i][i], pressure) } else { shear[3 - i - j] })
    })
}
