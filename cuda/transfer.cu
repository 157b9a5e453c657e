// precision: f64 f32
// transfer: from nodes to their aggregates and back: P holds the six rigid motions of every
// aggregate at its nodes, and is zero at held components.
//
// Source:        plain aggregation with rigid-body modes [NotayVassilevski2008]
// Mapping:       restrict_nodes: a warp an aggregate, lanes over its nodes, blocks of 128;
//                prolong_nodes: one thread a node, blocks of 128
// Layout:        fine vectors as planes [3][n_nodes], coarse ones as [n_aggregates][6]
// Cost:          28 bytes and 3 values read, or read and written, a node; 30 operations a node
// Deterministic: yes; nodes of an aggregate in fixed order, sums by a fixed tree
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#include "common/rigid.cuh"

#define BLOCK 128

// coarse = P^T fine
extern "C" __global__ void __launch_bounds__(BLOCK) restrict_nodes(
    unsigned n_aggregates, unsigned n_nodes,
    const unsigned* __restrict__ offsets,      // [n_aggregates + 1]
    const unsigned* __restrict__ members,      // [n_nodes], nodes of every aggregate
    const double* __restrict__ coordinates,    // [3][n_nodes]
    const double* __restrict__ centers,        // [3][n_aggregates]
    const unsigned char* __restrict__ held,    // [n_nodes], bit i for component i
    const real* __restrict__ fine,             // [3][n_nodes]
    real* __restrict__ coarse) {               // [n_aggregates][6]
    const unsigned aggregate = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP;
    if (aggregate >= n_aggregates) return; // the whole warp

    real total[MODES] = {};
    for (unsigned k = offsets[aggregate] + lane; k < offsets[aggregate + 1]; k += WARP) {
        const unsigned node = members[k], mask = held[node];

        double r[3];
        arm(coordinates, n_nodes, node, centers, n_aggregates, aggregate, r);
        const real at[3] = {(real)r[0], (real)r[1], (real)r[2]};

        real f[3];
#pragma unroll
        for (int i = 0; i < 3; ++i) f[i] = mask >> i & 1 ? (real)0 : fine[(size_t)i * n_nodes + node];

        add_force(f, at, total);
    }

#pragma unroll
    for (int i = 0; i < MODES; ++i) {
        for (int step = WARP / 2; step > 0; step /= 2)
            total[i] += __shfl_down_sync(WHOLE_WARP, total[i], step);
        if (lane == 0) coarse[(size_t)MODES * aggregate + i] = total[i];
    }
}

// fine += P coarse
extern "C" __global__ void __launch_bounds__(BLOCK) prolong_nodes(
    unsigned n_aggregates, unsigned n_nodes,
    const unsigned* __restrict__ of,           // [n_nodes], the aggregate
    const double* __restrict__ coordinates,    // [3][n_nodes]
    const double* __restrict__ centers,        // [3][n_aggregates]
    const unsigned char* __restrict__ held,    // [n_nodes]
    const real* __restrict__ coarse,           // [n_aggregates][6]
    real* __restrict__ fine) {                 // [3][n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= n_nodes) return;
    const unsigned aggregate = of[node], mask = held[node];

    double r[3];
    arm(coordinates, n_nodes, node, centers, n_aggregates, aggregate, r);
    const real at[3] = {(real)r[0], (real)r[1], (real)r[2]};

    real motion[MODES], u[3];
#pragma unroll
    for (int i = 0; i < MODES; ++i) motion[i] = coarse[(size_t)MODES * aggregate + i];
    displacement(motion, at, u);

#pragma unroll
    for (int i = 0; i < 3; ++i)
        if (!(mask >> i & 1)) fine[(size_t)i * n_nodes + node] += u[i];
}
