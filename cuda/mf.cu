// precision: f64 f32
// mf: K u with nothing stored; geometry from the coordinates, sum-factorized.
//
// Source:        the 2x2x2 Gauss rule on trilinear fields by differences of their nodal values, as
//                common/trilinear.cuh and common/forces.cuh hold them
// Mapping:       one thread an element, blocks of 32, 64 in single precision; mf_dot leaves what a
//                block adds to x . y; mf_to_slots, mf_to_slots_dot: with products in slots, to be
//                gathered (dbd.cu)
// Layout:        vectors as planes [3][n_nodes]: the lanes of a warp read and add to neighboring
//                words where nodes and elements are numbered along each other; slots
//                [3][8][n_elements] by position in the element
// Cost:          1849 operations an element (1149 instructions, 700 of them fused); connectivity
//                (32 bytes) and a modulus read an element; coordinates (24 bytes) and x read
//                and y written a node; 288 bytes of shared memory a thread, half in single precision
// Deterministic: where no two elements of a launch share a node, as with one launch a color; in one
//                launch of all elements the order of additions at a node is not fixed; slots: yes
// Requires:      y = (1 - P) x beforehand (supports.cu), except for slots; for a dot product: x is
//                zero at held components
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#define BLOCK (256 / sizeof(real))

#include "common/forces.cuh"
#include "common/reduce.cuh"

// Sets held components of the nodal values of an element to zero
__device__ __forceinline__ void clear_held(
    const unsigned node[8], const unsigned char* __restrict__ held, real v[3][8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const unsigned mask = held[node[m]];
#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (mask >> c & 1) v[c][m] = 0;
    }
}

// Adds the product of the thread's element to y, or writes it to slots that y is then; with WITH_DOT
// returns its part of x . y, else 0
template <bool WITH_DOT, bool TO_SLOTS>
__device__ __forceinline__ double add_product(
    MeshView mesh, Part part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit an element: has it a held node?
    Lame material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return 0.0;
    const bool is_at_support = at_supports[e / 32] >> e % 32 & 1;

    unsigned node[8];
    load_nodes(mesh, e, node);
    double X[3][8];
    real U[3][8], F[3][8];
    load_positions(mesh, node, X);
    load_field(node, x, mesh.n_nodes, U);
    if (is_at_support) clear_held(node, held, U);

    __shared__ Slabs x_slabs, u_slabs;
    real x_up[3][2][2], u_up[3][2][2], f_up[3][2][2] = {};
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        to_derivatives(X[c], c, x_slabs, x_up[c]);
        to_derivatives(U[c], c, u_slabs, u_up[c]);
    }

    const real modulus = (real)(material.mu / 512) * moduli[e];
#pragma unroll
    for (int k = 0; k < 2; ++k) add_slab(k, u_slabs, x_up, u_up, modulus, (real)material.ratio, x_slabs, f_up);

    const double sum = WITH_DOT ? work(u_slabs, u_up, x_slabs, f_up) : 0.0;
#pragma unroll
    for (int c = 0; c < 3; ++c) to_nodes(x_slabs, c, f_up[c], F[c]);

    if (TO_SLOTS) {
#pragma unroll
        for (int c = 0; c < 3; ++c)
#pragma unroll
            for (int m = 0; m < 8; ++m) y[(size_t)(8 * c + m) * mesh.n_elements + e] = F[c][m];
        return sum;
    }
    if (is_at_support) clear_held(node, held, F);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real* __restrict__ plane = y + (size_t)c * mesh.n_nodes;
#pragma unroll
        for (int m = 0; m < 8; ++m) atomicAdd(plane + node[m], F[c][m]);
    }
    return sum;
}

#define RESIDENT_BLOCKS (sizeof(real) == 8 ? 12 : 10)

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit an element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    add_product<false, false>(mesh, part, held, at_supports, material, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit an element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y,                     // [3][n_nodes]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_product<true, false>(mesh, part, held, at_supports, material, moduli, x, y), partial);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_to_slots(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit an element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ slots) {               // [3][8][n_elements]
    add_product<false, true>(mesh, part, held, at_supports, material, moduli, x, slots);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_to_slots_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit an element: has it a held node?
    VIEW(Lame) material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ slots,                 // [3][8][n_elements]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_product<true, true>(mesh, part, held, at_supports, material, moduli, x, slots), partial);
}
