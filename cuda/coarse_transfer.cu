// precision: f64 f32
// coarse_transfer: from aggregates to aggregates of aggregates and back: a child takes part in the
// rigid motion of its parent.
//
// Source:        plain aggregation with rigid-body modes [NotayVassilevski2008]
// Mapping:       restrict_aggregates: a warp a parent, lanes over its children, blocks of 128;
//                prolong_aggregates: one thread a child, blocks of 128
// Layout:        vectors [n][6]
// Cost:          28 bytes and 6 values read, or read and written, a child; 30 operations a child
// Deterministic: yes; children of a parent in fixed order, sums by a fixed tree
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#include "common/rigid.cuh"

#define BLOCK 128

// coarse = P^T fine
extern "C" __global__ void __launch_bounds__(BLOCK) restrict_aggregates(
    unsigned n_parents, unsigned n_children,
    const unsigned* __restrict__ offsets, // [n_parents + 1]
    const unsigned* __restrict__ members, // [n_children], children of every parent
    const double* __restrict__ positions, // [3][n_children]
    const double* __restrict__ centers,   // [3][n_parents]
    const real* __restrict__ fine,        // [n_children][6]
    real* __restrict__ coarse) {          // [n_parents][6]
    const unsigned parent = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP;
    if (parent >= n_parents) return; // the whole warp

    real total[MODES] = {};
    for (unsigned k = offsets[parent] + lane; k < offsets[parent + 1]; k += WARP) {
        const unsigned child = members[k];
        const real* __restrict__ own = fine + (size_t)MODES * child;

        double r[3];
        arm(positions, n_children, child, centers, n_parents, parent, r);
        const real at[3] = {(real)r[0], (real)r[1], (real)r[2]}, f[3] = {own[0], own[1], own[2]};
        add_force(f, at, total);
#pragma unroll
        for (int i = 3; i < MODES; ++i) total[i] += own[i];
    }

#pragma unroll
    for (int i = 0; i < MODES; ++i) {
        for (int step = WARP / 2; step > 0; step /= 2)
            total[i] += __shfl_down_sync(WHOLE_WARP, total[i], step);
        if (lane == 0) coarse[(size_t)MODES * parent + i] = total[i];
    }
}

// fine += P coarse
extern "C" __global__ void __launch_bounds__(BLOCK) prolong_aggregates(
    unsigned n_parents, unsigned n_children,
    const unsigned* __restrict__ of,      // [n_children], the parent
    const double* __restrict__ positions, // [3][n_children]
    const double* __restrict__ centers,   // [3][n_parents]
    const real* __restrict__ coarse,      // [n_parents][6]
    real* __restrict__ fine) {            // [n_children][6]
    const unsigned child = blockIdx.x * BLOCK + threadIdx.x;
    if (child >= n_children) return;
    const unsigned parent = of[child];

    double r[3];
    arm(positions, n_children, child, centers, n_parents, parent, r);
    const real at[3] = {(real)r[0], (real)r[1], (real)r[2]};

    real motion[MODES], u[3];
#pragma unroll
    for (int i = 0; i < MODES; ++i) motion[i] = coarse[(size_t)MODES * parent + i];
    displacement(motion, at, u);

    real* __restrict__ own = fine + (size_t)MODES * child;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        own[i] += u[i];
        own[3 + i] += motion[3 + i];
    }
}
