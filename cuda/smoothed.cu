// precision: f64
// smoothed: prolongations of aggregates with rigid motions, smoothed, and the matrices of
// aggregates.
//
// Source:        P = (I - 4 / (3 lambda) D^-1 A) T, A_c = P^T A P [VanekMandelBrezina1996]; D the
//                blocks on the diagonal, lambda the largest eigenvalue of D^-1 A by a power method
// Mapping:       apply_inverses: a thread a row; smooth, invert_diagonals: a warp a row; products: a
//                block a row; of smooth and products a warp makes five blocks of the result at a
//                time by 30 lanes, a mode each; blocks of 128
// Layout:        vectors [n_rows][B]; tentative [n_rows][mode][B]; blocks as common/block_view.cuh
//                has them
// Cost:          a row of n blocks with m of P around it: smooth n m / 5 blocks, multiply n
//                searches for each block of its product, galerkin a search for each block of P^T
//                and of its row, in columns that a warp has copied to shared memory: in global
//                memory searches took four fifths of the time
// Deterministic: yes; sums in fixed order
// Requires:      patterns that hold all products
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/block_view.cuh"
#include "common/group_inverse.cuh"
#include "common/rigid.cuh"

#define BLOCK 128
// Columns in shared memory
#define STAGED 128
// The power method comes from below
#define MARGIN 1.05

// What a lane works on
struct Lane {
    unsigned row, slot, mode;
    bool is_idle;
};

__device__ __forceinline__ Lane lane_of(unsigned n_rows) {
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    return {row, lane / MODES, lane % MODES, row >= n_rows || lane / MODES >= MODE_SLOTS};
}

// One of the lanes of a block that shares a row
__device__ __forceinline__ Lane lane_of_block() {
    const unsigned row = blockIdx.x, lane = threadIdx.x % WARP;
    return {row, lane / MODES, lane % MODES, lane / MODES >= MODE_SLOTS};
}

// sum += block x
template <unsigned B>
__device__ __forceinline__ void add_product(
    const double* __restrict__ block, const double* __restrict__ x, double sum[B]) {
#pragma unroll
    for (unsigned j = 0; j < B; ++j)
#pragma unroll
        for (unsigned i = 0; i < B; ++i) sum[i] += block[B * j + i] * x[j];
}

template <unsigned B>
__device__ __forceinline__ void invert_diagonals(const BlocksView& matrix, double* __restrict__ inverses) {
    __shared__ SharedMatrix<B> works[BLOCK / WARP];
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= matrix.n_rows) return; // the whole warp
    SharedMatrix<B>& work = works[threadIdx.x / WARP];
    const double* __restrict__ block = matrix.blocks + (size_t)(B * B) * place_of(matrix, row, row);
    for (unsigned k = lane; k < B * B; k += WARP)
        work.entries[k / B][k % B] = 0.5 * (block[k] + block[B * (k % B) + k / B]);
    write_inverse(B, work, inverses + (size_t)(B * B) * row);
}

template <unsigned B>
__device__ __forceinline__ void apply_inverses(
    unsigned n_rows, const double* __restrict__ inverses, const double* __restrict__ x, double* __restrict__ y) {
    const unsigned row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= n_rows) return;
    double sum[B] = {};
    add_product<B>(inverses + (size_t)(B * B) * row, x + (size_t)B * row, sum);
#pragma unroll
    for (unsigned i = 0; i < B; ++i) y[(size_t)B * row + i] = sum[i];
}

template <unsigned B>
__device__ __forceinline__ void smooth(
    const BlocksView& matrix, const unsigned* __restrict__ aggregates, const double* __restrict__ tentative,
    const double* __restrict__ inverses, const double* __restrict__ scalars, unsigned result, unsigned start,
    const BlocksView& prolongation, double* __restrict__ out) {
    const Lane lane = lane_of(matrix.n_rows);
    if (lane.is_idle) return;
    const unsigned row = lane.row;
    const double damping = 4.0 / (3.0 * MARGIN * sqrt(scalars[result] / scalars[start]));

    // What is held has no motion in any mode.
    bool moves[B] = {};
    for (unsigned m = 0; m < MODES; ++m)
#pragma unroll
        for (unsigned i = 0; i < B; ++i)
            moves[i] = moves[i] || tentative[(size_t)B * (MODES * (size_t)row + m) + i] != 0.0;

    for (unsigned p = prolongation.offsets[row] + lane.slot; p < prolongation.offsets[row + 1]; p += MODE_SLOTS) {
        const unsigned aggregate = prolongation.columns[p];
        double sum[B] = {}, smoothed[B] = {};
        for (unsigned k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
            const unsigned column = matrix.columns[k];
            if (aggregates[column] != aggregate) continue;
            add_product<B>(
                matrix.blocks + (size_t)(B * B) * k, tentative + (size_t)B * (MODES * (size_t)column + lane.mode), sum);
        }
        add_product<B>(inverses + (size_t)(B * B) * row, sum, smoothed);

        const double* __restrict__ own = tentative + (size_t)B * (MODES * (size_t)row + lane.mode);
#pragma unroll
        for (unsigned i = 0; i < B; ++i) {
            const double value = (aggregates[row] == aggregate ? own[i] : 0.0) - damping * smoothed[i];
            out[(size_t)B * (MODES * (size_t)p + lane.mode) + i] = moves[i] ? value : 0.0;
        }
    }
}

