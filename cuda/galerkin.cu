// precision: f64 f32
// element: full modes
// galerkin: the coarse matrices P^T K P and P^T A P.
//
// Source:        a rigid motion of an element has no energy, so only elements that touch several
//                aggregates make blocks between them (common/joint.cuh); the ground of a parent is
//                that of its children
// Mapping:       galerkin_joints: eight lanes per joint, which is a pair of aggregates that
//                elements connect, one per node and Gauss point or strain mode, blocks of 64;
//                galerkin_aggregates: a warp per joint, five parts at a time by 30 lanes, a mode
//                each, blocks of 128; ground_aggregates: a warp per parent, five children at a
//                time, likewise
// Layout:        blocks as common/blocks.cuh has them; ground [n_rows][column][row]; positions and
//                centers as planes [3][n]
// Cost:          galerkin_joints: some 7000 operations per element and joint, 2.8 such pairs per
//                element; galerkin_aggregates: 150 operations per part and mode
// Deterministic: yes; elements, parts and children in fixed order, no entry has two threads
// Requires:      columns ascend; no row has itself among its columns; 29 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#include "common/joint.cuh"
#include "common/blocks.cuh"
#include "common/rows.cuh"

#define WARP_BLOCK 128

// Column j of a block, row i in v[i], and that as a row of the block across the diagonal
template <class T>
__device__ __forceinline__ void write_column(
    int j, const T v[MODES], real* __restrict__ block, real* __restrict__ across) {
#pragma unroll
    for (int i = 0; i < MODES; ++i) block[AT(i, j)] = across[AT(j, i)] = (real)v[i];
}

// From motions of the column about the row's center to those about its own, from which r leads to
// it
__device__ __forceinline__ void move_center(const double r[3], real K[MODES][MODES]) {
#pragma unroll
    for (int b = 0; b < 3; ++b) {
        const int i = (b + 1) % 3, j = (b + 2) % 3;
#pragma unroll
        for (int a = 0; a < MODES; ++a) K[a][3 + b] += K[a][j] * (real)r[i] - K[a][i] * (real)r[j];
    }
}

extern "C" __global__ void __launch_bounds__(JOINT_BLOCK, 24 / sizeof(real)) galerkin_joints(
    VIEW(MeshView) mesh, VIEW(Lame) material, VIEW(AggregatesView) aggregates,
    const unsigned char* __restrict__ held,    // [n_nodes], bit i for component i
    const real* __restrict__ moduli,           // [n_elements]
    unsigned n_joints,
    const unsigned* __restrict__ rows,         // [n_joints], less than the column
    const unsigned* __restrict__ places,       // [n_joints], of the block
    const unsigned* __restrict__ part_offsets, // [n_joints + 1]
    const unsigned* __restrict__ elements,     // of every joint
    const unsigned* __restrict__ row_offsets,  // [n_aggregates + 1]
    const unsigned* __restrict__ columns,      // [n_blocks]
    real* __restrict__ blocks) {               // [n_blocks][36]
    __shared__ real X[24][GROUPS], of_row[GRADIENTS][JOINT_BLOCK], of_column[GRADIENTS][JOINT_BLOCK];

    const unsigned asked = blockIdx.x * GROUPS + threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const unsigned joint = asked < n_joints ? asked : n_joints - 1; // what no warp is without
    const unsigned row = rows[joint], place = places[joint], column = columns[place];
    const unsigned first = part_offsets[joint], count = part_offsets[joint + 1] - first;

    // All groups of a warp go on to its longest joint, as load_element votes over the warp; past
    // its own end a joint adds nothing.
    unsigned most = count;
#pragma unroll
    for (int step = LANES; step < WARP; step *= 2) most = max(most, __shfl_xor_sync(WHOLE_WARP, most, step));

    real K[MODES][MODES] = {};
#pragma unroll 1
    for (unsigned k = 0; k < most; ++k) {
        const unsigned e = elements[first + (k < count ? k : count - 1)];
        const real mu = k < count ? (real)(material.mu / 512 * moduli[e]) : 0;
        const Element element = load_element(mesh, e, mu, row, column, aggregates, held, X);
        add_point(element, (real)material.ratio, X, of_row, of_column, K);
        __syncwarp();
    }

    sum_over_lanes(LANES, K);
    if (asked >= n_joints) return;

    double r[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) r[i] = center(aggregates, i, row) - center(aggregates, i, column);
    move_center(r, K);

    const unsigned across = find(columns, row_offsets[column], row_offsets[column + 1], row);
#pragma unroll
    for (int b = 0; b < MODES; ++b) {
        const real v[MODES] = {K[0][b], K[1][b], K[2][b], K[3][b], K[4][b], K[5][b]};
        if (lane == b) write_column(b, v, blocks + (size_t)SIZE * place, blocks + (size_t)SIZE * across);
    }
}

