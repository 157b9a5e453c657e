// precision: f64
// bsr: the assembled matrix in 3x3 block compressed rows; the baseline that the rest must beat.
//
// Source:        plain sparse matrix-vector product; assembly by Gauss points as in stiffness.cu
// Mapping:       product: a warp a block row, three blocks at a time by 27 lanes, so that a warp
//                reads 216 consecutive bytes; 4 rows a block of 128
//                assembly: 8 threads a node, thread q with Gauss point q and then with the
//                sub-matrix of the node and local node q; 16 nodes a block of 128
// Layout:        row_offsets [n_nodes + 1], columns ascending in a row, values [n_blocks][3][3];
//                rows and columns of held components are those of the identity
// Cost:          product: 76 bytes and 18 operations a block of which a node inside has 27; 56
//                bytes a node
//                assembly: whenever moduli change; each Gauss point is evaluated 8 times
// Deterministic: yes; elements of a node in increasing order, sums by a fixed tree
// Requires:      assembly 28 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/element.cuh"
#include "common/warp.cuh"

#define BLOCK 128
#define AHEAD 9 // blocks of a lane: a row of 27 in one step
#define ASSEMBLY_BLOCK 128
#define ROWS (ASSEMBLY_BLOCK / 8)

extern "C" __global__ void __launch_bounds__(BLOCK) bsr(
    unsigned n_nodes,
    const unsigned long long* __restrict__ row_offsets, // [n_nodes + 1]
    const unsigned* __restrict__ columns,               // [n_blocks]
    const double* __restrict__ values,                  // [n_blocks][3][3]
    const double* __restrict__ x,                       // [3][n_nodes]
    double* __restrict__ y) {                           // [3][n_nodes]
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP, slot = lane / 9, entry = lane % 9;
    if (row >= n_nodes) return; // the whole warp

    const double* __restrict__ plane = x + (size_t)(entry % 3) * n_nodes;
    const unsigned long long end = row_offsets[row + 1];
    double sum = 0.0;
    for (unsigned long long first = row_offsets[row] + slot; slot < 3 && first < end; first += 3 * AHEAD) {
        double value[AHEAD];
        unsigned column[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) { // no branch, so that all are on their way at once
            const unsigned long long block = first + 3 * k < end ? first + 3 * k : end - 1;
            column[k] = columns[block];
            value[k] = values[9 * block + entry];
        }

#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            sum += (first + 3 * k < end ? value[k] : 0.0) * plane[column[k]];
    }

    // lane 3 i of the first nine: over the three slots, then over the three columns
    sum += __shfl_down_sync(WHOLE_WARP, sum, 9) + __shfl_down_sync(WHOLE_WARP, sum, 18);
    sum += __shfl_down_sync(WHOLE_WARP, sum, 1) + __shfl_down_sync(WHOLE_WARP, sum, 2);
    if (lane < 9 && lane % 3 == 0) y[(size_t)(lane / 3) * n_nodes + row] = sum;
}

// Place of column `node` in [begin, end), where it is
__device__ __forceinline__ unsigned long long find(
    const unsigned* __restrict__ columns, unsigned long long begin, unsigned long long end,
    unsigned node) {
    while (end - begin > 1) {
        const unsigned long long middle = (begin + end) / 2;
        if (columns[middle] <= node) begin = middle;
        else end = middle;
    }
    return begin;
}

extern "C" __global__ void __launch_bounds__(ASSEMBLY_BLOCK) bsr_assemble(
    VIEW(MeshView) mesh,
    unsigned valence, // most elements of a node
    const unsigned* __restrict__ offsets,               // [n_nodes + 1]
    const unsigned* __restrict__ elements,              // [8 n_elements], of each node
    const unsigned char* __restrict__ locals,           // [8 n_elements], of the node in each
    const unsigned char* __restrict__ held,             // [n_nodes]
    const double* __restrict__ moduli,                  // [n_elements]
    VIEW(Lame) material,
    const unsigned long long* __restrict__ row_offsets, // [n_nodes + 1]
    const unsigned* __restrict__ columns,               // [n_blocks]
    double* values) {                                   // [n_blocks][3][3]
    __shared__ Gradients F[ROWS];
    const unsigned slot = threadIdx.x / 8, q = threadIdx.x % 8;
    const unsigned row = blockIdx.x * ROWS + slot;
    const bool active = row < mesh.n_nodes;

    const unsigned begin = active ? offsets[row] : 0;
    const unsigned count = active ? offsets[row + 1] - begin : 0;
    const unsigned long long first = active ? row_offsets[row] : 0;
    const unsigned long long last = active ? row_offsets[row + 1] : 0;
    const unsigned own = active ? held[row] : 0;
    for (unsigned long long v = 9 * first + q; v < 9 * last; v += 8) values[v] = 0.0;

    // To the most elements of any node, as all threads of a block meet at the barriers.
    for (unsigned k = 0; k < valence; ++k) {
        const unsigned e = k < count ? elements[begin + k] : 0;
        if (k < count) gauss_gradients(q, e, mesh, F[slot]);
        __syncthreads();
        if (k < count) {
            const unsigned other = local_node(mesh, q, e);
            double* block = values + 9 * find(columns, first, last, other);
            const unsigned mask = held[other];
            // A node that stands twice, as in a wedge, is its first thread's.
            bool mine = true;
            for (int b = 0; b < q; ++b) mine &= local_node(mesh, b, e) != other;

            for (int b = q; mine && b < 8; ++b) {
                if (local_node(mesh, b, e) != other) continue;
                double K[3][3];
                stiffness_tile(F[slot], locals[begin + k], b, material, K);
#pragma unroll
                for (int i = 0; i < 3; ++i)
#pragma unroll
                    for (int j = 0; j < 3; ++j)
                        if (!((own >> i | mask >> j) & 1)) block[3 * i + j] += moduli[e] * K[i][j];
            }
        }
        __syncthreads();
    }

    if (active && q < 3 && own >> q & 1) values[9 * find(columns, first, last, row) + 4 * q] = 1.0;
}