// Columns of a row that a warp searches: those in shared memory, or all where there are more
struct StagedRow {
    unsigned* columns;
    unsigned row, first, n;
};

__device__ __forceinline__ StagedRow stage_row(const BlocksView& matrix, unsigned row, unsigned* __restrict__ columns) {
    const unsigned lane = threadIdx.x % WARP, first = matrix.offsets[row], n = matrix.offsets[row + 1] - first;
    __syncwarp(); // all have searched the row before
    if (n <= STAGED)
        for (unsigned k = lane; k < n; k += WARP) columns[k] = matrix.columns[first + k];
    __syncwarp();
    return {columns, row, first, n};
}

__device__ __forceinline__ unsigned find(const BlocksView& matrix, const StagedRow& staged, unsigned column) {
    if (staged.n > STAGED) return place_of(matrix, staged.row, column);
    if (staged.n == 0) return NOWHERE;
    unsigned low = 0;
    for (unsigned size = staged.n; size > 1;) {
        const unsigned half = size / 2;
        low += staged.columns[low + half] <= column ? half : 0;
        size -= half;
    }
    return staged.columns[low] == column ? staged.first + low : NOWHERE;
}

// A P
template <unsigned B>
__device__ __forceinline__ void multiply(
    const BlocksView& matrix, const BlocksView& prolongation, const BlocksView& product, double* __restrict__ out) {
    __shared__ unsigned staged[BLOCK / WARP][STAGED];
    const Lane lane = lane_of_block();
    if (lane.row >= matrix.n_rows) return; // the whole block
    const unsigned row = lane.row, warp = threadIdx.x / WARP, end = product.offsets[row + 1];
    for (unsigned first = product.offsets[row] + MODE_SLOTS * warp; first < end; first += MODE_SLOTS * (BLOCK / WARP)) {
        const unsigned q = first + lane.slot;
        const bool has_block = !lane.is_idle && q < end;
        const unsigned aggregate = has_block ? product.columns[q] : NOWHERE;
        double sum[B] = {};
        for (unsigned k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
            const unsigned p = find(prolongation, stage_row(prolongation, matrix.columns[k], staged[warp]), aggregate);
            if (p == NOWHERE) continue;
            add_product<B>(
                matrix.blocks + (size_t)(B * B) * k,
                prolongation.blocks + (size_t)B * (MODES * (size_t)p + lane.mode), sum);
        }
        if (!has_block) continue;
#pragma unroll
        for (unsigned i = 0; i < B; ++i) out[(size_t)B * (MODES * (size_t)q + lane.mode) + i] = sum[i];
    }
}

