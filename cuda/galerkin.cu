// precision: f64 f32
// galerkin: the coarse matrices P^T K P and P^T A P between different aggregates, and the ground: the
// forces on an aggregate when all move rigidly with it.
//
// Source:        a rigid motion of an element has no energy, so only elements that touch several
//                aggregates count, and for the ground those that touch a support. A block is
//                sum over the points of the 2x2x2 Gauss rule of H_a : C : H_b det J, H_a the gradients
//                of the six motions of the nodes in a, of which sums of grad N and of grad N x^T
//                over the nodes are all that is needed
// Mapping:       galerkin_joints: one thread a joint, which is a pair of aggregates that elements
//                connect, blocks of 64; galerkin_supports: a warp a row, blocks of 64;
//                galerkin_springs, ground_aggregates: one thread a mode of a row, blocks of 126;
//                galerkin_aggregates: a warp a joint, five parts at a time by 30 lanes, a mode each,
//                blocks of 128
// Layout:        blocks as common/packed.cuh has them; ground [n_rows][column][row]; positions and
//                centres as planes [3][n]
// Cost:          galerkin_joints: some 8000 operations an element and joint, 2.8 such pairs an element;
//                galerkin_aggregates: 150 operations a part and mode
// Deterministic: yes; elements, parts and children in fixed order, no entry has two threads
// Requires:      columns ascend; no row has itself among its columns; ground = 0 beforehand for
//                galerkin_supports and galerkin_springs; shared memory of 39 kB
// Oracle:        crates/topopt-cuda/tests/multigrid.rs

typedef real result; // of double precision before it is packed
#undef real
#define real double

#include "common/trilinear.cuh"
#include "common/gradient.cuh"
#include "common/packed.cuh"
#include "common/rigid.cuh"
#include "common/rows.cuh"

#define BLOCK 64
#define MODE_BLOCK 126
#define WARP_BLOCK 128
#define WARP 32
#define WHOLE_WARP 0xffffffffu
#define SLOTS 5

typedef Packed<result>::Number Number;

// Of the nodes of an element in an aggregate, at a point, in a column of shared memory a thread: places
// of the sums of dN/dx_c over the nodes free in i, and of the same times x_(i + 1 + k) modulo 3
#define T(i, c) (3 * (i) + (c))
#define W(i, k, c) (9 + 6 * (i) + 3 * (k) + (c))
#define GRADIENTS 27
typedef double (*Shared)[BLOCK];
typedef const volatile double (*Positions)[BLOCK]; // or the compiler would keep them in registers

// det J times the gradient of the node at position m, at the point (s_x, s_y, s_z)
__device__ __forceinline__ void gradient_at(int m, const double s[3], const double C[3][3], double g[3]) {
    const double x = m & 1 ? 1.0 : -1.0, y = m & 2 ? 1.0 : -1.0, z = m & 4 ? 1.0 : -1.0;
    const double along_x = 1.0 + x * s[0], along_y = 1.0 + y * s[1], along_z = 1.0 + z * s[2];
    const double N[3] = {x * along_y * along_z, y * along_x * along_z, z * along_x * along_y};
#pragma unroll
    for (int c = 0; c < 3; ++c) g[c] = N[0] * C[0][c] + N[1] * C[1][c] + N[2] * C[2][c];
}

// `nodes` has bit m for the node at position m; `masks` bit 3 m + i if it is held in i
__device__ __forceinline__ void sum_gradients(
    unsigned nodes, unsigned masks, Positions X, const double s[3], const double C[3][3], Shared sums) {
    double t[3] = {}, w[3][3] = {};
#pragma unroll 1
    for (int m = 0; m < 8; ++m) {
        if (!(nodes >> m & 1)) continue;
        double g[3];
        gradient_at(m, s, C, g);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            t[c] += g[c];
#pragma unroll
            for (int k = 0; k < 3; ++k) w[k][c] += X[8 * k + m][threadIdx.x] * g[c];
        }
    }
    // Of held nodes one by one, so that what is held throughout has sums of zero and not of rounding.
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            sums[T(i, c)][threadIdx.x] = masks ? 0.0 : t[c];
#pragma unroll
            for (int k = 0; k < 2; ++k) sums[W(i, k, c)][threadIdx.x] = masks ? 0.0 : w[(i + 1 + k) % 3][c];
        }
    if (!masks) return;
