// precision: f64 f32
// block_rows: matrices of full blocks in compressed rows: coarse matrices of multigrid of
// tetrahedra, and the smoothed prolongations between its levels.
//
// Source:        sparse matrix-vector product; transfers of smoothed aggregation
//                [VanekMandelBrezina1996]
// Mapping:       a warp a block row; lanes over blocks and their columns, of a transpose over
//                blocks and their rows, each with sums for a whole block; blocks of 128
// Layout:        vectors [n_rows][ROWS] and [n_columns][COLUMNS]; blocks [n_blocks][column][row]
// Cost:          a value and 2 operations an entry of a block, 4 bytes a block, 8 of a transpose
// Deterministic: yes; sums by a fixed tree
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/warp.cuh"

#define BLOCK 128

// Entry i of the sums over all lanes, in lane i
template <unsigned N>
__device__ __forceinline__ real sum_of_lanes(real sums[N]) {
    const unsigned lane = threadIdx.x % WARP;
    real total = 0;
#pragma unroll
    for (unsigned i = 0; i < N; ++i) {
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2) sums[i] += __shfl_xor_sync(WHOLE_WARP, sums[i], step);
        total = lane == i ? sums[i] : total;
    }
    return total;
}

// y = A x, or y += A x
template <unsigned ROWS, unsigned COLUMNS, bool ADDS>
__device__ __forceinline__ void multiply(
    unsigned n_rows, const unsigned* __restrict__ row_offsets, const unsigned* __restrict__ columns,
    const real* __restrict__ blocks, const real* __restrict__ x, real* __restrict__ y) {
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= n_rows) return; // the whole warp
    const unsigned slot = lane / COLUMNS, j = lane % COLUMNS, end = row_offsets[row + 1];
    real sums[ROWS] = {};
    if (slot < WARP / COLUMNS)
        for (unsigned k = row_offsets[row] + slot; k < end; k += WARP / COLUMNS) {
            const real value = x[(size_t)COLUMNS * columns[k] + j];
            const real* __restrict__ column = blocks + (size_t)ROWS * ((size_t)COLUMNS * k + j);
#pragma unroll
            for (unsigned i = 0; i < ROWS; ++i) sums[i] += column[i] * value;
        }

    const real total = sum_of_lanes<ROWS>(sums);
    const size_t at = (size_t)ROWS * row + lane;
    if (lane < ROWS) y[at] = ADDS ? y[at] + total : total;
}

// y = A^T x; rows of A^T have rows of A, and where their blocks stand
template <unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void multiply_transpose(
    unsigned n_columns, const unsigned* __restrict__ offsets, const unsigned* __restrict__ rows,
    const unsigned* __restrict__ places, const real* __restrict__ blocks, const real* __restrict__ x,
    real* __restrict__ y) {
    const unsigned column = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (column >= n_columns) return; // the whole warp
    const unsigned slot = lane / ROWS, i = lane % ROWS, end = offsets[column + 1];
    real sums[COLUMNS] = {};
    if (slot < WARP / ROWS)
        for (unsigned k = offsets[column] + slot; k < end; k += WARP / ROWS) {
            const real value = x[(size_t)ROWS * rows[k] + i];
            const real* __restrict__ block = blocks + (size_t)(ROWS * COLUMNS) * places[k];
#pragma unroll
            for (unsigned j = 0; j < COLUMNS; ++j) sums[j] += block[ROWS * j + i] * value;
        }

    const real total = sum_of_lanes<COLUMNS>(sums);
    if (lane < COLUMNS) y[(size_t)COLUMNS * column + lane] = total;
}

extern "C" __global__ void __launch_bounds__(BLOCK) multiply3(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][3][3]
    const real* __restrict__ x,               // [n_columns][3]
    real* __restrict__ y) {                   // [n_rows][3]
    multiply<3, 3, false>(n_rows, row_offsets, columns, blocks, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) multiply6(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][6][6]
    const real* __restrict__ x,               // [n_columns][6]
    real* __restrict__ y) {                   // [n_rows][6]
    multiply<6, 6, false>(n_rows, row_offsets, columns, blocks, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) add_product3(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][6][3]
    const real* __restrict__ x,               // [n_columns][6]
    real* __restrict__ y) {                   // [n_rows][3]
    multiply<3, 6, true>(n_rows, row_offsets, columns, blocks, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) add_product6(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    const real* __restrict__ blocks,          // [n_blocks][6][6]
    const real* __restrict__ x,               // [n_columns][6]
    real* __restrict__ y) {                   // [n_rows][6]
    multiply<6, 6, true>(n_rows, row_offsets, columns, blocks, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) multiply_transpose3(
    unsigned n_columns,
    const unsigned* __restrict__ offsets, // [n_columns + 1]
    const unsigned* __restrict__ rows,    // [n_blocks]
    const unsigned* __restrict__ places,  // [n_blocks]
    const real* __restrict__ blocks,      // [n_blocks][6][3]
    const real* __restrict__ x,           // [n_rows][3]
    real* __restrict__ y) {               // [n_columns][6]
    multiply_transpose<3, 6>(n_columns, offsets, rows, places, blocks, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) multiply_transpose6(
    unsigned n_columns,
    const unsigned* __restrict__ offsets, // [n_columns + 1]
    const unsigned* __restrict__ rows,    // [n_blocks]
    const unsigned* __restrict__ places,  // [n_blocks]
    const real* __restrict__ blocks,      // [n_blocks][6][6]
    const real* __restrict__ x,           // [n_rows][6]
    real* __restrict__ y) {               // [n_columns][6]
    multiply_transpose<6, 6>(n_columns, offsets, rows, places, blocks, x, y);
}
