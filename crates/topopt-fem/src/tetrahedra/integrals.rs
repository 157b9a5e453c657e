//! Matrices, blocks and body forces of single tetrahedra, by plain loops.

use topopt_mesh::hexahedron::{determinant, inverse};
use topopt_mesh::tetrahedron::{
    N_NODES, POINTS, TetrahedronNodes, jacobian, map, shape_functions, shape_gradients, volume,
};

use crate::kernel::Summed;
use crate::{BodyForce, DIM, ElementKernel, ElementMatrix, ElementVector};

/// Values at the nodes of a tetrahedron, `[10][N]`.
pub type TetrahedronVector<const N: usize> = ElementVector<N, N_NODES>;

/// Rows of the matrix of a tetrahedron, `[10][N][10][N]`.
pub type TetrahedronMatrix<const N: usize> = ElementMatrix<N, N_NODES>;

/// Additions and multiplications of a product of a straight tetrahedron per unknown of a node,
/// counted for elasticity.
pub const FLOPS_PER_UNKNOWN: f64 = 271.0;

/// The points of the rule in six volumes of a straight tetrahedron: each has a quarter of one.
pub(crate) const WEIGHT: f64 = 1.0 / 24.0;

/// Shares of the nodes in the mass of a tetrahedron, in proportion to the diagonal of the consistent
/// mass matrix \[HintonRockZienkiewicz1976\]: the sums of its rows are negative at the vertices.
pub const MASS_SHARES: [f64; N_NODES] = {
    const VERTEX: f64 = 1.0 / 36.0;
    const MIDDLE: f64 = 4.0 / 27.0;
    [VERTEX, VERTEX, VERTEX, VERTEX, MIDDLE, MIDDLE, MIDDLE, MIDDLE, MIDDLE, MIDDLE]
};

/// Volumes of the nodes of the tetrahedron with nodes at `x`, by [`MASS_SHARES`].
pub fn mass_shares(x: &TetrahedronNodes) -> [f64; N_NODES] {
    let volume = volume(x);
    MASS_SHARES.map(|share| share * volume)
}

/// Gradients dN_a/dx_i, `[10][3]`, at a point in barycentric coordinates, and the determinant of
/// the Jacobian there.
pub fn gradients(x: &TetrahedronNodes, at: [f64; 4]) -> ([[f64; DIM]; N_NODES], f64) {
    let jacobian = jacobian(x, at);
    let det = determinant(&jacobian);
    let inverse = inverse(&jacobian, det);
    let physical = |g: [f64; DIM]| -> [f64; DIM] {
        std::array::from_fn(|i| (0..DIM).map(|j| g[j] * inverse[j][i]).sum())
    };
    (shape_gradients(at).map(physical), det)
}

/// K_t at unit coefficient of the tetrahedron with nodes at `x`, by plain loops.
pub fn matrix<K: ElementKernel<N>, const N: usize>(
    kernel: &K,
    term: usize,
    x: &TetrahedronNodes,
) -> TetrahedronMatrix<N> {
    let mut ke = [[[[0.0; N]; N_NODES]; N]; N_NODES];
    for point in POINTS {
        let (g, det) = gradients(x, point);
        for a in 0..N_NODES {
            for b in 0..N_NODES {
                let coupling = kernel.coupling(term, g[a], g[b]);
                for i in 0..N {
                    for j in 0..N {
                        ke[a][i][b][j] += WEIGHT * det * coupling[i][j];
                    }
                }
            }
        }
    }
    if K::MASS == Some(term) {
        for (a, share) in mass_shares(x).into_iter().enumerate() {
            (0..N).for_each(|i| ke[a][i][a][i] += share);
        }
    }
    ke
}

/// The blocks of K_t that couple each node with itself, packed as those of hexahedra.
pub fn diagonal_blocks<K: ElementKernel<N>, const N: usize>(
    kernel: &K,
    term: usize,
    x: &TetrahedronNodes,
) -> [K::Packed; N_NODES] {
    let mut blocks = [K::Packed::ZERO; N_NODES];
    for point in POINTS {
        let (g, det) = gradients(x, point);
        for (block, g) in blocks.iter_mut().zip(g) {
            let coupling = kernel.coupling(term, g, g);
            let lower = (0..N).flat_map(|i| (0..=i).map(move |j| (i, j)));
            for (sum, (i, j)) in block.numbers_mut().iter_mut().zip(lower) {
                *sum += WEIGHT * det * coupling[i][j];
            }
        }
    }
    if K::MASS == Some(term) {
        for (block, share) in blocks.iter_mut().zip(mass_shares(x)) {
            (0..N).for_each(|i| block.numbers_mut()[i * (i + 1) / 2 + i] += share);
        }
    }
    blocks
}

/// The integral of N_a b for a force per volume b, by the rule of four points: the sum over the
/// nodes is exact where the edges are straight.
pub fn body_force<const N: usize>(
    x: &TetrahedronNodes,
    force: &BodyForce<N>,
) -> TetrahedronVector<N> {
    let mut vector = [[0.0; N]; N_NODES];
    for point in POINTS {
        let weight = WEIGHT * determinant(&jacobian(x, point));
        let varying = force.varying_at(map(x, point));
        let b: [f64; N] = std::array::from_fn(|i| force.uniform[i] + varying[i]);
        for (q, shape) in vector.iter_mut().zip(shape_functions(point)) {
            (0..N).for_each(|i| q[i] += weight * shape * b[i]);
        }
    }
    vector
}
