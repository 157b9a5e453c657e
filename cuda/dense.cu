// precision: f64
// dense: the inverse of the coarsest matrix, by symmetric steps of 48x48 pivots.
//
// Source:        the sweep operator [Goodnight1979] by blocks, without exchanges, which a positive
//                definite matrix does not need: for a pivot p with inverse P, M_ij -= M_ip P M_pj,
//                M_ip = M_ip P, M_pp = -P; M stays symmetric and ends as the negative inverse
// Mapping:       blocks of 16x16 threads; dense_panel: a block 64 columns, and every block inverts the
//                pivot itself, 3x3 entries a thread; dense_eliminate: a block a tile of 64 rows and
//                columns on or below the diagonal, 4x4 entries a thread
// Layout:        matrix [n][n], of which only what is on or below the diagonal counts, but all of it in
//                the end; panels [48][n]
// Cost:          n / 48 launches of each; dense_eliminate reads and writes n^2 / 2 values, 96 operations
//                each
// Deterministic: yes
// Requires:      48 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#include "common/reciprocal.cuh"

#define PIVOT 48
#define TILE 64
#define SIDE 16 // of the square of threads
#define BLOCK (SIDE * SIDE)
#define OWN (PIVOT / SIDE)
#define PART (TILE / SIDE)

// What the next step of invert_pivot needs: column k of the pivot, with -1 in place of its entry on the
// diagonal, and the reciprocal of that. p and q are of k = SIDE p + q.
struct Column {
    double entry[PIVOT], reciprocal;
};

__device__ __forceinline__ void publish(const double own[OWN][OWN], int p, int q, Column& column) {
    const unsigned y = threadIdx.x / SIDE, x = threadIdx.x % SIDE;
    if (x != q) return;
#pragma unroll
    for (int a = 0; a < OWN; ++a) {
        const bool is_diagonal = a == p && y == q;
        if (is_diagonal) column.reciprocal = reciprocal(own[a][p]);
        column.entry[y + SIDE * a] = is_diagonal ? -1.0 : own[a][p];
    }
}

// The thread's entries of the pivot at `first`, of the identity where it reaches over the matrix
__device__ __forceinline__ void load_pivot(
    unsigned n, unsigned first, const double* __restrict__ matrix, double own[OWN][OWN]) {
    const unsigned y = threadIdx.x / SIDE, x = threadIdx.x % SIDE;
#pragma unroll
    for (int a = 0; a < OWN; ++a)
#pragma unroll
        for (int b = 0; b < OWN; ++b) {
            const unsigned i = y + SIDE * a, j = x + SIDE * b;
            const unsigned row = first + max(i, j), at = first + min(i, j);
            own[a][b] = matrix[row < n ? (size_t)row * n + at : 0];
            if (row >= n) own[a][b] = i == j;
        }
}

// P = the inverse of the pivot, of which a thread has its own entries
__device__ __forceinline__ void invert_pivot(double own[OWN][OWN], double P[PIVOT][PIVOT + 1]) {
    __shared__ Column columns[2];
    const unsigned y = threadIdx.x / SIDE, x = threadIdx.x % SIDE;

    publish(own, 0, 0, columns[0]);
    __syncthreads();

#pragma unroll
    for (int p = 0; p < OWN; ++p)
#pragma unroll 1
        for (int q = 0; q < SIDE; ++q) {
            const Column& column = columns[q % 2];
            double scaled[OWN], row[OWN];

#pragma unroll
            for (int a = 0; a < OWN; ++a) {
                scaled[a] = column.entry[y + SIDE * a] * column.reciprocal;
                row[a] = column.entry[x + SIDE * a];
                if (y == q) own[p][a] = 0.0;
                if (x == q) own[a][p] = 0.0;
            }

#pragma unroll
            for (int a = 0; a < OWN; ++a)
#pragma unroll
                for (int b = 0; b < OWN; ++b) own[a][b] -= scaled[a] * row[b];

            // For the next step, into the column that this one does not read: one barrier is enough.
            if (q + 1 < SIDE) publish(own, p, q + 1, columns[(q + 1) % 2]);
            else if (p + 1 < OWN) publish(own, p + 1, 0, columns[0]);
            __syncthreads();
        }

#pragma unroll
    for (int a = 0; a < OWN; ++a)
#pragma unroll
        for (int b = 0; b < OWN; ++b) P[y + SIDE * a][x + SIDE * b] = -own[a][b];
}

// V = the rows of the pivot at `first` in the columns from `left` on: the identity in its own. All is
// asked for before any of it is waited for.
__device__ __forceinline__ void load_panel(
    unsigned n, unsigned first, unsigned left, const double* __restrict__ matrix,
    double V[PIVOT][TILE + 1]) {
    const bool is_below = left >= first; // then neighbors are those of a column of V
    double v[PIVOT * TILE / BLOCK];
#pragma unroll
    for (int s = 0; s < PIVOT * TILE / BLOCK; ++s) {
        const unsigned t = s * BLOCK + threadIdx.x;
        const unsigned i = first + (is_below ? t % PIVOT : t / TILE), c = left + (is_below ? t / PIVOT : t % TILE);
        v[s] = matrix[i < n && c < n ? (size_t)max(i, c) * n + min(i, c) : 0];
        if (i >= n || c >= n) v[s] = 0.0;
        if (c >= first && c < first + PIVOT) v[s] = c == i;
    }

#pragma unroll
    for (int s = 0; s < PIVOT * TILE / BLOCK; ++s) {
        const unsigned t = s * BLOCK + threadIdx.x;
        V[is_below ? t % PIVOT : t / TILE][is_below ? t / PIVOT : t % TILE] = v[s];
    }
}

