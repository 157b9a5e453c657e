// precision: f64
// galerkin: the numbers of the coarse matrices, P^T K P and P^T A P, whenever moduli change.
//
// Source:        a rigid motion of an element has no energy, so only elements that touch several
//                aggregates or a support count; forces as in mf.cu
// Mapping:       galerkin_nodes: one thread a mode of a row, moves an aggregate in that mode and sums
//                the forces of its elements on all aggregates; galerkin_aggregates: one thread a mode
//                of a block, moves the block's column and sums over the fine blocks that make it; 21
//                rows or blocks a block of 126
// Layout:        blocks [n_blocks][column][row]; positions and centres as planes [3][n]
// Cost:          galerkin_nodes: 6 times 1999 operations an aggregate and element of it, some 2.1
//                such pairs an element; galerkin_aggregates: 150 operations a block and mode
// Deterministic: yes; elements, children and blocks in fixed order, no entry has two threads
// Requires:      columns ascend; every row has its diagonal block
// Oracle:        crates/topopt-cuda/tests/multigrid.rs

#include "common/forces.cuh"
#include "common/rigid.cuh"
#include "common/rows.cuh"

#define BLOCK 126
#define SIZE (MODES * MODES)

// The unit motion in a mode
__device__ __forceinline__ void unit_motion(unsigned mode, double motion[MODES]) {
#pragma unroll
    for (int i = 0; i < MODES; ++i) motion[i] = mode == i ? 1.0 : 0.0;
}

// Displacements of an element when the aggregate `row` moves in a mode, the others resting
__device__ __forceinline__ void mode_displacements(
    unsigned mode, unsigned row, const unsigned node[8], const unsigned* __restrict__ of,
    const double* __restrict__ coordinates, unsigned n_nodes,
    const double* __restrict__ centres, unsigned n_aggregates, double U[3][8]) {
    double motion[MODES];
    unit_motion(mode, motion);
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        double r[3], u[3];
        arm(coordinates, n_nodes, node[m], centres, n_aggregates, row, r);
        displacement(motion, r, u);
        const bool moves = of[node[m]] == row;
#pragma unroll
        for (int c = 0; c < 3; ++c) U[c][m] = moves ? u[c] : 0.0;
    }
}

// Adds the forces on an element's nodes to the blocks of `row`, as forces and moments on aggregates
__device__ __forceinline__ void add_forces(
    unsigned row, unsigned mode, unsigned e, const double F[3][8],
    unsigned n_elements, const unsigned* __restrict__ connectivity, const unsigned* __restrict__ of,
    unsigned n_nodes, const double* __restrict__ coordinates,
    unsigned n_aggregates, const double* __restrict__ centres,
    const unsigned* __restrict__ row_offsets, const unsigned* __restrict__ columns,
    double* __restrict__ blocks) {
    unsigned owner[8];
    double total[8][MODES] = {};
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const unsigned node = connectivity[(size_t)NODE(m) * n_elements + e];
        const double f[3] = {F[0][m], F[1][m], F[2][m]};
        double r[3];
        owner[m] = of[node];
        arm(coordinates, n_nodes, node, centres, n_aggregates, owner[m], r);
        add_force(f, r, total[m]);
    }
    const unsigned first = row_offsets[row], last = row_offsets[row + 1];
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        bool is_new = true; // an aggregate is written once, at its first node
#pragma unroll
        for (int k = 0; k < m; ++k) is_new &= owner[k] != owner[m];
#pragma unroll
        for (int k = m + 1; k < 8; ++k)
#pragma unroll
            for (int j = 0; j < MODES; ++j) total[m][j] += owner[k] == owner[m] ? total[k][j] : 0.0;
        if (!is_new) continue;
        double* __restrict__ at = blocks + ((size_t)SIZE * find(columns, first, last, owner[m]) + mode);
        // No other thread adds here: atomic so as not to wait for what was there.
#pragma unroll
        for (int j = 0; j < MODES; ++j) atomicAdd(at + MODES * j, total[m][j]);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) galerkin_nodes(
    unsigned n_aggregates, unsigned n_elements, unsigned n_nodes,
    const unsigned* __restrict__ offsets,      // [n_aggregates + 1]
    const unsigned* __restrict__ elements,     // of every aggregate
    const unsigned* __restrict__ of,           // [n_nodes], the aggregate
    const unsigned* __restrict__ connectivity, // [8][n_elements]
    const double* __restrict__ coordinates,    // [3][n_nodes]
    const double* __restrict__ centres,        // [3][n_aggregates]
    const unsigned char* __restrict__ held,    // [n_nodes], bit i for component i
    double mu, double ratio,                   // Lame's mu at modulus 1, lambda / mu
    const double* __restrict__ moduli,         // [n_elements]
    const unsigned* __restrict__ row_offsets,  // [n_aggregates + 1]
    const unsigned* __restrict__ columns,      // [n_blocks]
    double* __restrict__ blocks) {             // [n_blocks][6][6]
    // The row and the place in its elements, volatile to keep them out of registers.
    __shared__ volatile unsigned rows[BLOCK], places[BLOCK];
    const unsigned mode = threadIdx.x % MODES;
    rows[threadIdx.x] = blockIdx.x * (BLOCK / MODES) + threadIdx.x / MODES;
    if (rows[threadIdx.x] >= n_aggregates) return;
    for (unsigned k = row_offsets[rows[threadIdx.x]]; k < row_offsets[rows[threadIdx.x] + 1]; ++k)
        for (int j = 0; j < MODES; ++j) blocks[(size_t)SIZE * k + MODES * j + mode] = 0.0;
    places[threadIdx.x] = offsets[rows[threadIdx.x]];
#pragma unroll 1
    while (places[threadIdx.x] < offsets[rows[threadIdx.x] + 1]) {
        {
            const unsigned row = rows[threadIdx.x], e = elements[places[threadIdx.x]];
            unsigned node[8], masks = 0;
            load_nodes(connectivity, n_elements, e, node);
#pragma unroll
            for (int m = 0; m < 8; ++m) masks |= (unsigned)held[node[m]] << 3 * m;
            double X[3][8], U[3][8], F[3][8] = {};
            load_geometry(node, coordinates, n_nodes, X);
            mode_displacements(mode, row, node, of, coordinates, n_nodes, centres, n_aggregates, U);
            if (masks) clear_held(masks, U);
#pragma unroll
            for (int c = 0; c < 3; ++c) to_coefficients(U[c]);
            forces(X, U, mu / 512 * moduli[e], ratio, F);
#pragma unroll
            for (int c = 0; c < 3; ++c) to_nodes(F[c]);
            if (masks) clear_held(masks, F);
            add_forces(rows[threadIdx.x], mode, elements[places[threadIdx.x]], F, n_elements, connectivity,
                       of, n_nodes, coordinates, n_aggregates, centres, row_offsets, columns, blocks);
        }
        places[threadIdx.x] = places[threadIdx.x] + 1;
    }
}

