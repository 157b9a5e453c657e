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
#include "common/tetrahedra_product.cuh"

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
    add_straight(mesh, part, 0, curved, held, at_supports, material, moduli, x, y);
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
    block_sum(add_straight(mesh, part, 0, curved, held, at_supports, material, moduli, x, y), partial);
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