// The rows of the pivot, as they are and times its inverse
extern "C" __global__ void __launch_bounds__(BLOCK, 2) dense_panel(
    unsigned n, unsigned first,
    const double* __restrict__ matrix, // [n][n]
    double* __restrict__ panel,        // [PIVOT][n]
    double* __restrict__ scaled) {     // [PIVOT][n]
    __shared__ double V[PIVOT][TILE + 1], P[PIVOT][PIVOT + 1];
    const unsigned left = blockIdx.x * TILE, y = threadIdx.x / SIDE, x = threadIdx.x % SIDE;

    double own[OWN][OWN];
    load_pivot(n, first, matrix, own);
    load_panel(n, first, left, matrix, V);
    invert_pivot(own, P);
    __syncthreads();

    double sum[OWN][PART] = {};
#pragma unroll 8
    for (int j = 0; j < PIVOT; ++j)
#pragma unroll
        for (int a = 0; a < OWN; ++a)
#pragma unroll
            for (int b = 0; b < PART; ++b) sum[a][b] += P[y + SIDE * a][j] * V[j][x + SIDE * b];

#pragma unroll
    for (int a = 0; a < OWN; ++a)
#pragma unroll
        for (int b = 0; b < PART; ++b) {
            const unsigned i = y + SIDE * a, c = left + x + SIDE * b;
            if (c >= n) continue;
            panel[(size_t)i * n + c] = V[i][x + SIDE * b];
            scaled[(size_t)i * n + c] = sum[a][b];
        }
}

// Number t of the tiles on or below the diagonal, row by row
__device__ __forceinline__ void tile_of(unsigned t, unsigned* row, unsigned* column) {
    unsigned r = (unsigned)((sqrtf(8.0f * t + 1.0f) - 1.0f) * 0.5f);
    while (r * (r + 1) / 2 > t) --r;
    while ((r + 1) * (r + 2) / 2 <= t) ++r;
    *row = r;
    *column = t - r * (r + 1) / 2;
}

// value -= L^T R, the thread's entries of the tile
__device__ __forceinline__ void subtract_product(
    const double L[PIVOT][TILE], const double R[PIVOT][TILE], double value[PART][PART]) {
    const unsigned y = threadIdx.x / SIDE, x = threadIdx.x % SIDE;
#pragma unroll 2
    for (int k = 0; k < PIVOT; ++k) {
        double l[PART], r[PART];
#pragma unroll
        for (int i = 0; i < PART; ++i) l[i] = L[k][y + SIDE * i];
#pragma unroll
        for (int j = 0; j < PART; ++j) r[j] = R[k][x + SIDE * j];
#pragma unroll
        for (int i = 0; i < PART; ++i)
#pragma unroll
            for (int j = 0; j < PART; ++j) value[i][j] -= l[i] * r[j];
    }
}

// One step; the last one leaves the inverse
extern "C" __global__ void __launch_bounds__(BLOCK) dense_eliminate(
    unsigned n, unsigned first,
    const double* __restrict__ panel,  // [PIVOT][n]
    const double* __restrict__ scaled, // [PIVOT][n]
    double* __restrict__ matrix) {     // [n][n]
    __shared__ double L[PIVOT][TILE], R[PIVOT][TILE];
    const unsigned y = threadIdx.x / SIDE, x = threadIdx.x % SIDE;

    unsigned top, left;
    tile_of(blockIdx.x, &top, &left);
    top *= TILE, left *= TILE;

    double value[PART][PART];
#pragma unroll
    for (int i = 0; i < PART; ++i)
#pragma unroll
        for (int j = 0; j < PART; ++j) {
            const unsigned r = top + y + SIDE * i, c = left + x + SIDE * j;
            value[i][j] = matrix[r < n && c <= r ? (size_t)r * n + c : 0]; // any, where there is none
        }

#pragma unroll
    for (int s = 0; s < PIVOT * TILE / BLOCK; ++s) {
        const unsigned t = s * BLOCK + threadIdx.x, k = t / TILE, c = t % TILE;
        L[k][c] = panel[(size_t)k * n + min(top + c, n - 1)];
        R[k][c] = scaled[(size_t)k * n + min(left + c, n - 1)];
    }
    __syncthreads();
    subtract_product(L, R, value);

    const bool is_last = first + PIVOT >= n;
#pragma unroll
    for (int i = 0; i < PART; ++i)
#pragma unroll
        for (int j = 0; j < PART; ++j) {
            const unsigned r = top + y + SIDE * i, c = left + x + SIDE * j;
            if (r >= n || c > r) continue;
            const bool in_row = r >= first && r < first + PIVOT, in_column = c >= first && c < first + PIVOT;
            double m = value[i][j];
            if (in_row) m = scaled[(size_t)(r - first) * n + c];
            else if (in_column) m = scaled[(size_t)(c - first) * n + r];
            if (in_row && in_column) m = -m;
            matrix[(size_t)r * n + c] = is_last ? -m : m;
            if (is_last) matrix[(size_t)c * n + r] = -m;
        }
}