#pragma unroll 1
    for (int m = 0; m < 8; ++m) {
        if (!(nodes >> m & 1)) continue;
        double g[3];
        gradient_at(m, s, C, g);
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            if (masks >> (3 * m + i) & 1) continue;
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                sums[T(i, c)][threadIdx.x] += g[c];
#pragma unroll
                for (int k = 0; k < 2; ++k)
                    sums[W(i, k, c)][threadIdx.x] += X[8 * ((i + 1 + k) % 3) + m][threadIdx.x] * g[c];
            }
        }
    }
}

// The stress of a mode, times det J: it moves component i along t[i], or i and j along -w[i][0] and w[j][1]
__device__ __forceinline__ void stress_of_mode(
    int mode, const Shared sums, double mu, double ratio, double stress[3][3]) {
    double H[3][3] = {};
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        if (mode < 3) {
            H[mode][c] = sums[T(mode, c)][threadIdx.x];
        } else {
            const int i = (mode + 1) % 3, j = (mode + 2) % 3;
            H[i][c] = -sums[W(i, 0, c)][threadIdx.x];
            H[j][c] = sums[W(j, 1, c)][threadIdx.x];
        }
    }
    const double pressure = ratio * (H[0][0] + H[1][1] + H[2][2]);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) stress[i][j] = mu * (H[i][j] + H[j][i] + (i == j ? pressure : 0.0));
}

// K[a][b] += the work of the stress of each mode of `rows` in each mode of `columns`
__device__ __forceinline__ void add_work(
    const Shared rows, const Shared columns, double mu, double ratio, double K[MODES][MODES]) {
#pragma unroll
    for (int a = 0; a < MODES; ++a) {
        double s[3][3];
        stress_of_mode(a, rows, mu, ratio, s);
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                K[a][i] += s[i][c] * columns[T(i, c)][threadIdx.x];
                K[a][3 + (i + 2) % 3] -= s[i][c] * columns[W(i, 0, c)][threadIdx.x];
                K[a][3 + (i + 1) % 3] += s[i][c] * columns[W(i, 1, c)][threadIdx.x];
            }
    }
}

// What all threads know of the mesh
#define MESH_PARAMETERS                                                                       \
    unsigned n_aggregates, unsigned n_elements, unsigned n_nodes,                             \
    const unsigned* __restrict__ of,           /* [n_nodes], the aggregate */                 \
    const unsigned* __restrict__ connectivity, /* [8][n_elements] */                          \
    const double* __restrict__ coordinates,    /* [3][n_nodes] */                             \
    const double* __restrict__ centres,        /* [3][n_aggregates] */                        \
    const unsigned char* __restrict__ held,    /* [n_nodes], bit i for component i */         \
    double mu, double ratio,                   /* Lame's mu at modulus 1, lambda / mu */      \
    const double* __restrict__ moduli          /* [n_elements] */
#define MESH n_aggregates, n_elements, n_nodes, of, connectivity, coordinates, centres, held, mu, ratio, moduli

