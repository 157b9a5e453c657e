// precision: f64 f32
// groups: the inverses of the diagonal blocks of groups of points, which smooth multigrid of
// tetrahedra.
//
// Source:        block Jacobi, a step of Chebyshev's polynomial in one pass
// Mapping:       a warp a group, a lane a row of its inverse; the values of the columns go round by
//                shuffles; blocks of 128
// Layout:        inverses [group][column][row] in single precision, n x n for the n unknowns of a
//                group; vectors [unknowns][n_points] on the finest level, [n_points][unknowns] on
//                the others
// Cost:          smooth_groups: 4 n bytes of the inverse, 6 values and 2 n operations an unknown
// Deterministic: yes
// Requires:      every point is in one group
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/groups.cuh"
#include "common/smooth.cuh"
#include "common/warp.cuh"

#define BLOCK 128
#define RESIDENT 8 // blocks; without it registers spill for more of them

// Row i of the inverse times the values x of a group; all lanes take part
__device__ __forceinline__ real row_product(const GroupsView& groups, const Group& group, unsigned i, const real* x) {
    const unsigned lane = threadIdx.x % WARP, n = group.n, row = i < n ? i : n - 1;
    real sum = 0;
    for (unsigned begin = 0; begin < n; begin += WARP) {
        const unsigned own = begin + lane, count = min(n - begin, WARP);
        const real value = own < n ? x[place(groups, group.first, own)] : (real)0;
#pragma unroll 8
        for (unsigned j = 0; j < count; ++j)
            sum += (real)group.inverse[(size_t)(begin + j) * n + row] * __shfl_sync(WHOLE_WARP, value, j);
    }
    return sum;
}

// y = D^-1 x
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) apply_groups(
    VIEW(GroupsView) groups,
    const real* __restrict__ x, // [unknowns][n_points] or [n_points][unknowns]
    real* __restrict__ y) {     // as x
    const unsigned number = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (number >= groups.n_groups) return; // the whole warp
    const Group group = group_of(groups, number);
    for (unsigned begin = 0; begin < group.n; begin += WARP) {
        const real value = row_product(groups, group, begin + lane, x);
        if (begin + lane < group.n) y[place(groups, group.first, begin + lane)] = value;
    }
}

// One step of the smoother, as common/smooth.cuh has it
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) smooth_groups(
    unsigned n_groups, unsigned residual, double alpha, double beta,
    const double* __restrict__ scalars, unsigned result, unsigned start, // of the power method
    VIEW(GroupsView) groups,
    const real* __restrict__ b,       // [unknowns][n_points] or [n_points][unknowns], as the others
    const real* __restrict__ product, // as b
    real* __restrict__ r,             // as b
    real* __restrict__ d,             // as b
    real* __restrict__ x) {           // as b
    const unsigned number = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (number >= n_groups) return; // the whole warp
    const Group group = group_of(groups, number);
    const real scale = over_growth(alpha, scalars, result, start);

    for (unsigned i = lane; i < group.n; i += WARP) {
        const size_t at = place(groups, group.first, i);
        r[at] = residual_at(at, residual, b, product, r);
    }
    __syncwarp(); // all rows read them

    for (unsigned begin = 0; begin < group.n; begin += WARP) {
        const real value = row_product(groups, group, begin + lane, r);
        if (begin + lane >= group.n) continue;
        const size_t at = place(groups, group.first, begin + lane);
        step_at(at, residual, r[at], scale * value, (real)beta, r, d, x);
    }
}
