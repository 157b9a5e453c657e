// precision: f64
// dense: the inverse of the coarsest matrix, by Gauss-Jordan steps of 24x24 pivots.
//
// Source:        block elimination without exchanges, which a positive definite matrix does not need
// Mapping:       dense_scale: one thread a row; dense_fill: one thread an entry; blocks of
//                128; dense_invert_pivot: one block of 576, a thread an entry; dense_eliminate: one
//                thread 24 entries of a column, blocks of 128
// Layout:        dense matrices [n][n], n = 6 n_rows; blocks [n_blocks][column][row]
// Cost:          n / 24 launches of each; dense_eliminate reads and writes n^2 values, 96 operations
//                each
// Deterministic: yes
// Requires:      dense_eliminate: `in` and `out` do not overlap; 9 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/multigrid.rs

#include "common/rows.cuh"

#define BLOCK 128
#define N 6
#define PIVOT 24

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

// inverse = (pivot of `size` rows and columns from `first` on)^-1, with the identity below it
extern "C" __global__ void __launch_bounds__(PIVOT * PIVOT) dense_invert_pivot(
    unsigned n, unsigned first,
    const double* __restrict__ in,  // [n][n]
    double* __restrict__ inverse) { // [PIVOT][PIVOT]
    __shared__ double A[PIVOT][PIVOT];
    const unsigned i = threadIdx.x / PIVOT, j = threadIdx.x % PIVOT;
    const bool inside = first + i < n && first + j < n;
    A[i][j] = inside ? in[(size_t)(first + i) * n + (first + j)] : i == j ? 1.0 : 0.0;
    __syncthreads();
    for (int k = 0; k < PIVOT; ++k) {
        const double factor = 1.0 / A[k][k], row = A[k][j], column = A[i][k], own = A[i][j];
        __syncthreads();
        A[i][j] = i == k ? (j == k ? factor : row * factor)
                         : j == k ? -column * factor : own - column * factor * row;
        __syncthreads();
    }
    inverse[threadIdx.x] = A[i][j];
}

// One step: out = in after the elimination of the pivot's rows and columns, in place of an inverse
extern "C" __global__ void __launch_bounds__(BLOCK, 3) dense_eliminate(
    unsigned n, unsigned first,
    const double* __restrict__ inverse, // [PIVOT][PIVOT], of the pivot
    const double* __restrict__ in,      // [n][n]
    double* __restrict__ out) {         // [n][n]
    __shared__ double P[PIVOT][PIVOT], L[PIVOT][PIVOT]; // that, and the columns under it
    const unsigned tiles = (n + PIVOT - 1) / PIVOT;
    const unsigned tile = blockIdx.x % tiles * PIVOT, c = blockIdx.x / tiles * BLOCK + threadIdx.x;
    for (unsigned t = threadIdx.x; t < PIVOT * PIVOT; t += BLOCK) {
        const unsigned i = t / PIVOT, j = t % PIVOT;
        P[i][j] = inverse[t];
        L[i][j] = tile + i < n && first + j < n ? in[(size_t)(tile + i) * n + (first + j)] : 0.0;
    }
    __syncthreads();
    if (c >= n) return;
    const bool is_pivot_column = c >= first && c < first + PIVOT;
    double top[PIVOT] = {}; // column c of the pivot's rows, times the inverse pivot
    for (int j = 0; j < PIVOT; ++j) {
        const bool inside = !is_pivot_column && first + j < n;
        const double value = inside ? in[(size_t)(first + j) * n + c] : is_pivot_column && c - first == j;
#pragma unroll
        for (int i = 0; i < PIVOT; ++i) top[i] += P[i][j] * value;
    }
#pragma unroll
    for (int i = 0; i < PIVOT; ++i) {
        if (tile + i >= n) break;
        const size_t at = (size_t)(tile + i) * n + c;
        double value = is_pivot_column ? 0.0 : in[at];
#pragma unroll
        for (int j = 0; j < PIVOT; ++j) value -= L[i][j] * top[j];
        out[at] = tile == first ? top[i] : value;
    }
}
