// precision: f64 f32
// bsr6: a coarse matrix in 6x6 block compressed rows, and the inverse of its block diagonal.
//
// Source:        sparse matrix-vector product in differences: a block multiplies the motion of its
//                column less that rigid motion which the row's motion is there. So rounded blocks
//                give a rigid motion no stiffness, which would hide that of soft motions; what a rigid
//                motion does meet, the ground, stands in place of the blocks on the diagonal
// Mapping:       bsr6: a warp a block row, ten blocks at a time by 30 lanes, two columns each;
//                bsr6_upper: 16 lanes a block row, five blocks at a time, likewise; diagonal6: a warp a
//                block row, five blocks at a time by 30 lanes, a mode each; all in blocks of 128;
//                invert_diagonal6: one thread a row, the others: six threads a row, blocks of 96
// Layout:        vectors [n_rows][6]; blocks between different rows as common/blocks.cuh has them;
//                ground, diagonal and inverse [n_rows][column][row]
// Cost:          bsr6: 40 values, 4 bytes and 90 operations a block; 48 values a row; bsr6_upper: of half
//                the blocks, 180 operations each, and six atomic additions
// Deterministic: yes, sums by a fixed tree; bsr6_upper: no, the order of additions to a row is not fixed
// Requires:      columns ascend; no row has itself among its columns; bsr6_upper: blocks across the
//                diagonal are transposes, y = 0 beforehand
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#include "common/invert.cuh"
#include "common/opaque.cuh"
#include "common/blocks.cuh"
#include "common/rigid.cuh"
#include "common/smooth.cuh"

#define BLOCK 128
#define ROW_BLOCK 96
#define N 6
#define PAIRS 3
#define PAIR_SLOTS 10
#define IN_FLIGHT 3

// bsr6_upper: lanes of a row, and blocks that they take together
#define ROW_LANES 16
#define ROW_SLOTS 5

// What the blocks of a row sum up to may be off by so much of their largest entry.
#define ROUNDING (sizeof(real) == 4 ? 1e-6 : 1e-12)

// Entry i of the sums over a row's lanes, in lane i; 0 in lanes from N on
template <unsigned LANES>
__device__ __forceinline__ real sum_of_lanes(real sums[N]) {
    const unsigned lane = threadIdx.x % LANES;
    real total = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
#pragma unroll
        for (int step = LANES / 2; step > 0; step /= 2) sums[i] += __shfl_xor_sync(WHOLE_WARP, sums[i], step);
        total = lane == i ? sums[i] : total;
    }
    return total;
}

// y = A x in some rows
extern "C" __global__ void __launch_bounds__(BLOCK) bsr6(
    unsigned first_row, unsigned end_row,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][36]
    const Four<real>* __restrict__ arms,      // [n_blocks]
    const real* __restrict__ ground,          // [n_rows][6][6]
    const real* __restrict__ x,               // [n_rows][6]
    real* __restrict__ y) {                   // [n_rows][6]
    const unsigned row = first_row + blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP, slot = lane / PAIRS, pair = lane % PAIRS;
    if (row >= end_row) return; // the whole warp

    const unsigned end = row_offsets[row + 1];
    real sums[N] = {}, own[N];
#pragma unroll
    for (int j = 0; j < N; ++j) own[j] = x[(size_t)N * row + j];

    for (unsigned first = row_offsets[row] + slot; first < end; first += IN_FLIGHT * PAIR_SLOTS) {
        // All of them are asked for before the first is used; past the end the last, which counts
        // no more.
        real v[IN_FLIGHT][TWO_COLUMNS], from[IN_FLIGHT][2], weight[IN_FLIGHT];
        Four<real> arm[IN_FLIGHT];
#pragma unroll
        for (int f = 0; f < IN_FLIGHT; ++f) {
            const unsigned asked = first + f * PAIR_SLOTS, k = asked < end ? asked : end - 1;
            const Two<real> two = ((const Two<real>*)x)[(size_t)PAIRS * columns[k] + pair];
            arm[f] = arms[k];
            weight[f] = asked < end && slot < PAIR_SLOTS ? 1 : 0;
            load_two_columns(blocks + ((size_t)SIZE * k + TWO_COLUMNS * pair), v[f]);
            from[f][0] = opaque(two.first);
            from[f][1] = opaque(two.second);
        }

#pragma unroll
        for (int f = 0; f < IN_FLIGHT; ++f) {
            real carried[3];
            displacement(own, arm[f].v, carried);
            const real there[2] = {pair == 0 ? carried[0] : pair == 1 ? carried[2] : own[4],
                                   pair == 0 ? carried[1] : pair == 1 ? own[3] : own[5]};
            const real d[2] = {weight[f] * (from[f][0] - there[0]), weight[f] * (from[f][1] - there[1])};
#pragma unroll
            for (int i = 0; i < N; ++i) sums[i] += v[f][2 * i] * d[0] + v[f][2 * i + 1] * d[1];
        }
    }

    real total = sum_of_lanes<WARP>(sums);
    if (lane >= N) return;
#pragma unroll
    for (int j = 0; j < N; ++j) total += ground[(size_t)SIZE * row + N * j + lane] * own[j];
    y[(size_t)N * row + lane] = total;
}

