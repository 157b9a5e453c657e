// precision: f64 f32
// element: full modes
// mf: K u with nothing stored; geometry from the coordinates.
//
// Source:        full: the 2x2x2 Gauss rule on trilinear fields by differences of their nodal
//                values, sum-factorized, as common/trilinear.cuh and common/forces.cuh hold them;
//                modes: strain modes in closed form (common/mode_forces.cuh)
// Mapping:       one thread per element, blocks of 32, 64 in single precision; mf_dot leaves what a
//                block adds to x . y; mf_to_slots, mf_to_slots_dot: with products in slots, to be
//                gathered (dbd.cu)
// Layout:        vectors as planes [3][n_nodes]: the lanes of a warp read and add to neighboring
//                words where nodes and elements are numbered along each other; slots
//                [3][8][n_elements] by position in the element
// Cost:          full: 1849 operations per element (1149 instructions, 700 of them fused), 288
//                bytes of shared memory per thread; modes: 1239 operations (897 instructions, 342
//                of them fused), 240 bytes, and along rows of elements 12 additions to nodes in
//                place of 24; half the bytes in single precision; connectivity (32 bytes) and a
//                modulus read per element; coordinates (24 bytes) and x read and y written per node
// Deterministic: where no two elements of a launch share a node, as with one launch per color; in
//                one launch of all elements the order of additions at a node is not fixed; slots:
//                yes
// Requires:      y = (1 - P) x beforehand (supports.cu), except for slots; for a dot product: x is
//                zero at held components
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#define BLOCK (256 / sizeof(real))

#include "common/element_product.cuh"
#include "common/reduce.cuh"

#ifdef BY_MODES
#define RESIDENT_BLOCKS 14
#else
#define RESIDENT_BLOCKS (sizeof(real) == 8 ? 12 : 10)
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    add_product<false, false>(mesh, part, 0, held, at_supports, material, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y,                     // [3][n_nodes]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_product<true, false>(mesh, part, 0, held, at_supports, material, moduli, x, y), partial);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_to_slots(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ slots) {               // [3][8][n_elements]
    add_product<false, true>(mesh, part, 0, held, at_supports, material, moduli, x, slots);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_to_slots_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ slots,                 // [3][8][n_elements]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_product<true, true>(mesh, part, 0, held, at_supports, material, moduli, x, slots), partial);
}