// blocks += P^T S P, which is block diagonal
extern "C" __global__ void __launch_bounds__(BLOCK) galerkin_springs(
    unsigned n_aggregates, unsigned n_nodes,
    const unsigned* __restrict__ offsets,     // [n_aggregates + 1]
    const unsigned* __restrict__ members,     // [n_nodes], nodes of every aggregate
    const double* __restrict__ coordinates,   // [3][n_nodes]
    const double* __restrict__ centres,       // [3][n_aggregates]
    const double* __restrict__ springs,       // [3][n_nodes], 0 at held components
    const unsigned* __restrict__ row_offsets, // [n_aggregates + 1]
    const unsigned* __restrict__ columns,     // [n_blocks]
    double* __restrict__ blocks) {            // [n_blocks][6][6]
    const unsigned row = blockIdx.x * (BLOCK / MODES) + threadIdx.x / MODES, mode = threadIdx.x % MODES;
    if (row >= n_aggregates) return;
    double motion[MODES], total[MODES] = {};
    unit_motion(mode, motion);
    for (unsigned k = offsets[row]; k < offsets[row + 1]; ++k) {
        const unsigned node = members[k];
        double r[3], u[3];
        arm(coordinates, n_nodes, node, centres, n_aggregates, row, r);
        displacement(motion, r, u);
#pragma unroll
        for (int c = 0; c < 3; ++c) u[c] *= springs[(size_t)c * n_nodes + node];
        add_force(u, r, total);
    }
    const unsigned place = find(columns, row_offsets[row], row_offsets[row + 1], row);
#pragma unroll
    for (int j = 0; j < MODES; ++j) blocks[(size_t)SIZE * place + MODES * j + mode] += total[j];
}

extern "C" __global__ void __launch_bounds__(BLOCK) galerkin_aggregates(
    unsigned n_parents, unsigned n_blocks, unsigned n_children,
    const unsigned* __restrict__ of,                // [n_children], the parent
    const double* __restrict__ positions,           // [3][n_children]
    const double* __restrict__ centres,             // [3][n_parents]
    const unsigned* __restrict__ offsets,           // [n_blocks + 1]
    const unsigned* __restrict__ fine_blocks,       // [n_fine_blocks], those that make a block
    const unsigned* __restrict__ fine_rows,         // [n_fine_blocks], of fine_blocks
    const unsigned* __restrict__ fine_columns,      // [n_fine_blocks], of the matrix
    const double* __restrict__ fine,                // [n_fine_blocks][6][6]
    double* __restrict__ blocks) {                  // [n_blocks][6][6]
    const unsigned place = blockIdx.x * (BLOCK / MODES) + threadIdx.x / MODES, mode = threadIdx.x % MODES;
    if (place >= n_blocks) return;
    double unit[MODES], total[MODES] = {};
    unit_motion(mode, unit);
    for (unsigned at = offsets[place]; at < offsets[place + 1]; ++at) {
        const unsigned k = fine_blocks[at], row = fine_rows[at], column = fine_columns[k];
        double r[3], motion[MODES], force[MODES] = {};
        arm(positions, n_children, column, centres, n_parents, of[column], r);
        displacement(unit, r, motion);
#pragma unroll
        for (int i = 3; i < MODES; ++i) motion[i] = unit[i];
        const double* __restrict__ block = fine + (size_t)SIZE * k;
#pragma unroll
        for (int j = 0; j < MODES; ++j)
#pragma unroll
            for (int i = 0; i < MODES; ++i) force[i] += block[MODES * j + i] * motion[j];
        arm(positions, n_children, row, centres, n_parents, of[row], r);
#pragma unroll
        for (int i = 3; i < MODES; ++i) total[i] += force[i];
        add_force(force, r, total);
    }
#pragma unroll
    for (int i = 0; i < MODES; ++i) blocks[(size_t)SIZE * place + MODES * mode + i] = total[i];
}