// y += A x, from the blocks above the diagonal alone: a block serves its row and its column
extern "C" __global__ void __launch_bounds__(BLOCK) bsr6_upper(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ uppers,      // [n_rows], the first block above the diagonal
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][36]
    const Four<real>* __restrict__ arms,      // [n_blocks]
    const real* __restrict__ ground,          // [n_rows][6][6]
    const real* __restrict__ x,               // [n_rows][6]
    real* __restrict__ y) {                   // [n_rows][6]
    const unsigned asked = blockIdx.x * (BLOCK / ROW_LANES) + threadIdx.x / ROW_LANES;
    const unsigned lane = threadIdx.x % ROW_LANES, slot = lane / PAIRS, pair = lane % PAIRS;
    const unsigned row = asked < n_rows ? asked : n_rows - 1; // what no warp is without
    const unsigned end = asked < n_rows && slot < ROW_SLOTS ? row_offsets[row + 1] : 0;

    real sums[N] = {}, own[N];
#pragma unroll
    for (int j = 0; j < N; ++j) own[j] = x[(size_t)N * row + j];

    for (unsigned k = uppers[row] + slot; k < end; k += ROW_SLOTS) {
        const unsigned column = columns[k];
        const Four<real> arm = arms[k];
        real v[TWO_COLUMNS], from[N];
        load_two_columns(blocks + ((size_t)SIZE * k + TWO_COLUMNS * pair), v);
#pragma unroll
        for (int j = 0; j < PAIRS; ++j) {
            const Two<real> two = ((const Two<real>*)x)[(size_t)PAIRS * column + j];
            from[2 * j] = two.first;
            from[2 * j + 1] = two.second;
        }

        // The motion of the column less that of the row there, and the reverse
        const real back[3] = {-arm.v[0], -arm.v[1], -arm.v[2]};
        real carried[3], returned[3], across[2] = {};
        displacement(own, arm.v, carried);
        displacement(from, back, returned);
        const real d[2] = {
            pair == 0 ? from[0] - carried[0] : pair == 1 ? from[2] - carried[2] : from[4] - own[4],
            pair == 0 ? from[1] - carried[1] : pair == 1 ? from[3] - own[3] : from[5] - own[5]};
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const real other = own[i] - (i < 3 ? returned[i % 3] : from[i]);
            sums[i] += v[2 * i] * d[0] + v[2 * i + 1] * d[1];
            across[0] += v[2 * i] * other;
            across[1] += v[2 * i + 1] * other;
        }
        real* __restrict__ to = y + ((size_t)N * column + 2 * pair);
        atomicAdd(to, across[0]);
        atomicAdd(to + 1, across[1]);
    }

    real total = sum_of_lanes<ROW_LANES>(sums);
    if (asked >= n_rows || lane >= N) return;
#pragma unroll
    for (int j = 0; j < N; ++j) total += ground[(size_t)SIZE * row + N * j + lane] * own[j];
    atomicAdd(y + ((size_t)N * row + lane), total);
}

// diagonal = ground - sum over the blocks of a row of block T, T the rigid motion at the column that
// the row's motion is there
extern "C" __global__ void __launch_bounds__(BLOCK) diagonal6(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][36]
    const real* __restrict__ ground,          // [n_rows][6][6]
    const double* __restrict__ centers,       // [3][n_rows]
    double* __restrict__ diagonal) {          // [n_rows][6][6]
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP, slot = lane / N, mode = lane % N;
    if (row >= n_rows) return; // the whole warp

    double own[N], total[N] = {};
    unit_motion(mode, own);
    if (slot < MODE_SLOTS)
        for (unsigned k = row_offsets[row] + slot; k < row_offsets[row + 1]; k += MODE_SLOTS) {
            double r[3], motion[N];
            arm(centers, n_rows, columns[k], centers, n_rows, row, r);
            motion_at(own, r, motion);

            const real* __restrict__ block = blocks + (size_t)SIZE * k;
#pragma unroll
            for (int i = 0; i < N; ++i)
#pragma unroll
                for (int j = 0; j < N; ++j) total[i] -= (double)block[AT(i, j)] * motion[j];
        }

    sum_slots(total);
    if (slot > 0) return;

#pragma unroll
    for (int i = 0; i < N; ++i) {
        const size_t at = (size_t)SIZE * row + N * mode + i;
        diagonal[at] = total[i] + (double)ground[at];
    }
}

// inverse = diagonal^-1, without what may be rounding alone
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) invert_diagonal6(
    unsigned n_rows,
    const double* __restrict__ diagonal, // [n_rows][6][6]
    real* __restrict__ inverse) {        // [n_rows][6][6]
    const unsigned row = blockIdx.x * ROW_BLOCK + threadIdx.x;
    if (row >= n_rows) return;

    // The symmetric part: rounding makes the two triangles differ.
    const double* __restrict__ block = diagonal + (size_t)SIZE * row;
    double A[N][N];
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j < N; ++j) A[i][j] = 0.5 * (block[N * j + i] + block[N * i + j]);

    invert<N>(A, ROUNDING);
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j < N; ++j) inverse[(size_t)SIZE * row + N * j + i] = (real)A[i][j];
}

// y = D x
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) apply_diagonal6(
    unsigned n_rows,
    const real* __restrict__ inverse, // [n_rows][6][6]
    const real* __restrict__ x,       // [n_rows][6]
    real* __restrict__ y) {           // [n_rows][6]
    const unsigned t = blockIdx.x * ROW_BLOCK + threadIdx.x, row = t / N, i = t % N;
    if (row >= n_rows) return;
    const real* __restrict__ block = inverse + (size_t)SIZE * row;
    const real* __restrict__ from = x + (size_t)N * row;
    real sum = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) sum += block[N * j + i] * from[j];
    y[t] = sum;
}

// One step of the smoother, as common/smooth.cuh has it
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) smooth_diagonal6(
    unsigned n_rows, unsigned residual, double alpha, double beta,
    const double* __restrict__ scalars, unsigned result, unsigned start, // of the power method
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
    const real scale = over_growth(alpha, scalars, result, start);
    step_at(t, residual, residuals[threadIdx.x], scale * sum, (real)beta, r, d, x);
}
