// precision: f64
// vertex_matrix: the matrix of the vertices of tetrahedra, between which displacements are linear.
//
// Source:        K_ab = V (lambda g_a g_b^T + mu g_b g_a^T + mu g_a . g_b I), g the gradients of
//                the barycentric coordinates: the Galerkin matrix of straight tetrahedra of ten
//                nodes
// Mapping:       a warp a row, a lane a block, over the elements of its vertex; blocks of 128
// Layout:        mesh.connectivity is [10][n_elements], of which the first four are read
// Cost:          an element of a vertex 16 bytes of connectivity for each block of the row; 150
//                operations and 96 bytes of coordinates where it has both vertices
// Deterministic: yes; elements of a vertex in fixed order
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/block_view.cuh"
#include "common/tetrahedron.cuh"
#include "common/warp.cuh"

#define BLOCK 128

// Adds the block of an element between two of its vertices, none where it has not both
__device__ __forceinline__ void add_element(
    const MeshView& mesh, const Lame& material, const double* __restrict__ moduli, unsigned e, unsigned row,
    unsigned column, double sums[3][3]) {
    unsigned node[TETRAHEDRON_NODES];
    bool has_column = false;
#pragma unroll
    for (int a = 0; a < 4; ++a) {
        node[a] = local_node(mesh, a, e);
        has_column = has_column || node[a] == column;
    }
    if (!has_column) return;

    double X[3][TETRAHEDRON_NODES], J[3][3], C[3][3], g[3] = {}, h[3] = {};
    load_positions<4>(mesh, node, X);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int a = 0; a < 3; ++a) J[i][a] = X[i][a + 1];
    const double weight = material.mu / 6 * moduli[e] * reciprocal(cofactors(J, C));
#pragma unroll
    for (int a = 0; a < 4; ++a)
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const double slope = a == 0 ? -(C[0][i] + C[1][i] + C[2][i]) : C[a == 0 ? 0 : a - 1][i];
            if (node[a] == row) g[i] = slope;
            if (node[a] == column) h[i] = slope;
        }

    const double both = g[0] * h[0] + g[1] * h[1] + g[2] * h[2];
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j)
            sums[i][j] += weight * (material.ratio * g[i] * h[j] + g[j] * h[i] + (i == j ? both : 0.0));
}

extern "C" __global__ void __launch_bounds__(BLOCK) vertex_matrix(
    VIEW(MeshView) mesh, VIEW(Lame) material,
    const double* __restrict__ moduli,      // [n_elements]
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    const double* __restrict__ springs,     // [n_vertices][3], or null
    const unsigned* __restrict__ nodes,     // [n_vertices]
    const unsigned* __restrict__ offsets,   // [n_vertices + 1]
    const unsigned* __restrict__ elements,  // of every vertex
    VIEW(BlocksView) matrix,
    double* __restrict__ out) {             // [n_blocks][3][3]
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= matrix.n_rows) return;
    const unsigned node = nodes[row], mask = held[node];
    for (unsigned k = matrix.offsets[row] + lane; k < matrix.offsets[row + 1]; k += WARP) {
        const unsigned column = matrix.columns[k], other = nodes[column], of_other = held[other];
        double sums[3][3] = {};
        for (unsigned s = offsets[row]; s < offsets[row + 1]; ++s)
            add_element(mesh, material, moduli, elements[s], node, other, sums);
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                const bool is_held = (mask >> i & 1) || (of_other >> j & 1);
                const double one = row == column && i == j ? 1.0 : 0.0;
                const double spring = springs && one > 0 ? springs[(size_t)3 * row + i] : 0.0;
                out[(size_t)9 * k + 3 * j + i] = (is_held ? one : sums[i][j]) + spring;
            }
    }
}
