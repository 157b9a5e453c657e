// precision: f64 f32
// tetrahedra: K u of tetrahedra of ten nodes with straight edges, curved_tetrahedra: of the others;
// nothing stored, geometry from the coordinates.
//
// Source:        the rule of four points on quadratic fields by sums over edges,
//                common/tetrahedron.cuh; crates/topopt-fem/src/tetrahedra
// Mapping:       one thread per element, blocks of 128; products ending in _dot leave what a block
//                adds to x . y
// Layout:        vectors as planes [3][n_nodes]; mesh.connectivity is [10][n_elements]
// Cost:          tetrahedra: 923 operations per element (651 instructions, 272 of them fused);
//                connectivity (40 bytes) and a modulus read per element, coordinates of the
//                vertices (24 bytes) and x read and y written per node; curved_tetrahedra: 2300
//                operations
// Deterministic: where no two elements of a launch share a node, as with one launch per color; in
//                one launch of all elements the order of additions at a node is not fixed
// Requires:      y = (1 - P) x beforehand (supports.cu); for a dot product: x is zero at held
//                components
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra.rs

#define BLOCK 128

#include "common/reduce.cuh"
#include "common/tetrahedron.cuh"

__device__ __forceinline__ bool bit(const unsigned* __restrict__ bits, unsigned e) {
    return bits[e / 32] >> e % 32 & 1;
}

// Adds forces of component c to y, except where it is held
__device__ __forceinline__ void add_forces(
    const unsigned node[TETRAHEDRON_NODES], const real f[TETRAHEDRON_NODES], int c, unsigned n_nodes,
    const unsigned char* __restrict__ held, // [n_nodes], or null where none is
    real* __restrict__ y) {                 // [3][n_nodes]
    real* __restrict__ plane = y + (size_t)c * n_nodes;
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a)
        if (!held || !(held[node[a]] >> c & 1)) atomicAdd(plane + node[a], f[a]);
}

// Adds the product of the thread's element to y if it is straight; returns its part of x . y
__device__ __forceinline__ double add_straight(
    MeshView mesh, Part part,
    const unsigned* __restrict__ curved,      // a bit per element, or null if none is
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    Lame material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count || curved && bit(curved, e)) return 0.0;
    const unsigned char* own = bit(at_supports, e) ? held : 0;

    unsigned node[TETRAHEDRON_NODES];
    load_tetrahedron(mesh, e, node);
    __shared__ volatile unsigned waiting[TETRAHEDRON_NODES][BLOCK]; // the nodes, until forces are added
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a) waiting[a][threadIdx.x] = node[a];
    real X[3][TETRAHEDRON_NODES], U[3][TETRAHEDRON_NODES];
    load_positions<4>(mesh, node, X);
    real C[3][3];
    const real edges[3][3] = {
        {X[0][1], X[0][2], X[0][3]}, {X[1][1], X[1][2], X[1][3]}, {X[2][1], X[2][2], X[2][3]}};
    const real det = cofactors(edges, C);

    load_free(node, x, mesh.n_nodes, own, U);
    // A point has a 24th of det(J); strains of the field and of what forces work on carry det(J)
    // each.
    const real weight = (real)(material.mu / 24) * moduli[e] * reciprocal(det);
    real stresses[4][6];
    const double sum = straight_stresses(U, C, weight, (real)material.ratio, stresses);

#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real f[TETRAHEDRON_NODES];
        straight_forces(stresses, C, c, f);
#pragma unroll
        for (int a = 0; a < TETRAHEDRON_NODES; ++a) node[a] = waiting[a][threadIdx.x];
        add_forces(node, f, c, mesh.n_nodes, own, y);
    }
    return sum;
}

// Adds the product of the thread's element, one of a list, to y; returns its part of x . y
__device__ __forceinline__ double add_curved(
    MeshView mesh, Part part,
    const unsigned* __restrict__ elements,    // those of the list
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    Lame material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x;
    if (in_launch >= part.count) return 0.0;
    const unsigned e = elements[part.first + in_launch];
    const unsigned char* own = bit(at_supports, e) ? held : 0;

    unsigned node[TETRAHEDRON_NODES];
    load_tetrahedron(mesh, e, node);
    real X[3][TETRAHEDRON_NODES], U[3][TETRAHEDRON_NODES], F[3][TETRAHEDRON_NODES] = {};
    load_positions<TETRAHEDRON_NODES>(mesh, node, X);
    load_free(node, x, mesh.n_nodes, own, U);
    from_first(U);

    const real modulus = (real)(material.mu / 24) * moduli[e];
    real sum = 0;
#pragma unroll 1
    for (int q = 0; q < 4; ++q) {
        const TetrahedronPoint p = point_of(X, q);
        real stresses[6], g[TETRAHEDRON_NODES][3];
        strain_at(p, U, stresses);
        sum += weighted_stress(modulus * reciprocal(p.det), (real)material.ratio, stresses);

        shape_gradients(p, g);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            real row[3];
            row_of(stresses, c, row);
#pragma unroll
            for (int a = 0; a < TETRAHEDRON_NODES; ++a) F[c][a] = dot(row, g[a], F[c][a]);
        }
    }

#pragma unroll
    for (int c = 0; c < 3; ++c) add_forces(node, F[c], c, mesh.n_nodes, own, y);
    return sum;
}

#define RESIDENT_BLOCKS (sizeof(real) == 8 ? 4 : 6)

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) tetrahedra(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned* __restrict__ curved,      // a bit per element, or null if none is
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    add_straight(mesh, part, curved, held, at_supports, material, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) tetrahedra_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned* __restrict__ curved,      // a bit per element, or null if none is
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y,                     // [3][n_nodes]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_straight(mesh, part, curved, held, at_supports, material, moduli, x, y), partial);
}

extern "C" __global__ void __launch_bounds__(BLOCK) curved_tetrahedra(
    VIEW(MeshView) mesh, VIEW(Part) part,     // of the list
    const unsigned* __restrict__ elements,    // those of the list
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    add_curved(mesh, part, elements, held, at_supports, material, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) curved_tetrahedra_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,     // of the list
    const unsigned* __restrict__ elements,    // those of the list
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y,                     // [3][n_nodes]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_curved(mesh, part, elements, held, at_supports, material, moduli, x, y), partial);
}