// K += what element e couples of the motions of aggregate `row` and of `column`, or of all its nodes
// where they are the same, all about the centre of `row`
__device__ __forceinline__ void add_element(
    unsigned e, unsigned row, unsigned column, MESH_PARAMETERS, volatile double (*X)[BLOCK], Shared rows, Shared columns,
    double K[MODES][MODES]) {
    unsigned in_row = 0, in_column = 0, masks = 0;
    {
        unsigned node[8];
        load_nodes(connectivity, n_elements, e, node);
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            const unsigned owner = of[node[m]];
            double r[3];
            arm(coordinates, n_nodes, node[m], centres, n_aggregates, row, r);
            in_row |= (owner == row ? 1u : 0u) << m;
            in_column |= (row == column || owner == column ? 1u : 0u) << m;
            masks |= (unsigned)held[node[m]] << 3 * m;
#pragma unroll
            for (int i = 0; i < 3; ++i) X[8 * i + m][threadIdx.x] = r[i];
        }
    }
    const double scale = mu / 512 * moduli[e];
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const double s[3] = {q & 1 ? GAUSS : -GAUSS, q & 2 ? GAUSS : -GAUSS, q & 4 ? GAUSS : -GAUSS};
        const double sides[3][2] = {SIDES(s[0]), SIDES(s[1]), SIDES(s[2])};
        double J[3][3] = {}, C[3][3];
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            double N[3];
            reference_gradient(m, sides, N);
#pragma unroll
            for (int i = 0; i < 3; ++i)
#pragma unroll
                for (int k = 0; k < 3; ++k) J[i][k] += X[8 * i + m][threadIdx.x] * N[k];
        }
        const double weight = scale * reciprocal(cofactors(J, C));
        sum_gradients(in_row, masks, X, s, C, rows);
        sum_gradients(in_column, masks, X, s, C, columns);
        add_work(rows, columns, weight, ratio, K);
    }
}

// Column j of a block, row i in v[i], and that as a row of the block across the diagonal
__device__ __forceinline__ void pack_column(
    int j, const double v[MODES], double factor, double length,
    Number* __restrict__ block, Number* __restrict__ across) {
#pragma unroll
    for (int i = 0; i < MODES; ++i) {
        const Number number = Packed<result>::pack(factor * v[i] / (unit(i, length) * unit(j, length)));
        block[AT(i, j)] = number;
        across[AT(j, i)] = number;
    }
}

// The largest entry of a column, in units of `length`
__device__ __forceinline__ double largest_of(int j, const double v[MODES], double length) {
    double largest = 0.0;
#pragma unroll
    for (int i = 0; i < MODES; ++i)
        largest = fmax(largest, fabs(v[i]) / (unit(i, length) * unit(j, length)));
    return largest;
}

extern "C" __global__ void __launch_bounds__(BLOCK) galerkin_joints(
    MESH_PARAMETERS,
    unsigned n_joints,
    const unsigned* __restrict__ rows,         // [n_joints], less than the column
    const unsigned* __restrict__ places,       // [n_joints], of the block
    const unsigned* __restrict__ part_offsets, // [n_joints + 1]
    const unsigned* __restrict__ elements,     // of every joint
    const unsigned* __restrict__ row_offsets,  // [n_aggregates + 1]
    const unsigned* __restrict__ columns,      // [n_blocks]
    double length,
    Number* __restrict__ blocks,               // [n_blocks][36]
    result* __restrict__ scales) {             // [n_blocks]
    __shared__ volatile double X[24][BLOCK];
    __shared__ double of_row[GRADIENTS][BLOCK], of_column[GRADIENTS][BLOCK];
    const unsigned joint = blockIdx.x * BLOCK + threadIdx.x;
    if (joint >= n_joints) return;
    const unsigned row = rows[joint], place = places[joint], column = columns[place];
    double K[MODES][MODES] = {};
#pragma unroll 1
    for (unsigned k = part_offsets[joint]; k < part_offsets[joint + 1]; ++k)
        add_element(elements[k], row, column, MESH, X, of_row, of_column, K);
    // From motions of the column about the row's centre to those about its own.
    double r[3];
    arm(centres, n_aggregates, row, centres, n_aggregates, column, r);
    double largest = 0.0;
#pragma unroll
    for (int b = 0; b < 3; ++b) {
        const int i = (b + 1) % 3, j = (b + 2) % 3;
#pragma unroll
        for (int a = 0; a < MODES; ++a) K[a][3 + b] += K[a][j] * r[i] - K[a][i] * r[j];
    }
#pragma unroll
    for (int b = 0; b < MODES; ++b) {
        const double v[MODES] = {K[0][b], K[1][b], K[2][b], K[3][b], K[4][b], K[5][b]};
        largest = fmax(largest, largest_of(b, v, length));
    }
    const unsigned across = find(columns, row_offsets[column], row_offsets[column + 1], row);
    const result scale = Packed<result>::scale(largest);
    scales[place] = scales[across] = scale;
#pragma unroll
    for (int b = 0; b < MODES; ++b) {
        const double v[MODES] = {K[0][b], K[1][b], K[2][b], K[3][b], K[4][b], K[5][b]};
        pack_column(b, v, scale > 0 ? 1.0 / scale : 0.0, length, blocks + (size_t)SIZE * place,
                    blocks + (size_t)SIZE * across);
    }
}

