// precision: f64
// smoothed: prolongations of aggregates with rigid motions, smoothed, and the matrices of
// aggregates.
//
// Source:        P = (I - 4 / (3 lambda) D^-1 A) T, A_c = P^T A P [VanekMandelBrezina1996]; D the
//                blocks on the diagonal, lambda the largest eigenvalue of D^-1 A by a power method
// Mapping:       apply_inverses: a thread a row; the others: a warp a row of the result, of smooth
//                and products five blocks at a time by 30 lanes, a mode each; blocks of 128
// Layout:        vectors [n_rows][B]; tentative [n_rows][mode][B]; blocks as common/block_view.cuh
//                has them
// Cost:          a row of n blocks with m of P around it: smooth n m / 5 blocks, multiply n
//                searches for each block of its product, galerkin a search for each block of P^T
//                and of its row
// Deterministic: yes; sums in fixed order
// Requires:      patterns that hold all products
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/block_view.cuh"
#include "common/group_inverse.cuh"
#include "common/rigid.cuh"

#define BLOCK 128
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

// A P
template <unsigned B>
__device__ __forceinline__ void multiply(
    const BlocksView& matrix, const BlocksView& prolongation, const BlocksView& product, double* __restrict__ out) {
    const Lane lane = lane_of(matrix.n_rows);
    if (lane.is_idle) return;
    const unsigned row = lane.row;
    for (unsigned q = product.offsets[row] + lane.slot; q < product.offsets[row + 1]; q += MODE_SLOTS) {
        double sum[B] = {};
        for (unsigned k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
            const unsigned p = place_of(prolongation, matrix.columns[k], product.columns[q]);
            if (p == NOWHERE) continue;
            add_product<B>(
                matrix.blocks + (size_t)(B * B) * k,
                prolongation.blocks + (size_t)B * (MODES * (size_t)p + lane.mode), sum);
        }
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
    const Lane lane = lane_of(coarse.n_rows);
    if (lane.is_idle) return;
    const unsigned row = lane.row;
    for (unsigned c = coarse.offsets[row] + lane.slot; c < coarse.offsets[row + 1]; c += MODE_SLOTS) {
        double sum[MODES] = {};
        for (unsigned k = offsets[row]; k < offsets[row + 1]; ++k) {
            const unsigned q = place_of(product, points[k], coarse.columns[c]);
            if (q == NOWHERE) continue;
            const double* __restrict__ left = prolongation.blocks + (size_t)(B * MODES) * places[k];
            const double* __restrict__ right = product.blocks + (size_t)B * (MODES * (size_t)q + lane.mode);
#pragma unroll
            for (unsigned m = 0; m < MODES; ++m)
#pragma unroll
                for (unsigned i = 0; i < B; ++i) sum[m] += left[B * m + i] * right[i];
        }
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
