// precision: f64
// bsr: the assembled matrix in 3x3 block compressed rows; the baseline that the rest must beat.
//
// Source:        plain sparse matrix-vector product; assemble_*.cu make the matrix
// Mapping:       a warp a block row, three blocks at a time by 27 lanes, so that a warp reads 216
//                consecutive bytes; 4 rows a block of 128
// Layout:        row_offsets [n_nodes + 1], columns ascending in a row, values [n_blocks][3][3];
//                rows and columns of held components are those of the identity
// Cost:          76 bytes and 18 operations a block of which a node inside has 27; 56 bytes a node
// Deterministic: yes; sums by a fixed tree
// Requires:      nothing beyond compute capability 7.0
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/warp.cuh"

#define BLOCK 128
#define AHEAD 9 // blocks of a lane: a row of 27 in one step

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
