//! The product of tetrahedra, an element per lane.
//!
//! By the barycentric coordinates the derivative of a field at point q is
//! d_a = T_a + (OWN - OTHER) 4 v_aq with T_a = (4 OTHER - 1) v_a + 4 OTHER sum_b v_ab, where v_ab
//! is the value between vertices a and b, and v_aa that of vertex a. So the sums over the edges are
//! taken once for all four points, and the transpose is as cheap.

use pulp::Simd;
use topopt_mesh::tetrahedron::{BETWEEN, N_NODES, OTHER, OWN};

use super::integrals::{MASS_SHARES, WEIGHT};
use crate::lanes::Lanes;
use crate::operators::{Matrix, Nodal, cofactors, times};
use crate::{DIM, ElementKernel, MAX_TERMS};

/// Values of tetrahedra by node and component.
pub type TetrahedronLanes<S, const N: usize = DIM> = Nodal<S, N, N_NODES>;

/// Factors of d_a: of the vertex, of the edges from it, and of the one to the point's vertex.
const VERTEX: f64 = 4.0 * OTHER - 1.0;
const EDGES: f64 = 4.0 * OTHER;
const TO_POINT: f64 = 4.0 * (OWN - OTHER);

/// `sum_t c_t K_t u` for tetrahedra with nodes at `x` and values `u`; of those that `are_straight`
/// the vertices alone are read.
#[inline(always)]
pub fn product<S: Simd, K: ElementKernel<N>, const N: usize>(
    simd: S,
    kernel: &K,
    (x, are_straight): (&TetrahedronLanes<S>, bool),
    u: &TetrahedronLanes<S, N>,
    coefficients: &[Lanes<S>; MAX_TERMS],
) -> TetrahedronLanes<S, N> {
    let zero = Lanes::splat(simd, 0.0);
    let sums_u = sums(simd, u);
    let sums_x = if are_straight { [[zero; DIM]; 4] } else { sums(simd, x) };
    let (mut own, mut det) = ([[zero; DIM]; DIM], zero);
    if are_straight {
        (own, det) = cofactors(&edges(x));
    }

    // h[q][a] is the force on d_a at point q.
    let (mut h, mut dets) = ([[[zero; N]; 4]; 4], zero);
    for q in 0..4 {
        if !are_straight {
            (own, det) = cofactors(&slopes(simd, x, &sums_x, q));
        }
        dets = dets + det;
        // The gradient and the transpose carry det J each, the weight 1 / det J.
        let scale = Lanes::splat(simd, WEIGHT) * det.recip();
        let mut scaled = *coefficients;
        for term in 0..K::TERMS {
            scaled[term] = scaled[term] * scale;
        }
        let gradient = times(&slopes(simd, u, &sums_u, q), &own);
        let flux = kernel.constitutive(simd, &gradient, &scaled);
        for c in 0..N {
            for a in 0..DIM {
                let sum = flux[c][1].mul_add(own[a][1], flux[c][0] * own[a][0]);
                h[q][a + 1][c] = flux[c][2].mul_add(own[a][2], sum);
            }
            h[q][0][c] = zero - (h[q][1][c] + h[q][2][c] + h[q][3][c]);
        }
    }
    let mut forces = nodal_forces(simd, &h);
    if let Some(term) = K::MASS {
        let mass = Lanes::splat(simd, WEIGHT) * dets * coefficients[term];
        for a in 0..N_NODES {
            let share = Lanes::splat(simd, MASS_SHARES[a]) * mass;
            for c in 0..N {
                forces[a][c] = share.mul_add(u[a][c], forces[a][c]);
            }
        }
    }
    forces
}

/// The edges from vertex 0 of straight tetrahedra, which are the columns of their Jacobians.
#[inline(always)]
fn edges<S: Simd>(x: &TetrahedronLanes<S>) -> Matrix<S> {
    let mut jacobian = [x[0]; DIM];
    for i in 0..DIM {
        for a in 0..DIM {
            jacobian[i][a] = x[a + 1][i] - x[0][i];
        }
    }
    jacobian
}

/// T_a of a field.
#[inline(always)]
fn sums<S: Simd, const N: usize>(simd: S, v: &TetrahedronLanes<S, N>) -> [[Lanes<S>; N]; 4] {
    let (vertex, edges) = (Lanes::splat(simd, VERTEX), Lanes::splat(simd, EDGES));
    let mut sums = [v[0]; 4];
    for a in 0..4 {
        let [b, c, d] = [BETWEEN[a][(a + 1) % 4], BETWEEN[a][(a + 2) % 4], BETWEEN[a][(a + 3) % 4]];
        for i in 0..N {
            sums[a][i] = edges.mul_add(v[b][i] + v[c][i] + v[d][i], vertex * v[a][i]);
        }
    }
    sums
}

/// d_a - d_0 of a field at point q, `[component][a - 1]`.
#[inline(always)]
fn slopes<S: Simd, const N: usize>(
    simd: S,
    v: &TetrahedronLanes<S, N>,
    sums: &[[Lanes<S>; N]; 4],
    q: usize,
) -> [[Lanes<S>; DIM]; N] {
    let to_point = Lanes::splat(simd, TO_POINT);
    let mut slopes = [[to_point; DIM]; N];
    for i in 0..N {
        let first = to_point.mul_add(v[BETWEEN[0][q]][i], sums[0][i]);
        for a in 0..DIM {
            slopes[i][a] = to_point.mul_add(v[BETWEEN[a + 1][q]][i], sums[a + 1][i]) - first;
        }
    }
    slopes
}

/// The transpose of d_a at all points: forces at the nodes of the forces h`[q][a]`.
#[inline(always)]
fn nodal_forces<S: Simd, const N: usize>(
    simd: S,
    h: &[[[Lanes<S>; N]; 4]; 4],
) -> TetrahedronLanes<S, N> {
    let (vertex, edges) = (Lanes::splat(simd, VERTEX), Lanes::splat(simd, EDGES));
    let to_point = Lanes::splat(simd, TO_POINT);
    let mut forces = [h[0][0]; N_NODES];
    for c in 0..N {
        let mut sums = [h[0][0][c]; 4];
        for a in 0..4 {
            sums[a] = (h[0][a][c] + h[1][a][c]) + (h[2][a][c] + h[3][a][c]);
            forces[a][c] = to_point.mul_add(h[a][a][c], vertex * sums[a]);
        }
        for a in 0..4 {
            for b in 0..a {
                let along = to_point * (h[b][a][c] + h[a][b][c]);
                forces[BETWEEN[a][b]][c] = edges.mul_add(sums[a] + sums[b], along);
            }
        }
    }
    forces
}
