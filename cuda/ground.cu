// precision: f64 f32
// element: full modes
// ground: the forces on an aggregate of nodes when everything moves rigidly with it: of supports,
// springs.
//
// Source:        common/joint.cuh, in double precision: far less is left than is summed up
// Mapping:       galerkin_supports: a warp per row, four elements at a time by eight lanes,
//                blocks of 64;
//                galerkin_springs: one thread per mode of a row, blocks of 126
// Layout:        ground [n_rows][column][row]; positions and centers as planes [3][n]
// Cost:          as galerkin_joints, per element that touches a support and aggregate
// Deterministic: yes; sums in fixed order and by a fixed tree
// Requires:      ground = 0 beforehand; galerkin_springs after galerkin_supports; 29 kB of shared
//                memory
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

typedef real result;
#undef real
#define real double

#include "common/joint.cuh"

#define MODE_BLOCK 126
#define SIZE (MODES * MODES)

// ground of the rows that have elements with held nodes
extern "C" __global__ void __launch_bounds__(JOINT_BLOCK) galerkin_supports(
    VIEW(MeshView) mesh, VIEW(Lame) material, VIEW(AggregatesView) aggregates,
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    const result* __restrict__ moduli,      // [n_elements]
    unsigned n_supported,
    const unsigned* __restrict__ rows,      // [n_supported]
    const unsigned* __restrict__ offsets,   // [n_supported + 1]
    const unsigned* __restrict__ elements,  // of every such row
    result* __restrict__ ground) {          // [n_aggregates][6][6]
    __shared__ double X[24][GROUPS], of_row[GRADIENTS][JOINT_BLOCK], of_column[GRADIENTS][JOINT_BLOCK];
    const unsigned supported = blockIdx.x * (JOINT_BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (supported >= n_supported) return; // the whole warp
    const unsigned row = rows[supported], end = offsets[supported + 1];

    double K[MODES][MODES] = {};
#pragma unroll 1
    for (unsigned first = offsets[supported]; first < end; first += WARP / LANES) {
        const unsigned k = first + lane / LANES;
        const unsigned e = elements[k < end ? k : end - 1];
        const double mu = k < end ? material.mu / 512 * moduli[e] : 0;

        const Element element = load_element(mesh, e, mu, row, row, aggregates, held, X);
        add_point(element, material.ratio, X, of_row, of_column, K);
        __syncwarp();
    }

    sum_over_lanes(WARP, K);

#pragma unroll
    for (int a = 0; a < MODES; ++a)
#pragma unroll
        for (int b = 0; b < MODES; ++b)
            if (lane == 0) ground[(size_t)SIZE * row + MODES * b + a] = (result)K[a][b];
}

// ground += P^T S P
extern "C" __global__ void __launch_bounds__(MODE_BLOCK) galerkin_springs(
    unsigned n_aggregates, unsigned n_nodes,
    const unsigned* __restrict__ offsets,   // [n_aggregates + 1]
    const unsigned* __restrict__ members,   // [n_nodes], nodes of every aggregate
    const double* __restrict__ coordinates, // [3][n_nodes]
    const double* __restrict__ centers,     // [3][n_aggregates]
    const double* __restrict__ springs,     // [3][n_nodes], 0 at held components
    result* __restrict__ ground) {          // [n_aggregates][6][6]
    const unsigned t = blockIdx.x * MODE_BLOCK + threadIdx.x, row = t / MODES, mode = t % MODES;
    if (row >= n_aggregates) return;

    double motion[MODES], total[MODES] = {};
    unit_motion(mode, motion);
    for (unsigned k = offsets[row]; k < offsets[row + 1]; ++k) {
        const unsigned node = members[k];
        double r[3], u[3];
        arm(coordinates, n_nodes, node, centers, n_aggregates, row, r);
        displacement(motion, r, u);

#pragma unroll
        for (int c = 0; c < 3; ++c) u[c] *= springs[(size_t)c * n_nodes + node];
        add_force(u, r, total);
    }

#pragma unroll
    for (int i = 0; i < MODES; ++i) ground[(size_t)MODES * t + i] += (result)total[i];
}
