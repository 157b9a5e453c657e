// precision: f64 f32
// groups: the inverses of the diagonal blocks of groups of points, which smooth multigrid of
// tetrahedra.
//
// Source:        block Jacobi, a step of Chebyshev's polynomial in one pass
// Mapping:       a warp a group: its triangle F into shared memory, y = F r a lane a row, z = F^T y a
//                lane a column; blocks of 128
// Layout:        factors F as rows of lower triangles in single precision; vectors
//                [unknowns][n_points] on the finest level, [n_points][unknowns] on the others
// Cost:          smooth_groups: 2 (n + 1) bytes of F, 6 values and 2 n operations an unknown for a
//                group of n
// Deterministic: yes
// Requires:      every point is in one group, of at most UNKNOWNS unknowns
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/groups.cuh"
#include "common/smooth.cuh"
#include "common/warp.cuh"

#define BLOCK 128
#define WARPS (BLOCK / WARP)
#define RESIDENT 8 // blocks; without it registers spill for more of them

// What a warp works on
struct Work {
    float factor[UNKNOWNS * (UNKNOWNS + 1) / 2];
    real values[UNKNOWNS]; // r
    real products[UNKNOWNS]; // F r
};

__device__ __forceinline__ void load_factor(const GroupsView& groups, const Group& group, Work& work) {
    for (unsigned k = threadIdx.x % WARP; k < triangle(group.n); k += WARP)
        work.factor[k] = groups.factors[group.factor + k];
}

// F r of the values, by rows: those of a triangle begin in different banks
__device__ __forceinline__ void multiply_factor(unsigned n, Work& work) {
    __syncwarp();
    for (unsigned i = threadIdx.x % WARP; i < n; i += WARP) {
        const float* row = work.factor + triangle(i);
        real sum = 0;
        for (unsigned j = 0; j <= i; ++j) sum += (real)row[j] * work.values[j];
        work.products[i] = sum;
    }
    __syncwarp();
}

// Row j of F^T times the products
__device__ __forceinline__ real transposed_product(unsigned n, unsigned j, const Work& work) {
    real sum = 0;
    for (unsigned i = j; i < n; ++i) sum += (real)work.factor[triangle(i) + j] * work.products[i];
    return sum;
}

// y = D^-1 x
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) apply_groups(
    VIEW(GroupsView) groups,
    const real* __restrict__ x, // [unknowns][n_points] or [n_points][unknowns]
    real* __restrict__ y) {     // as x
    __shared__ Work works[WARPS];
    const unsigned number = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (number >= groups.n_groups) return; // the whole warp
    Work& work = works[threadIdx.x / WARP];
    const Group group = group_of(groups, number);
    load_factor(groups, group, work);
    for (unsigned i = lane; i < group.n; i += WARP) work.values[i] = x[place(groups, group.first, i)];
    multiply_factor(group.n, work);
    for (unsigned i = lane; i < group.n; i += WARP)
        y[place(groups, group.first, i)] = transposed_product(group.n, i, work);
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
    __shared__ Work works[WARPS];
    const unsigned number = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (number >= groups.n_groups) return; // the whole warp
    Work& work = works[threadIdx.x / WARP];
    const Group group = group_of(groups, number);
    load_factor(groups, group, work);
    const real scale = over_growth(alpha, scalars, result, start);

    for (unsigned i = lane; i < group.n; i += WARP) {
        const size_t at = place(groups, group.first, i);
        work.values[i] = residual_at(at, residual, b, product, r);
    }
    multiply_factor(group.n, work);
    for (unsigned i = lane; i < group.n; i += WARP) {
        const size_t at = place(groups, group.first, i);
        const real step = scale * transposed_product(group.n, i, work);
        step_at(at, residual, work.values[i], step, (real)beta, r, d, x);
    }
}