// ground of the rows that have elements with held nodes
extern "C" __global__ void __launch_bounds__(BLOCK) galerkin_supports(
    MESH_PARAMETERS,
    unsigned n_supported,
    const unsigned* __restrict__ rows,     // [n_supported]
    const unsigned* __restrict__ offsets,  // [n_supported + 1]
    const unsigned* __restrict__ elements, // of every such row
    result* __restrict__ ground) {         // [n_aggregates][6][6]
    __shared__ volatile double X[24][BLOCK];
    __shared__ double of_row[GRADIENTS][BLOCK], of_column[GRADIENTS][BLOCK];
    const unsigned supported = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (supported >= n_supported) return; // the whole warp
    const unsigned row = rows[supported];
    double K[MODES][MODES] = {};
#pragma unroll 1
    for (unsigned k = offsets[supported] + lane; k < offsets[supported + 1]; k += WARP)
        add_element(elements[k], row, row, MESH, X, of_row, of_column, K);
#pragma unroll
    for (int a = 0; a < MODES; ++a)
#pragma unroll
        for (int b = 0; b < MODES; ++b) {
            for (int step = WARP / 2; step > 0; step /= 2)
                K[a][b] += __shfl_down_sync(WHOLE_WARP, K[a][b], step);
            if (lane == 0) ground[(size_t)SIZE * row + MODES * b + a] = (result)K[a][b];
        }
}