// P^T (A P)
template <unsigned B>
__device__ __forceinline__ void galerkin(
    const BlocksView& prolongation, const BlocksView& product, const unsigned* __restrict__ offsets,
    const unsigned* __restrict__ points, const unsigned* __restrict__ places, const BlocksView& coarse,
    double* __restrict__ out) {
    __shared__ unsigned staged[BLOCK / WARP][STAGED];
    __shared__ double blocks[BLOCK / WARP][B * MODES];
    const Lane lane = lane_of_block();
    if (lane.row >= coarse.n_rows) return; // the whole block
    const unsigned row = lane.row, warp = threadIdx.x / WARP, end = coarse.offsets[row + 1];
    double* __restrict__ left = blocks[warp];
    for (unsigned first = coarse.offsets[row] + MODE_SLOTS * warp; first < end; first += MODE_SLOTS * (BLOCK / WARP)) {
        const unsigned c = first + lane.slot;
        const bool has_block = !lane.is_idle && c < end;
        const unsigned aggregate = has_block ? coarse.columns[c] : NOWHERE;
        double sum[MODES] = {};
        for (unsigned k = offsets[row]; k < offsets[row + 1]; ++k) {
            const StagedRow columns = stage_row(product, points[k], staged[warp]);
            for (unsigned i = threadIdx.x % WARP; i < B * MODES; i += WARP)
                left[i] = prolongation.blocks[(size_t)(B * MODES) * places[k] + i];
            __syncwarp();

            const unsigned q = find(product, columns, aggregate);
            if (q == NOWHERE) continue;
            const double* __restrict__ right = product.blocks + (size_t)B * (MODES * (size_t)q + lane.mode);
#pragma unroll
            for (unsigned i = 0; i < B; ++i) {
                const double value = right[i];
#pragma unroll
                for (unsigned m = 0; m < MODES; ++m) sum[m] += left[B * m + i] * value;
            }
        }
        if (!has_block) continue;
#pragma unroll
        for (unsigned m = 0; m < MODES; ++m) out[(size_t)(MODES * MODES) * c + MODES * lane.mode + m] = sum[m];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) invert_diagonals3(
    VIEW(BlocksView) matrix,
    double* __restrict__ inverses) { // [n_rows][3][3]
    invert_diagonals<3>(matrix, inverses);
}

extern "C" __global__ void __launch_bounds__(BLOCK) apply_inverses3(
    unsigned n_rows,
    const double* __restrict__ inverses, // [n_rows][3][3]
    const double* __restrict__ x,        // [n_rows][3]
    double* __restrict__ y) {            // [n_rows][3]
    apply_inverses<3>(n_rows, inverses, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) smooth3(
    VIEW(BlocksView) matrix,
    const unsigned* __restrict__ aggregates, // [n_rows]
    const double* __restrict__ tentative,    // [n_rows][6][3]
    const double* __restrict__ inverses,     // [n_rows][3][3]
    const double* __restrict__ scalars, unsigned result, unsigned start, // of the power method
    VIEW(BlocksView) prolongation,
    double* __restrict__ out) {              // [n_blocks][6][3]
    smooth<3>(matrix, aggregates, tentative, inverses, scalars, result, start, prolongation, out);
}

extern "C" __global__ void __launch_bounds__(BLOCK) multiply_smoothed3(
    VIEW(BlocksView) matrix, VIEW(BlocksView) prolongation, VIEW(BlocksView) product,
    double* __restrict__ out) { // [n_blocks][6][3]
    multiply<3>(matrix, prolongation, product, out);
}

extern "C" __global__ void __launch_bounds__(BLOCK) galerkin_smoothed3(
    VIEW(BlocksView) prolongation, VIEW(BlocksView) product,
    const unsigned* __restrict__ offsets, // [n_aggregates + 1]
    const unsigned* __restrict__ points,  // [n_blocks of prolongation]
    const unsigned* __restrict__ places,  // [n_blocks of prolongation]
    VIEW(BlocksView) coarse,
    double* __restrict__ out) {           // [n_blocks][6][6]
    galerkin<3>(prolongation, product, offsets, points, places, coarse, out);
}

extern "C" __global__ void __launch_bounds__(BLOCK) invert_diagonals6(
    VIEW(BlocksView) matrix,
    double* __restrict__ inverses) { // [n_rows][6][6]
    invert_diagonals<6>(matrix, inverses);
}

extern "C" __global__ void __launch_bounds__(BLOCK) apply_inverses6(
    unsigned n_rows,
    const double* __restrict__ inverses, // [n_rows][6][6]
    const double* __restrict__ x,        // [n_rows][6]
    double* __restrict__ y) {            // [n_rows][6]
    apply_inverses<6>(n_rows, inverses, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) smooth6(
    VIEW(BlocksView) matrix,
    const unsigned* __restrict__ aggregates, // [n_rows]
    const double* __restrict__ tentative,    // [n_rows][6][6]
    const double* __restrict__ inverses,     // [n_rows][6][6]
    const double* __restrict__ scalars, unsigned result, unsigned start, // of the power method
    VIEW(BlocksView) prolongation,
    double* __restrict__ out) {              // [n_blocks][6][6]
    smooth<6>(matrix, aggregates, tentative, inverses, scalars, result, start, prolongation, out);
}

extern "C" __global__ void __launch_bounds__(BLOCK) multiply_smoothed6(
    VIEW(BlocksView) matrix, VIEW(BlocksView) prolongation, VIEW(BlocksView) product,
    double* __restrict__ out) { // [n_blocks][6][6]
    multiply<6>(matrix, prolongation, product, out);
}

extern "C" __global__ void __launch_bounds__(BLOCK) galerkin_smoothed6(
    VIEW(BlocksView) prolongation, VIEW(BlocksView) product,
    const unsigned* __restrict__ offsets, // [n_aggregates + 1]
    const unsigned* __restrict__ points,  // [n_blocks of prolongation]
    const unsigned* __restrict__ places,  // [n_blocks of prolongation]
    VIEW(BlocksView) coarse,
    double* __restrict__ out) {           // [n_blocks][6][6]
    galerkin<6>(prolongation, product, offsets, points, places, coarse, out);
}
