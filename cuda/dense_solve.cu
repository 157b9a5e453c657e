// precision: f64 f32
// dense_solve: x = A^-1 b on the coarsest level, by the inverse that dense.cu makes.
//
// Source:        plain matrix-vector product
// Mapping:       a warp a row, lanes over columns, blocks of 128
// Layout:        inverse [n][n], scaled: A^-1 = scale inverse scale
// Cost:          8 bytes and 3 operations an entry; sums in double precision, as large entries of
//                soft motions cancel
// Deterministic: yes; sums by a fixed tree
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#include "common/warp.cuh"

#define BLOCK 128

extern "C" __global__ void __launch_bounds__(BLOCK) dense_solve(
    unsigned n,
    const double* __restrict__ inverse, // [n][n]
    const double* __restrict__ scale,   // [n]
    const real* __restrict__ b,         // [n]
    real* __restrict__ x) {             // [n]
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= n) return; // the whole warp
    double sum = 0.0;
    for (unsigned c = lane; c < n; c += WARP) sum += inverse[(size_t)row * n + c] * (scale[c] * (double)b[c]);
    for (int step = WARP / 2; step > 0; step /= 2) sum += __shfl_down_sync(WHOLE_WARP, sum, step);
    if (lane == 0) x[row] = (real)(scale[row] * sum);
}
