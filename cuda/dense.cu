// precision: f64
// dense: the inverse of the coarsest matrix, by Gauss-Jordan steps of 6x6 pivots.
//
// Source:        block elimination without exchanges, which a positive definite matrix does not need
// Mapping:       dense_scale: one thread a row; dense_fill: one thread an entry; dense_pivot: one
//                thread the six entries of a column in a row of blocks, blocks of 128
// Layout:        dense matrices [n][n], n = 6 n_rows; blocks [n_blocks][column][row]
// Cost:          dense_pivot: n / 6 launches, each reads and writes n^2 values, 24 operations each
// Deterministic: yes
// Requires:      dense_pivot: `in` and `out` do not overlap
// Oracle:        crates/topopt-cuda/tests/multigrid.rs

#include "common/invert.cuh"
#include "common/rows.cuh"

#define BLOCK 128
#define N 6

// scale = 1 / sqrt(diagonal of A), 1 where that is not positive
extern "C" __global__ void __launch_bounds__(BLOCK) dense_scale(
    unsigned n,
    const unsigned* __restrict__ row_offsets, // [n / 6 + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const double* __restrict__ blocks,        // [n_blocks][6][6]
    double* __restrict__ scale) {             // [n]
    const unsigned t = blockIdx.x * BLOCK + threadIdx.x, row = t / N;
    if (t >= n) return;
    const size_t block = find(columns, row_offsets[row], row_offsets[row + 1], row);
    const double diagonal = blocks[N * N * block + (N + 1) * (t % N)];
    scale[t] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
}

// dense = scale A scale + 1e-12 I, and 1 on the diagonal of a row without stiffness
extern "C" __global__ void __launch_bounds__(BLOCK) dense_fill(
    unsigned n,
    const unsigned* __restrict__ row_offsets, // [n / 6 + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const double* __restrict__ blocks,        // [n_blocks][6][6]
    const double* __restrict__ scale,         // [n]
    double* __restrict__ dense) {             // [n][n]
    const unsigned long long t = blockIdx.x * (unsigned long long)BLOCK + threadIdx.x;
    if (t >= (unsigned long long)n * n) return;
    const unsigned r = t / n, c = t % n, row = r / N, column = c / N;
    const size_t block = find(columns, row_offsets[row], row_offsets[row + 1], column);
    const double value = columns[block] == column ? blocks[N * N * block + N * (c % N) + r % N] : 0.0;
    const double shift = r != c ? 0.0 : value > 0.0 ? 1e-12 : 1.0 + 1e-12;
    dense[t] = scale[r] * scale[c] * value + shift;
}

// One step: out = in after the elimination of the rows and columns of block k, in place of an inverse
extern "C" __global__ void __launch_bounds__(BLOCK) dense_pivot(
    unsigned n, unsigned k,
    const double* __restrict__ in, // [n][n]
    double* __restrict__ out) {    // [n][n]
    __shared__ double P[N][N], L[N][N]; // the inverse of the pivot, and the block under it
    const unsigned row = blockIdx.x % (n / N), c = blockIdx.x / (n / N) * BLOCK + threadIdx.x;
    if (threadIdx.x < N * N) {
        const unsigned i = threadIdx.x / N, j = threadIdx.x % N;
        L[i][j] = in[(size_t)(N * row + i) * n + (N * k + j)];
    }
    if (threadIdx.x == 0) {
        double A[N][N];
#pragma unroll
        for (int i = 0; i < N; ++i)
#pragma unroll
            for (int j = 0; j < N; ++j) A[i][j] = in[(size_t)(N * k + i) * n + (N * k + j)];
        invert<N>(A);
#pragma unroll
        for (int i = 0; i < N; ++i)
#pragma unroll
            for (int j = 0; j < N; ++j) P[i][j] = A[i][j];
    }
    __syncthreads();
    if (c >= n) return;
    const bool is_pivot_column = c / N == k;
    double top[N]; // column c of the pivot's row, times the inverse pivot
#pragma unroll
    for (int i = 0; i < N; ++i) {
        top[i] = is_pivot_column ? P[i][c % N] : 0.0;
        if (!is_pivot_column)
#pragma unroll
            for (int j = 0; j < N; ++j) top[i] += P[i][j] * in[(size_t)(N * k + j) * n + c];
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const size_t at = (size_t)(N * row + i) * n + c;
        double value = is_pivot_column ? 0.0 : in[at];
#pragma unroll
        for (int j = 0; j < N; ++j) value -= L[i][j] * top[j];
        out[at] = row == k ? top[i] : value;
    }
}
