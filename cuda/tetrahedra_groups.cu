// precision: f64
// tetrahedra_groups: the inverses of the blocks of K that belong to groups of nodes of tetrahedra
// of ten nodes, straight or curved.
//
// Source:        K_ab = sum over the points of the rule of four points of (lambda g_a g_b^T + mu
//                g_b g_a^T + mu g_a . g_b I) det J, g = grad N (common/tetrahedron.cuh); its
//                inverse as common/group_inverse.cuh has it
// Mapping:       a warp a group: element after element, lanes over pairs of its nodes in the group,
//                then a lane a row or two of the matrix; blocks of 64
// Layout:        mesh.connectivity is [10][n_elements]; factors as groups.cu reads them
// Cost:          an element of a group 1600 operations, 40 bytes of connectivity and 240 of
//                coordinates; its factor 2/3 n^3 operations for n unknowns, 2 n (n + 1)
//                bytes written
// Deterministic: yes; elements of a group in fixed order
// Requires:      groups of at most MOST nodes
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/group_inverse.cuh"
#include "common/groups.cuh"
#include "common/tetrahedron.cuh"

#define BLOCK 64
#define WARPS (BLOCK / WARP)
// Most nodes of a group
#define MOST 12

// What a warp works on
struct Work {
    SharedMatrix<UNKNOWNS> matrix;
    double gradients[4][TETRAHEDRON_NODES][3]; // det(J) times those of the shape functions at the points
    double weights[4];
    unsigned char held[MOST];
};

// Nodes of an element in a group: local numbers, and their places in the group, four bits each
struct Inside {
    unsigned count;
    unsigned long long locals, places;
};

// Finds the nodes among the points of the group, a lane each; the same in all lanes
__device__ __forceinline__ Inside inside(const unsigned node[TETRAHEDRON_NODES], unsigned point, bool is_point) {
    Inside found = {};
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a) {
        const unsigned lanes = __ballot_sync(WHOLE_WARP, is_point && point == node[a]);
        if (!lanes) continue;
        found.locals |= (unsigned long long)a << 4 * found.count;
        found.places |= (unsigned long long)(__ffs(lanes) - 1) << 4 * found.count;
        ++found.count;
    }
    return found;
}

// Gradients and weights at the four points, by eight lanes each
__device__ __forceinline__ void find_gradients(
    const MeshView& mesh, const unsigned node[TETRAHEDRON_NODES], double stiffness, Work& work) {
    const unsigned lane = threadIdx.x % WARP, q = lane / 8;
    double X[3][TETRAHEDRON_NODES], g[TETRAHEDRON_NODES][3];
    load_positions<TETRAHEDRON_NODES>(mesh, node, X);
    const TetrahedronPoint point = point_of(X, q);
    shape_gradients(point, g);
    if (lane % 8) return;
    work.weights[q] = stiffness * reciprocal(point.det);
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a)
#pragma unroll
        for (int i = 0; i < 3; ++i) work.gradients[q][a][i] = g[a][i];
}

// Adds the blocks of an element between its nodes in the group, a pair a lane
__device__ __forceinline__ void add_blocks(const Inside& nodes, double ratio, Work& work) {
    for (unsigned pair = threadIdx.x % WARP; pair < nodes.count * nodes.count; pair += WARP) {
        const unsigned r = 4 * (pair / nodes.count), c = 4 * (pair % nodes.count);
        const unsigned a = nodes.locals >> r & 15, b = nodes.locals >> c & 15;
        double sums[3][3] = {};
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const double* g = work.gradients[q][a];
            const double* h = work.gradients[q][b];
            const double weight = work.weights[q], both = g[0] * h[0] + g[1] * h[1] + g[2] * h[2];
#pragma unroll
            for (int i = 0; i < 3; ++i)
#pragma unroll
                for (int j = 0; j < 3; ++j)
                    sums[i][j] += weight * (ratio * g[i] * h[j] + g[j] * h[i] + (i == j ? both : 0.0));
        }
        const unsigned row = 3 * (nodes.places >> r & 15), column = 3 * (nodes.places >> c & 15);
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int j = 0; j < 3; ++j) work.matrix.entries[row + i][column + j] += sums[i][j];
    }
}

// Whether unknown i of the group is held
__device__ __forceinline__ bool is_held(const Work& work, unsigned i) {
    return work.held[i / 3] >> i % 3 & 1;
}

// The identity in rows and columns of what is held
__device__ __forceinline__ void hold(unsigned n, Work& work) {
    for (unsigned k = threadIdx.x % WARP; k < n * n; k += WARP) {
        const unsigned i = k / n, j = k % n;
        if (is_held(work, i) || is_held(work, j)) work.matrix.entries[i][j] = i == j ? 1.0 : 0.0;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) tetrahedra_groups(
    VIEW(GroupsView) groups,
    VIEW(MeshView) mesh, VIEW(Lame) material,
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    const double* __restrict__ springs,     // [3][n_nodes], or null
    const double* __restrict__ moduli,      // [n_elements]
    const unsigned* __restrict__ offsets,   // [n_groups + 1]
    const unsigned* __restrict__ elements,  // of the nodes of every group
    float* __restrict__ factors) {          // of all groups
    __shared__ Work works[WARPS];
    const unsigned number = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (number >= groups.n_groups) return; // the whole warp
    Work& work = works[threadIdx.x / WARP];
    const Group group = group_of(groups, number);
    const bool is_point = 3 * lane < group.n;
    const unsigned point = is_point ? groups.points[group.first + lane] : 0;

    clear(work.matrix);
    if (is_point) work.held[lane] = held[point];
    for (unsigned k = offsets[number]; k < offsets[number + 1]; ++k) {
        unsigned node[TETRAHEDRON_NODES];
        load_tetrahedron(mesh, elements[k], node);
        find_gradients(mesh, node, material.mu / 24 * moduli[elements[k]], work);
        const Inside nodes = inside(node, point, is_point);
        __syncwarp();
        add_blocks(nodes, material.ratio, work);
        __syncwarp();
    }

    if (springs && is_point)
        for (int i = 0; i < 3; ++i)
            work.matrix.entries[3 * lane + i][3 * lane + i] += springs[(size_t)i * mesh.n_nodes + point];
    __syncwarp();
    hold(group.n, work);
    write_factor(group.n, work.matrix, factors + group.factor);
}
