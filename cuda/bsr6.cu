// precision: f64 f32
// bsr6: a coarse matrix in 6x6 block compressed rows, and the inverse of its block diagonal.
//
// Source:        sparse matrix-vector product in differences: a block multiplies the motion of its
//                column less that rigid motion which the row's motion is there. So rounded blocks
//                give a rigid motion no stiffness, which would hide that of soft motions; what a rigid
//                motion does meet, the ground, stands in the diagonal block in place of it
// Mapping:       bsr6: a warp a block row, five blocks at a time by 30 lanes, each a component,
//                blocks of 128; invert_diagonal6: one thread a row, the others: six threads a row,
//                blocks of 96
// Layout:        vectors [n_rows][6]; blocks [n_blocks][column][row]: the six lanes of a block read
//                neighbouring words; `numbers` are the matrix in double precision, `blocks` what
//                the cycle reads
// Cost:          bsr6: 36 values, 28 bytes and 90 operations a block; 12 values a row
// Deterministic: yes; sums by a fixed tree
// Requires:      every row has its diagonal block; columns ascend
// Oracle:        crates/topopt-cuda/tests/multigrid.rs

#include "common/invert.cuh"
#include "common/rigid.cuh"
#include "common/rows.cuh"
#include "common/smooth.cuh"

#define BLOCK 128
#define ROW_BLOCK 96
#define WARP 32
#define WHOLE_WARP 0xffffffffu
#define N 6
#define SLOTS 5

// y = A x
extern "C" __global__ void __launch_bounds__(BLOCK) bsr6(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][6][6], the ground on the diagonal
    const double* __restrict__ centres,       // [3][n_rows]
    const real* __restrict__ x,               // [n_rows][6]
    real* __restrict__ y) {                   // [n_rows][6]
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP, slot = lane / N, i = lane % N;
    if (row >= n_rows) return; // the whole warp
    const unsigned end = row_offsets[row + 1];
    real sum = 0, own[N];
#pragma unroll
    for (int j = 0; j < N; ++j) own[j] = x[(size_t)N * row + j];
    if (slot < SLOTS)
        for (unsigned k = row_offsets[row] + slot; k < end; k += SLOTS) {
            const unsigned column = columns[k];
            const real* __restrict__ block = blocks + (size_t)(N * N) * k;
            const real* __restrict__ from = x + (size_t)N * column;
            double r[3];
            arm(centres, n_rows, column, centres, n_rows, row, r);
            const real there[3] = {(real)r[0], (real)r[1], (real)r[2]};
            real carried[3];
            displacement(own, there, carried);
            const real share = column == row ? 0 : 1;
#pragma unroll
            for (int j = 0; j < N; ++j)
                sum += block[N * j + i] * (from[j] - share * (j < 3 ? carried[j % 3] : own[j]));
        }
    real total = sum;
#pragma unroll
    for (int s = 1; s < SLOTS; ++s) total += __shfl_down_sync(WHOLE_WARP, sum, N * s);
    if (lane < N) y[(size_t)N * row + lane] = total;
}

// blocks on the diagonal = forces of the rigid motions of the whole row, in place of their own
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) ground6(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const double* __restrict__ numbers,       // [n_blocks][6][6]
    const double* __restrict__ centres,       // [3][n_rows]
    real* __restrict__ blocks) {              // [n_blocks][6][6]
    const unsigned t = blockIdx.x * ROW_BLOCK + threadIdx.x, row = t / N, mode = t % N;
    if (row >= n_rows) return;
    const unsigned first = row_offsets[row], last = row_offsets[row + 1];
    double unit[N], total[N] = {};
#pragma unroll
    for (int j = 0; j < N; ++j) unit[j] = mode == j ? 1.0 : 0.0;
    for (unsigned k = first; k < last; ++k) {
        double r[3], motion[N];
        arm(centres, n_rows, columns[k], centres, n_rows, row, r);
        displacement(unit, r, motion);
#pragma unroll
        for (int j = 3; j < N; ++j) motion[j] = unit[j];
        const double* __restrict__ block = numbers + (size_t)(N * N) * k;
#pragma unroll
        for (int j = 0; j < N; ++j)
#pragma unroll
            for (int i = 0; i < N; ++i) total[i] += block[N * j + i] * motion[j];
    }
    const size_t place = find(columns, first, last, row);
#pragma unroll
    for (int i = 0; i < N; ++i) blocks[(size_t)(N * N) * place + N * mode + i] = (real)total[i];
}

// inverse = (block diagonal of A)^-1
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) invert_diagonal6(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const double* __restrict__ numbers,       // [n_blocks][6][6]
    real* __restrict__ inverse) {             // [n_rows][6][6]
    const unsigned row = blockIdx.x * ROW_BLOCK + threadIdx.x;
    if (row >= n_rows) return;
    const double* __restrict__ block =
        numbers + (size_t)(N * N) * find(columns, row_offsets[row], row_offsets[row + 1], row);
    double A[N][N];
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j < N; ++j) A[i][j] = 0.5 * (block[N * j + i] + block[N * i + j]);
    invert<N>(A);
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j < N; ++j) inverse[(size_t)(N * N) * row + N * j + i] = (real)A[i][j];
}

// y = D x
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) apply_diagonal6(
    unsigned n_rows,
    const real* __restrict__ inverse, // [n_rows][6][6]
    const real* __restrict__ x,       // [n_rows][6]
    real* __restrict__ y) {           // [n_rows][6]
    const unsigned t = blockIdx.x * ROW_BLOCK + threadIdx.x, row = t / N, i = t % N;
    if (row >= n_rows) return;
    const real* __restrict__ block = inverse + (size_t)(N * N) * row;
    const real* __restrict__ from = x + (size_t)N * row;
    real sum = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) sum += block[N * j + i] * from[j];
    y[t] = sum;
}

// One step of the smoother, as common/smooth.cuh has it
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) smooth_diagonal6(
    unsigned n_rows, unsigned residual, double alpha, double beta,
    const real* __restrict__ inverse, // [n_rows][6][6]
    const real* __restrict__ b,       // [n_rows][6]
    const real* __restrict__ product, // [n_rows][6]
    real* __restrict__ r,             // [n_rows][6]
    real* __restrict__ d,             // [n_rows][6]
    real* __restrict__ x) {           // [n_rows][6]
    __shared__ real residuals[ROW_BLOCK];
    const unsigned t = blockIdx.x * ROW_BLOCK + threadIdx.x, i = t % N;
    const bool active = t < N * n_rows;
    if (active) residuals[threadIdx.x] = residual_at(t, residual, b, product, r);
    __syncthreads();
    if (!active) return;
    const real* __restrict__ block = inverse + (size_t)N * (t - i);
    real sum = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) sum += block[N * j + i] * residuals[threadIdx.x - i + j];
    step_at(t, residual, residuals[threadIdx.x], (real)alpha * sum, (real)beta, r, d, x);
}
