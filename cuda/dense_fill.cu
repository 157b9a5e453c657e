// precision: f64 f32
// dense_fill: the coarsest matrix as a dense one.
//
// Source:        scaling to a unit diagonal
// Mapping:       dense_scale: one thread a row; dense_fill: one thread an entry; blocks of 128
// Layout:        dense matrix [n][n], n = 6 n_rows; blocks as common/blocks.cuh has them; diagonal
//                [n_rows][column][row]; dense_scale1 and dense_fill1: of plain entries, n = n_rows
// Cost:          an entry read and written
// Deterministic: yes
// Requires:      columns ascend; no row has itself among its columns
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#include "common/blocks.cuh"
#include "common/rows.cuh"

#define BLOCK 128

// scale = 1 / sqrt(diagonal of A), 1 where that is not positive
template <unsigned N>
__device__ __forceinline__ void fill_scale(
    unsigned n, const double* __restrict__ diagonal, double* __restrict__ scale) {
    const unsigned t = blockIdx.x * BLOCK + threadIdx.x;
    if (t >= n) return;
    const double value = diagonal[(size_t)(N * N) * (t / N) + (N + 1) * (t % N)];
    scale[t] = value > 0.0 ? 1.0 / sqrt(value) : 1.0;
}

// dense = scale A scale + 1e-12 I, and 1 on the diagonal of a row without stiffness
template <unsigned N>
__device__ __forceinline__ void fill_dense(
    unsigned n, const unsigned* __restrict__ row_offsets, const unsigned* __restrict__ columns,
    const real* __restrict__ blocks, const double* __restrict__ diagonal,
    const double* __restrict__ scale, double* __restrict__ dense) {
    const unsigned long long t = blockIdx.x * (unsigned long long)BLOCK + threadIdx.x;
    if (t >= (unsigned long long)n * n) return;
    const unsigned r = t / n, c = t % n, row = r / N, column = c / N, i = r % N, j = c % N;
    double value = 0.0;
    if (row == column) {
        value = diagonal[(size_t)(N * N) * row + N * j + i];
    } else if (row_offsets[row] < row_offsets[row + 1]) {
        const size_t k = find(columns, row_offsets[row], row_offsets[row + 1], column);
        if (columns[k] == column) value = (double)blocks[N * N * k + (N == 1 ? 0 : AT(i, j))];
    }
    const double shift = r != c ? 0.0 : value > 0.0 ? 1e-12 : 1.0 + 1e-12;
    dense[t] = scale[r] * scale[c] * value + shift;
}

extern "C" __global__ void __launch_bounds__(BLOCK) dense_scale(
    unsigned n,
    const double* __restrict__ diagonal, // [n / 6][6][6]
    double* __restrict__ scale) {        // [n]
    fill_scale<6>(n, diagonal, scale);
}

extern "C" __global__ void __launch_bounds__(BLOCK) dense_fill(
    unsigned n,
    const unsigned* __restrict__ row_offsets, // [n / 6 + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][36]
    const double* __restrict__ diagonal,      // [n / 6][6][6]
    const double* __restrict__ scale,         // [n]
    double* __restrict__ dense) {             // [n][n]
    fill_dense<6>(n, row_offsets, columns, blocks, diagonal, scale, dense);
}

extern "C" __global__ void __launch_bounds__(BLOCK) dense_scale1(
    unsigned n,
    const double* __restrict__ diagonal, // [n]
    double* __restrict__ scale) {        // [n]
    fill_scale<1>(n, diagonal, scale);
}

extern "C" __global__ void __launch_bounds__(BLOCK) dense_fill1(
    unsigned n,
    const unsigned* __restrict__ row_offsets, // [n + 1]
    const unsigned* __restrict__ columns,     // [n_entries]
    const real* __restrict__ entries,         // [n_entries]
    const double* __restrict__ diagonal,      // [n]
    const double* __restrict__ scale,         // [n]
    double* __restrict__ dense) {             // [n][n]
    fill_dense<1>(n, row_offsets, columns, entries, diagonal, scale, dense);
}
