// precision: f64 f32
// vertices: from the nodes of tetrahedra to their vertices and back: a node lies in the middle of
// two of them, a vertex in the middle of itself.
//
// Source:        linear tetrahedra as a coarse level of quadratic ones
// Mapping:       restrict_vertices: one thread a vertex; prolong_vertices: one thread a node;
//                blocks of 128
// Layout:        fine vectors as planes [3][n_nodes], coarse ones as [n_vertices][3]
// Cost:          restrict_vertices: 16 nodes a vertex; prolong_vertices: 9 bytes and 12 values a
//                node
// Deterministic: yes; nodes of a vertex in fixed order
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#define BLOCK 128

// coarse = P^T fine
extern "C" __global__ void __launch_bounds__(BLOCK) restrict_vertices(
    unsigned n_vertices, unsigned n_nodes,
    const unsigned* __restrict__ vertices,  // [n_vertices], the nodes that they are
    const unsigned* __restrict__ offsets,   // [n_vertices + 1]
    const unsigned* __restrict__ moved,     // nodes that every vertex moves, itself twice
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    const real* __restrict__ fine,          // [3][n_nodes]
    real* __restrict__ coarse) {            // [n_vertices][3]
    const unsigned vertex = blockIdx.x * BLOCK + threadIdx.x;
    if (vertex >= n_vertices) return;
    real sum[3] = {};
    for (unsigned k = offsets[vertex]; k < offsets[vertex + 1]; ++k) {
        const unsigned node = moved[k], mask = held[node];
#pragma unroll
        for (int i = 0; i < 3; ++i)
            if (!(mask >> i & 1)) sum[i] += (real)0.5 * fine[(size_t)i * n_nodes + node];
    }

    const unsigned own = held[vertices[vertex]];
#pragma unroll
    for (int i = 0; i < 3; ++i) coarse[(size_t)3 * vertex + i] = own >> i & 1 ? (real)0 : sum[i];
}

// fine += P coarse
extern "C" __global__ void __launch_bounds__(BLOCK) prolong_vertices(
    unsigned n_nodes,
    const unsigned* __restrict__ ends,      // [2][n_nodes], vertices by number
    const unsigned char* __restrict__ held, // [n_nodes]
    const real* __restrict__ coarse,        // [n_vertices][3]
    real* __restrict__ fine) {              // [3][n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= n_nodes) return;
    const unsigned a = ends[node], b = ends[n_nodes + node], mask = held[node];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const real motion = (real)0.5 * (coarse[(size_t)3 * a + i] + coarse[(size_t)3 * b + i]);
        if (!(mask >> i & 1)) fine[(size_t)i * n_nodes + node] += motion;
    }
}
