// precision: f64
// dense: the inverse of the coarsest matrix, by Gauss-Jordan steps of 24x24 pivots.
//
// Source:        block elimination without exchanges, which a positive definite matrix does not need
// Mapping:       dense_invert_pivot: one block of 576, a thread an entry; dense_eliminate: a block of 128
//                a tile of 24 rows and 32 columns, six entries a thread
// Layout:        dense matrices [n][n]
// Cost:          n / 24 launches of each; dense_eliminate reads and writes n^2 values, 96 operations
//                each
// Deterministic: yes
// Requires:      dense_eliminate: `in` and `out` do not overlap; 22 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/multigrid.rs

#define BLOCK 128
#define STRIP 32
#define ROW_STEP (BLOCK / STRIP)
#define ENTRIES (PIVOT / ROW_STEP)
#define PIVOT 24

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
extern "C" __global__ void __launch_bounds__(BLOCK) dense_eliminate(
    unsigned n, unsigned first,
    const double* __restrict__ inverse, // [PIVOT][PIVOT], of the pivot
    const double* __restrict__ in,      // [n][n]
    double* __restrict__ out) {         // [n][n]
    // The inverse, the columns under it, the strip of its rows, and that times the inverse.
    __shared__ double P[PIVOT][PIVOT], L[PIVOT][PIVOT], V[PIVOT][STRIP], top[PIVOT][STRIP];
    const unsigned tiles = (n + PIVOT - 1) / PIVOT, tile = blockIdx.x % tiles * PIVOT;
    const unsigned column = threadIdx.x % STRIP, c = blockIdx.x / tiles * STRIP + column;
    const unsigned row = threadIdx.x / STRIP;
    const bool is_pivot_column = c >= first && c < first + PIVOT;
    for (unsigned t = threadIdx.x; t < PIVOT * PIVOT; t += BLOCK) {
        const unsigned i = t / PIVOT, j = t % PIVOT;
        P[i][j] = inverse[t];
        L[i][j] = tile + i < n && first + j < n ? in[(size_t)(tile + i) * n + (first + j)] : 0.0;
    }
    for (unsigned j = row; j < PIVOT; j += ROW_STEP) {
        const bool inside = !is_pivot_column && c < n && first + j < n;
        V[j][column] = inside ? in[(size_t)(first + j) * n + c] : is_pivot_column && c - first == j;
    }
    double value[ENTRIES] = {};
    __syncthreads();
    for (int j = 0; j < PIVOT; ++j)
#pragma unroll
        for (int k = 0; k < ENTRIES; ++k) value[k] += P[row + ROW_STEP * k][j] * V[j][column];
#pragma unroll
    for (int k = 0; k < ENTRIES; ++k) {
        const unsigned i = row + ROW_STEP * k;
        const bool is_kept = !is_pivot_column && c < n && tile + i < n;
        top[i][column] = value[k];
        if (tile != first) value[k] = is_kept ? in[(size_t)(tile + i) * n + c] : 0.0;
    }
    __syncthreads();
    if (tile != first)
        for (int j = 0; j < PIVOT; ++j)
#pragma unroll
            for (int k = 0; k < ENTRIES; ++k) value[k] -= L[row + ROW_STEP * k][j] * top[j][column];
#pragma unroll
    for (int k = 0; k < ENTRIES; ++k) {
        const unsigned i = tile + row + ROW_STEP * k;
        if (i < n && c < n) out[(size_t)i * n + c] = value[k];
    }
}
