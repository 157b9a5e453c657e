// precision: f64 f32
// mf: K u with nothing stored; geometry from the coordinates, sum-factorised.
//
// Source:        the 2x2x2 Gauss rule on trilinear fields by their coefficients, as
//                common/trilinear.cuh and common/forces.cuh hold them
// Mapping:       one thread an element, blocks of 128; mf_dot leaves what a block adds to x . y
// Layout:        vectors as planes [3][n_nodes]: the lanes of a warp read and add to neighbouring
//                words where nodes and elements are numbered along each other
// Cost:          1999 operations an element (1305 instructions, 762 of them fused); connectivity
//                (32 bytes) and a modulus read an element; coordinates and supports (25 bytes) and
//                x read and y written a node
// Deterministic: where no two elements of a launch share a node, as with one launch a colour; in one
//                launch of all elements the order of additions at a node is not fixed
// Requires:      y = (1 - P) x beforehand (supports.cu)
// Oracle:        crates/topopt-cuda/tests/operators.rs

#define BLOCK 128

#include "common/forces.cuh"
#include "common/reduce.cuh"

#define PARAMETERS                                                                       \
    unsigned first, unsigned count, /* elements of the launch */                         \
    unsigned n_elements, unsigned n_nodes,                                               \
    const unsigned* __restrict__ connectivity, /* [8][n_elements] */                     \
    const double* __restrict__ coordinates,    /* [3][n_nodes] */                        \
    const unsigned char* __restrict__ held,    /* [n_nodes], bit i for component i */    \
    double mu, double ratio,                   /* Lame's mu at modulus 1, lambda / mu */ \
    const real* __restrict__ moduli,           /* [n_elements] */                        \
    const real* __restrict__ x,                /* [3][n_nodes] */                        \
    real* __restrict__ y                       /* [3][n_nodes] */

// Adds the product of the thread's element to y; with WITH_DOT returns its part of x . y, else 0
template <bool WITH_DOT>
__device__ __forceinline__ double add_product(PARAMETERS) {
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = first + in_launch;
    if (in_launch >= count) return 0.0;
    unsigned node[8], masks = 0; // bit 3 m + c of masks for component c at position m
    load_nodes(connectivity, n_elements, e, node);
    // Kept for the end here, and volatile, or the compiler would keep them in registers.
    __shared__ volatile unsigned kept[9][BLOCK];
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        masks |= (unsigned)held[node[m]] << 3 * m;
        kept[m][threadIdx.x] = node[m];
    }
    kept[8][threadIdx.x] = masks;

    real X[3][8], U[3][8], F[3][8] = {};
    load_geometry(node, coordinates, n_nodes, X);
    load_field(node, x, n_nodes, U);
    if (masks) clear_held(masks, U);
#pragma unroll
    for (int c = 0; c < 3; ++c) to_coefficients(U[c]);
    forces(X, U, (real)(mu / 512) * moduli[e], (real)ratio, F);
#pragma unroll
    for (int c = 0; c < 3; ++c) to_nodes(F[c]);
    masks = kept[8][threadIdx.x];
    if (masks) clear_held(masks, F);
#pragma unroll
    for (int m = 0; m < 8; ++m) node[m] = kept[m][threadIdx.x];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real* __restrict__ plane = y + (size_t)c * n_nodes;
#pragma unroll
        for (int m = 0; m < 8; ++m) atomicAdd(plane + node[m], F[c][m]);
    }
    double sum = 0.0;
    if (WITH_DOT) {
        load_field(node, x, n_nodes, U); // once more: there was no register to keep it in
#pragma unroll
        for (int c = 0; c < 3; ++c)
#pragma unroll
            for (int m = 0; m < 8; ++m) sum += (double)U[c][m] * (double)F[c][m];
    }
    return sum;
}

#define ARGUMENTS first, count, n_elements, n_nodes, connectivity, coordinates, held, mu, ratio, moduli, x, y

extern "C" __global__ void __launch_bounds__(BLOCK, 16 / sizeof(real)) mf(PARAMETERS) {
    add_product<false>(ARGUMENTS);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 16 / sizeof(real)) mf_dot(
    PARAMETERS, double* __restrict__ partial) { // [blocks of the launch]
    block_sum(add_product<true>(ARGUMENTS), partial);
}