// ground += P^T S P
extern "C" __global__ void __launch_bounds__(MODE_BLOCK) galerkin_springs(
    unsigned n_aggregates, unsigned n_nodes,
    const unsigned* __restrict__ offsets,   // [n_aggregates + 1]
    const unsigned* __restrict__ members,   // [n_nodes], nodes of every aggregate
    const double* __restrict__ coordinates, // [3][n_nodes]
    const double* __restrict__ centres,     // [3][n_aggregates]
    const double* __restrict__ springs,     // [3][n_nodes], 0 at held components
    result* __restrict__ ground) {          // [n_aggregates][6][6]
    const unsigned t = blockIdx.x * MODE_BLOCK + threadIdx.x, row = t / MODES, mode = t % MODES;
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
#pragma unroll
    for (int i = 0; i < MODES; ++i) ground[(size_t)MODES * t + i] += (result)total[i];
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
    const double* __restrict__ centres,             // [3][n_parents]
    const unsigned* __restrict__ rows,              // [n_joints], less than the column
    const unsigned* __restrict__ places,            // [n_joints], of the block
    const unsigned* __restrict__ part_offsets,      // [n_joints + 1]
    const unsigned* __restrict__ parts,             // fine blocks of every joint
    const unsigned* __restrict__ fine_rows,         // [n_fine_blocks]
    const unsigned* __restrict__ fine_columns,      // [n_fine_blocks]
    double fine_length,
    const Number* __restrict__ fine,                // [n_fine_blocks][36]
    const result* __restrict__ fine_scales,         // [n_fine_blocks]
    const unsigned* __restrict__ row_offsets,       // [n_parents + 1]
    const unsigned* __restrict__ columns,           // [n_blocks]
    double length,
    Number* __restrict__ blocks,                    // [n_blocks][36]
    result* __restrict__ scales) {                  // [n_blocks]
    const unsigned joint = blockIdx.x * (WARP_BLOCK / WARP) + threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP, slot = lane / MODES, mode = lane % MODES;
    if (joint >= n_joints) return; // the whole warp
    const unsigned row = rows[joint], place = places[joint], column = columns[place];
    double own[MODES], total[MODES] = {};
    unit_motion(mode, own);
    if (slot < SLOTS)
        for (unsigned at = part_offsets[joint] + slot; at < part_offsets[joint + 1]; at += SLOTS) {
            const unsigned k = parts[at], child = fine_rows[k], other = fine_columns[k];
            double r[3], motion[MODES], force[MODES];
            arm(positions, n_children, other, centres, n_parents, column, r);
            motion_at(own, r, motion);
            const Number* __restrict__ block = fine + (size_t)SIZE * k;
#pragma unroll
            for (int i = 0; i < MODES; ++i) {
                double sum = 0.0;
#pragma unroll
                for (int j = 0; j < MODES; ++j)
                    sum += (double)block[AT(i, j)] * (unit(j, fine_length) * motion[j]);
                force[i] = unit(i, fine_length) * (double)fine_scales[k] * sum;
            }
            arm(positions, n_children, child, centres, n_parents, row, r);
            add_force_of_child(force, r, total);
        }
    double largest = 0.0;
#pragma unroll
    for (int i = 0; i < MODES; ++i) {
        const double sum = total[i];
#pragma unroll
        for (int s = 1; s < SLOTS; ++s) total[i] += __shfl_down_sync(WHOLE_WARP, sum, MODES * s);
    }
    const double of_column = largest_of(mode, total, length);
#pragma unroll
    for (int j = 0; j < MODES; ++j) largest = fmax(largest, __shfl_sync(WHOLE_WARP, of_column, j));
    if (slot > 0) return;
    const unsigned across = find(columns, row_offsets[column], row_offsets[column + 1], row);
    const result scale = Packed<result>::scale(largest);
    if (lane == 0) scales[place] = scales[across] = scale;
    pack_column(mode, total, scale > 0 ? 1.0 / scale : 0.0, length, blocks + (size_t)SIZE * place,
                blocks + (size_t)SIZE * across);
}

extern "C" __global__ void __launch_bounds__(MODE_BLOCK) ground_aggregates(
    unsigned n_parents, unsigned n_children,
    const unsigned* __restrict__ offsets, // [n_parents + 1]
    const unsigned* __restrict__ members, // [n_children], children of every parent
    const double* __restrict__ positions, // [3][n_children]
    const double* __restrict__ centres,   // [3][n_parents]
    const result* __restrict__ fine,      // [n_children][6][6]
    result* __restrict__ ground) {        // [n_parents][6][6]
    const unsigned t = blockIdx.x * MODE_BLOCK + threadIdx.x, parent = t / MODES, mode = t % MODES;
    if (parent >= n_parents) return;
    double own[MODES], total[MODES] = {};
    unit_motion(mode, own);
    for (unsigned at = offsets[parent]; at < offsets[parent + 1]; ++at) {
        const unsigned child = members[at];
        double r[3], motion[MODES], force[MODES] = {};
        arm(positions, n_children, child, centres, n_parents, parent, r);
        motion_at(own, r, motion);
#pragma unroll
        for (int j = 0; j < MODES; ++j)
#pragma unroll
            for (int i = 0; i < MODES; ++i)
                force[i] += (double)fine[(size_t)SIZE * child + MODES * j + i] * motion[j];
        add_force_of_child(force, r, total);
    }
#pragma unroll
    for (int i = 0; i < MODES; ++i) ground[(size_t)MODES * t + i] = (result)total[i];
}
