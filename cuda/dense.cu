// precision: f64
// dense: the inverse of the coarsest matrix, by Gauss-Jordan steps of 48x48 pivots.
//
// Source:        block elimination without exchanges, which a positive definite matrix does not need
// Mapping:       dense_invert_pivot: one block of 576, four entries a thread; dense_panels: one thread a
//                column and row, blocks of 128; dense_eliminate: a block of 256 a tile of 64 rows and
//                columns, 4x4 entries a thread
// Layout:        dense matrix [n][n]; rows [48][n]; columns [n][48]
// Cost:          n / 48 launches of each; dense_eliminate reads and writes n^2 values, 96 operations
//                each
// Deterministic: yes
// Requires:      26 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/multigrid.rs

#define BLOCK 128
#define PIVOT 48
#define HALF (PIVOT / 2)
#define TILE_BLOCK 256
#define TILE 64
#define STEP 16
#define SIDE (TILE / STEP)

// inverse = (pivot of `size` rows and columns from `first` on)^-1, with the identity below it
extern "C" __global__ void __launch_bounds__(HALF * HALF) dense_invert_pivot(
    unsigned n, unsigned first,
    const double* __restrict__ matrix, // [n][n]
    double* __restrict__ inverse) {    // [PIVOT][PIVOT]
    __shared__ double A[PIVOT][PIVOT];
    const unsigned y = threadIdx.x / HALF, x = threadIdx.x % HALF;
    double own[2][2];
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int b = 0; b < 2; ++b) {
            const unsigned i = y + HALF * a, j = x + HALF * b;
            const bool inside = first + i < n && first + j < n;
            own[a][b] = inside ? matrix[(size_t)(first + i) * n + (first + j)] : i == j ? 1.0 : 0.0;
            A[i][j] = own[a][b];
        }
    __syncthreads();
    for (int k = 0; k < PIVOT; ++k) {
        const double factor = 1.0 / A[k][k];
        double row[2], column[2];
#pragma unroll
        for (int a = 0; a < 2; ++a) {
            row[a] = A[k][x + HALF * a];
            column[a] = A[y + HALF * a][k];
        }
        __syncthreads();
#pragma unroll
        for (int a = 0; a < 2; ++a)
#pragma unroll
            for (int b = 0; b < 2; ++b) {
                const unsigned i = y + HALF * a, j = x + HALF * b;
                own[a][b] = i == k ? (j == k ? factor : row[b] * factor)
                          : j == k ? -column[a] * factor : own[a][b] - column[a] * factor * row[b];
                A[i][j] = own[a][b];
            }
        __syncthreads();
    }
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int b = 0; b < 2; ++b) inverse[PIVOT * (y + HALF * a) + x + HALF * b] = own[a][b];
}

// The pivot's rows times the inverse, the identity in its columns; and its columns as they are
extern "C" __global__ void __launch_bounds__(BLOCK) dense_panels(
    unsigned n, unsigned first,
    const double* __restrict__ inverse, // [PIVOT][PIVOT], of the pivot
    const double* __restrict__ matrix,  // [n][n]
    double* __restrict__ rows,          // [PIVOT][n]
    double* __restrict__ columns) {     // [n][PIVOT]
    __shared__ double P[PIVOT][PIVOT];
    for (unsigned t = threadIdx.x; t < PIVOT * PIVOT; t += BLOCK) P[t / PIVOT][t % PIVOT] = inverse[t];
    __syncthreads();
    const unsigned c = blockIdx.x * BLOCK + threadIdx.x;
    if (c >= n) return;
    const bool is_pivot_column = c >= first && c < first + PIVOT;
    double v[PIVOT];
#pragma unroll
    for (int j = 0; j < PIVOT; ++j) {
        const bool inside = !is_pivot_column && first + j < n;
        v[j] = inside ? matrix[(size_t)(first + j) * n + c] : is_pivot_column && c - first == j;
        columns[(size_t)PIVOT * c + j] = first + j < n ? matrix[(size_t)c * n + (first + j)] : 0.0;
    }
#pragma unroll 2
    for (int i = 0; i < PIVOT; ++i) {
        double sum = 0.0;
#pragma unroll
        for (int j = 0; j < PIVOT; ++j) sum += P[i][j] * v[j];
        rows[(size_t)n * i + c] = sum;
    }
}

// One step: the elimination of the pivot's rows and columns, in place of an inverse
extern "C" __global__ void __launch_bounds__(TILE_BLOCK) dense_eliminate(
    unsigned n, unsigned first,
    const double* __restrict__ rows,    // [PIVOT][n]
    const double* __restrict__ columns, // [n][PIVOT]
    double* __restrict__ matrix) {      // [n][n]
    __shared__ double L[TILE][HALF + 1], R[HALF][TILE]; // no two rows of L in the same bank
    const unsigned tiles = (n + TILE - 1) / TILE;
    const unsigned top = blockIdx.x / tiles * TILE, left = blockIdx.x % tiles * TILE;
    const unsigned y = threadIdx.x / STEP, x = threadIdx.x % STEP;
    double value[SIDE][SIDE] = {};
    for (unsigned half = 0; half < PIVOT; half += HALF) {
        for (unsigned t = threadIdx.x; t < TILE * HALF; t += TILE_BLOCK) {
            const unsigned r = t / HALF, j = t % HALF, k = t / TILE, c = t % TILE;
            L[r][j] = top + r < n ? columns[(size_t)PIVOT * (top + r) + (half + j)] : 0.0;
            R[k][c] = left + c < n ? rows[(size_t)n * (half + k) + (left + c)] : 0.0;
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < HALF; ++k) {
            double l[SIDE], r[SIDE];
#pragma unroll
            for (int i = 0; i < SIDE; ++i) {
                l[i] = L[y + STEP * i][k];
                r[i] = R[k][x + STEP * i];
            }
#pragma unroll
            for (int i = 0; i < SIDE; ++i)
#pragma unroll
                for (int j = 0; j < SIDE; ++j) value[i][j] -= l[i] * r[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < SIDE; ++i)
#pragma unroll
        for (int j = 0; j < SIDE; ++j) {
            const unsigned r = top + y + STEP * i, c = left + x + STEP * j;
            if (r >= n || c >= n) continue;
            const bool is_pivot_row = r >= first && r < first + PIVOT;
            const bool is_pivot_column = c >= first && c < first + PIVOT;
            double* __restrict__ at = matrix + ((size_t)r * n + c);
            *at = is_pivot_row ? rows[(size_t)n * (r - first) + c] : (is_pivot_column ? 0.0 : *at) + value[i][j];
        }
}
