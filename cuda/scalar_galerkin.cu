// precision: f64 f32
// element: full modes
// scalar_galerkin: the coarse matrices P^T A P of one unknown per node, whose aggregates move by a constant.
//
// Source:        a constant has no gradient, so only elements that touch several aggregates, or a held
//                node, conduct between them: by the integral of the product of the gradients of what is 1
//                on the nodes of one and 0 elsewhere, by the Gauss rule or by modes of the gradient
//                (common/conduction_modes.cuh); the ground of a parent is that of its children
// Mapping:       conduction_joints, scalar_joints: eight lanes per joint, which is a pair of aggregates that
//                elements or entries connect, lanes over these; conduction_ground, complete1: a warp per
//                row, lanes over its elements or entries; blocks of 128
// Layout:        a row's entries off the diagonal by increasing columns; ground [n_rows], what a row makes
//                where all is 1
// Cost:          some 1600 operations per element and joint, by modes 440, 2.8 such pairs per
//                element; a value read per part, two written per joint
// Deterministic: yes; parts in fixed order, sums by a fixed tree, no entry has two threads
// Requires:      columns ascend; no row has itself among its columns; the aggregate of a held node is NONE
// Oracle:        crates/topopt-cuda/tests/device/scalar_multigrid.rs

#define BLOCK 128

#include "common/aggregates1.cuh"
#include "common/conduction.cuh"
#include "common/rows.cuh"

// Lanes that share a joint
#define LANES 8

// The coefficients of the field that is 1 on the nodes of `aggregate` and 0 elsewhere
__device__ __forceinline__ void indicator(const unsigned owner[8], unsigned aggregate, real U[8]) {
    real values[8];
#pragma unroll
    for (int m = 0; m < 8; ++m) values[m] = owner[m] == aggregate;
    to_coefficients(values, U);
}

// What element e conducts between two aggregates, not positive as a rule
__device__ __forceinline__ real conduction_between(
    const MeshView& mesh, const unsigned* __restrict__ of, const real* __restrict__ stretches,
    const real* __restrict__ conductivities, unsigned e, unsigned row, unsigned column) {
    unsigned node[8], owner[8];
    real X[3][8], V[8], U[8];
    load_stretched(mesh, e, stretches, node, X);
#pragma unroll
    for (int m = 0; m < 8; ++m) owner[m] = of[node[m]];
    indicator(owner, row, V);
    indicator(owner, column, U);
    return conductivities[e] * conduction_of(X, V, U);
}

// Writes an entry and the one across the diagonal
__device__ __forceinline__ void write_joint(
    real value, unsigned row, unsigned place, const unsigned* __restrict__ row_offsets,
    const unsigned* __restrict__ columns, real* __restrict__ entries) {
    const unsigned column = columns[place];
    entries[place] = value;
    entries[find(columns, row_offsets[column], row_offsets[column + 1], row)] = value;
}

// The entries off the diagonal of the first coarse matrix
extern "C" __global__ void __launch_bounds__(BLOCK) conduction_joints(
    VIEW(MeshView) mesh,
    const unsigned* __restrict__ of,           // [n_nodes], the aggregate or NONE
    const real* __restrict__ stretches,        // [3][n_elements], or null
    const real* __restrict__ conductivities,   // [n_elements]
    unsigned n_joints,
    const unsigned* __restrict__ rows,         // [n_joints], less than the column
    const unsigned* __restrict__ places,       // [n_joints], of the entry
    const unsigned* __restrict__ part_offsets, // [n_joints + 1]
    const unsigned* __restrict__ elements,     // of every joint
    const unsigned* __restrict__ row_offsets,  // [n_rows + 1]
    const unsigned* __restrict__ columns,      // [n_entries]
    real* __restrict__ entries) {              // [n_entries]
    const unsigned joint = (blockIdx.x * BLOCK + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    real sum = 0;
    if (joint < n_joints) {
        const unsigned row = rows[joint], column = columns[places[joint]];
#pragma unroll 1
        for (unsigned k = part_offsets[joint] + lane; k < part_offsets[joint + 1]; k += LANES)
            sum += conduction_between(mesh, of, stretches, conductivities, elements[k], row, column);
    }
    sum = lane_sum<LANES>(sum);
    if (joint < n_joints && lane == 0)
        write_joint(sum, rows[joint], places[joint], row_offsets, columns, entries);
}

// ground += what rows lose to held nodes
extern "C" __global__ void __launch_bounds__(BLOCK) conduction_ground(
    VIEW(MeshView) mesh,
    const unsigned* __restrict__ of,         // [n_nodes], the aggregate or NONE
    const real* __restrict__ stretches,      // [3][n_elements], or null
    const real* __restrict__ conductivities, // [n_elements]
    unsigned n_supported,
    const unsigned* __restrict__ rows,       // [n_supported]
    const unsigned* __restrict__ offsets,    // [n_supported + 1]
    const unsigned* __restrict__ elements,   // of every such row
    real* __restrict__ ground) {             // [n_rows]
    const unsigned at = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (at >= n_supported) return; // the whole warp
    real sum = 0;
#pragma unroll 1
    for (unsigned k = offsets[at] + lane; k < offsets[at + 1]; k += WARP)
        sum += conduction_between(mesh, of, stretches, conductivities, elements[k], rows[at], NONE);
    sum = lane_sum<WARP>(sum);
    if (lane == 0) ground[rows[at]] -= sum;
}

// The entries off the diagonal of P^T A P
extern "C" __global__ void __launch_bounds__(BLOCK) scalar_joints(
    unsigned n_joints,
    const unsigned* __restrict__ rows,         // [n_joints], less than the column
    const unsigned* __restrict__ places,       // [n_joints], of the entry
    const unsigned* __restrict__ part_offsets, // [n_joints + 1]
    const unsigned* __restrict__ parts,        // fine entries of every joint
    const real* __restrict__ fine,
    const unsigned* __restrict__ row_offsets,  // [n_rows + 1]
    const unsigned* __restrict__ columns,      // [n_entries]
    real* __restrict__ entries) {              // [n_entries]
    const unsigned joint = (blockIdx.x * BLOCK + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    real sum = 0;
    if (joint < n_joints)
        for (unsigned k = part_offsets[joint] + lane; k < part_offsets[joint + 1]; k += LANES)
            sum += fine[parts[k]];
    sum = lane_sum<LANES>(sum);
    if (joint < n_joints && lane == 0)
        write_joint(sum, rows[joint], places[joint], row_offsets, columns, entries);
}

// The diagonal of a matrix, and its inverse, 0 where it is not positive
extern "C" __global__ void __launch_bounds__(BLOCK) complete1(
    unsigned n_rows,
    const unsigned* __restrict__ row_offsets, // [n_rows + 1]
    const real* __restrict__ entries,         // [n_entries], off the diagonal
    const real* __restrict__ ground,          // [n_rows]
    double* __restrict__ diagonal,            // [n_rows]
    real* __restrict__ inverse) {             // [n_rows]
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= n_rows) return; // the whole warp
    double sum = 0.0;
    for (unsigned k = row_offsets[row] + lane; k < row_offsets[row + 1]; k += WARP) sum -= (double)entries[k];
    sum = lane_sum<WARP>(sum);
    if (lane != 0) return;
    sum += (double)ground[row];
    diagonal[row] = sum;
    inverse[row] = sum > 0.0 ? (real)(1.0 / sum) : (real)0;
}