// Force and moment on a child as those on its parent, added; r the child's place from the parent's
__device__ __forceinline__ void add_force_of_child(
    const double force[MODES], const double r[3], double total[MODES]) {
#pragma unroll
    for (int i = 3; i < MODES; ++i) total[i] += force[i];
    add_force(force, r, total);
}

extern "C" __global__ void __launch_bounds__(WARP_BLOCK) galerkin_aggregates(
    unsigned n_parents, unsigned n_children, unsigned n_joints,
    const unsigned* __restrict__ of,                // [n_children], the parent
    const double* __restrict__ positions,           // [3][n_children]
    const double* __restrict__ centers,             // [3][n_parents]
    const unsigned* __restrict__ rows,              // [n_joints], less than the column
    const unsigned* __restrict__ places,            // [n_joints], of the block
    const unsigned* __restrict__ part_offsets,      // [n_joints + 1]
    const unsigned* __restrict__ parts,             // fine blocks of every joint
    const unsigned* __restrict__ fine_rows,         // [n_fine_blocks]
    const unsigned* __restrict__ fine_columns,      // [n_fine_blocks]
    const real* __restrict__ fine,                  // [n_fine_blocks][36]
    const unsigned* __restrict__ row_offsets,       // [n_parents + 1]
    const unsigned* __restrict__ columns,           // [n_blocks]
    real* __restrict__ blocks) {                    // [n_blocks][36]
    const unsigned joint = blockIdx.x * (WARP_BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP, slot = lane / MODES, mode = lane % MODES;
    if (joint >= n_joints) return; // the whole warp
    const unsigned row = rows[joint], place = places[joint], column = columns[place];

    double own[MODES], total[MODES] = {};
    unit_motion(mode, own);

    if (slot < MODE_SLOTS)
        for (unsigned at = part_offsets[joint] + slot; at < part_offsets[joint + 1]; at += MODE_SLOTS) {
            const unsigned k = parts[at], child = fine_rows[k], other = fine_columns[k];
            double r[3], motion[MODES], force[MODES] = {};
            arm(positions, n_children, other, centers, n_parents, column, r);
            motion_at(own, r, motion);

            const real* __restrict__ block = fine + (size_t)SIZE * k;
#pragma unroll
            for (int i = 0; i < MODES; ++i)
#pragma unroll
                for (int j = 0; j < MODES; ++j) force[i] += (double)block[AT(i, j)] * motion[j];

            arm(positions, n_children, child, centers, n_parents, row, r);
            add_force_of_child(force, r, total);
        }

    sum_slots(total);
    if (slot > 0) return;

    const unsigned across = find(columns, row_offsets[column], row_offsets[column + 1], row);
    write_column(mode, total, blocks + (size_t)SIZE * place, blocks + (size_t)SIZE * across);
}

extern "C" __global__ void __launch_bounds__(WARP_BLOCK) ground_aggregates(
    unsigned n_parents, unsigned n_children,
    const unsigned* __restrict__ offsets, // [n_parents + 1]
    const unsigned* __restrict__ members, // [n_children], children of every parent
    const double* __restrict__ positions, // [3][n_children]
    const double* __restrict__ centers,   // [3][n_parents]
    const real* __restrict__ fine,      // [n_children][6][6]
    real* __restrict__ ground) {        // [n_parents][6][6]
    const unsigned parent = blockIdx.x * (WARP_BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP, slot = lane / MODES, mode = lane % MODES;
    if (parent >= n_parents) return; // the whole warp

    double own[MODES], total[MODES] = {};
    unit_motion(mode, own);

    if (slot < MODE_SLOTS)
        for (unsigned at = offsets[parent] + slot; at < offsets[parent + 1]; at += MODE_SLOTS) {
            const unsigned child = members[at];
            double r[3], motion[MODES], force[MODES] = {};
            arm(positions, n_children, child, centers, n_parents, parent, r);
            motion_at(own, r, motion);

#pragma unroll
            for (int j = 0; j < MODES; ++j)
#pragma unroll
                for (int i = 0; i < MODES; ++i)
                    force[i] += (double)fine[(size_t)SIZE * child + MODES * j + i] * motion[j];

            add_force_of_child(force, r, total);
        }

    sum_slots(total);
    if (slot > 0) return;
#pragma unroll
    for (int i = 0; i < MODES; ++i) ground[(size_t)SIZE * parent + MODES * mode + i] = (real)total[i];
}
