// precision: f64
// dense_blocks: a matrix of full 6x6 blocks as a dense one.
//
// Source:        scaling to a unit diagonal
// Mapping:       dense_blocks_scale: one thread a row; dense_blocks: one thread an entry; blocks of
//                128
// Layout:        dense matrix [n][n], n = 6 n_rows; blocks as common/block_view.cuh has them
// Cost:          an entry read and written, and a search in its row
// Deterministic: yes
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/block_view.cuh"

#define BLOCK 128
#define N 6

// Entry of the matrix
__device__ __forceinline__ double entry(const BlocksView& matrix, unsigned r, unsigned c) {
    const unsigned k = place_of(matrix, r / N, c / N);
    return k == NOWHERE ? 0.0 : matrix.blocks[(size_t)(N * N) * k + N * (c % N) + r % N];
}

// scale = 1 / sqrt(diagonal of A), 1 where that is not positive
extern "C" __global__ void __launch_bounds__(BLOCK) dense_blocks_scale(
    unsigned n, VIEW(BlocksView) matrix,
    double* __restrict__ scale) { // [n]
    const unsigned r = blockIdx.x * BLOCK + threadIdx.x;
    if (r >= n) return;
    const double value = entry(matrix, r, r);
    scale[r] = value > 0.0 ? 1.0 / sqrt(value) : 1.0;
}

// dense = scale A scale + 1e-12 I, and 1 on the diagonal of a row without stiffness
extern "C" __global__ void __launch_bounds__(BLOCK) dense_blocks(
    unsigned n, VIEW(BlocksView) matrix,
    const double* __restrict__ scale, // [n]
    double* __restrict__ dense) {     // [n][n]
    const unsigned long long t = blockIdx.x * (unsigned long long)BLOCK + threadIdx.x;
    if (t >= (unsigned long long)n * n) return;
    const unsigned r = t / n, c = t % n;
    const double value = 0.5 * (entry(matrix, r, c) + entry(matrix, c, r));
    const double shift = r != c ? 0.0 : value > 0.0 ? 1e-12 : 1.0 + 1e-12;
    dense[t] = scale[r] * scale[c] * value + shift;
}
