// precision: f64 f32
// scalar_levels: multigrid of one unknown per node, whose aggregates move by a constant: the product
// with a coarse matrix, a step of smoothing, restriction and prolongation.
//
// Source:        plain aggregation [NotayVassilevski2008]; compressed rows; a row makes nothing where all is
//                alike but what its ground does
// Mapping:       csr1, restrict1: a warp per row or aggregate, lanes over its entries or members, blocks
//                of 128; smooth1, prolong1: one thread per entry, blocks of 128
// Layout:        vectors [n]; a row's entries off the diagonal by increasing columns
// Cost:          csr1: 8 bytes (f64: 12) and 2 operations per entry; smooth1: up to 8 values read or
//                written per entry; restrict1, prolong1: 4 bytes and one value read, or read and written,
//                per member
// Deterministic: yes; members in fixed order, sums by a fixed tree
// Requires:      a held node is a member of no aggregate, and its `of` is NONE
// Oracle:        crates/topopt-cuda/tests/device/scalar_multigrid.rs

#define BLOCK 128

#include "common/aggregates1.cuh"
#include "common/smooth.cuh"

// y = A x in some rows; from differences, so that what all share leaves no rounding behind
extern "C" __global__ void __launch_bounds__(BLOCK) csr1(
    unsigned first_row, unsigned end_row,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns,     // [n_entries]
    const real* __restrict__ entries,         // [n_entries]
    const real* __restrict__ ground,          // [n_rows]
    const real* __restrict__ x,               // [n_rows]
    real* __restrict__ y) {                   // [n_rows]
    const unsigned row = first_row + blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= end_row) return; // the whole warp
    const real own = x[row];
    real sum = 0;
    for (unsigned k = row_offsets[row] + lane; k < row_offsets[row + 1]; k += WARP)
        sum += entries[k] * (x[columns[k]] - own);
    sum = lane_sum<WARP>(sum);
    if (lane == 0) y[row] = sum + ground[row] * own;
}

// One step of the smoother, as common/smooth.cuh has it
extern "C" __global__ void __launch_bounds__(BLOCK) smooth1(
    unsigned n, unsigned residual, double alpha, double beta,
    const double* __restrict__ scalars, unsigned result, unsigned start, // of the power method
    const real* __restrict__ inverse, // [n]
    const real* __restrict__ b,       // [n]
    const real* __restrict__ product, // [n]
    real* __restrict__ r,             // [n]
    real* __restrict__ d,             // [n]
    real* __restrict__ x) {           // [n]
    const unsigned at = blockIdx.x * BLOCK + threadIdx.x;
    if (at >= n) return;
    const real value = residual_at(at, residual, b, product, r);
    const real scale = over_growth(alpha, scalars, result, start);
    step_at(at, residual, value, scale * inverse[at] * value, (real)beta, r, d, x);
}

// coarse = P^T fine
extern "C" __global__ void __launch_bounds__(BLOCK) restrict1(
    unsigned n_aggregates,
    const unsigned* __restrict__ offsets, // [n_aggregates + 1]
    const unsigned* __restrict__ members, // of every aggregate
    const real* __restrict__ fine,
    real* __restrict__ coarse) {          // [n_aggregates]
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= n_aggregates) return; // the whole warp
    real sum = 0;
    for (unsigned k = offsets[row] + lane; k < offsets[row + 1]; k += WARP) sum += fine[members[k]];
    sum = lane_sum<WARP>(sum);
    if (lane == 0) coarse[row] = sum;
}

// fine += P coarse
extern "C" __global__ void __launch_bounds__(BLOCK) prolong1(
    unsigned n,
    const unsigned* __restrict__ of, // [n], the aggregate or NONE
    const real* __restrict__ coarse, // [n_aggregates]
    real* __restrict__ fine) {       // [n]
    const unsigned at = blockIdx.x * BLOCK + threadIdx.x;
    if (at >= n) return;
    const unsigned aggregate = of[at];
    if (aggregate != NONE) fine[at] += coarse[aggregate];
}
