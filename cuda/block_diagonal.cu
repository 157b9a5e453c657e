// precision: f64 f32
// element: full modes
// block_diagonal: the 3x3 blocks on the diagonal of K, inverted: block Jacobi, and what smooths the
// finest level of multigrid.
//
// Source:        K_aa = sum over the points of the 2x2x2 Gauss rule of
//                ((lambda + mu) g g^T + mu |g|^2 I) det J, g = grad N_a; or over strain modes
//                (common/self_stiffness.cuh)
// Mapping:       block_diagonal: one thread per element, blocks of 128; the others: one thread per
//                node, blocks of 128
// Layout:        blocks as planes [6][n_nodes] in the order xx, yy, zz, xy, yz, zx; vectors
//                [3][n_nodes]
// Cost:          block_diagonal: 4400 operations per element, by modes 2800, connectivity (32
//                bytes) and a modulus read per element, coordinates (24 bytes) read and the blocks
//                written per node; apply_blocks: 12 values and 15 operations per node;
//                smooth_blocks: 27 values
// Deterministic: yes, block_diagonal where no two elements of a launch share a node, as with one
//                launch per color; else the order of additions at a node is not fixed
// Requires:      block_diagonal: out = 0, or springs, beforehand
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#include "common/invert.cuh"
#include "common/trilinear.cuh"
#include "common/self_stiffness.cuh"
#include "common/smooth.cuh"

#define BLOCK 128

extern "C" __global__ void __launch_bounds__(BLOCK) block_diagonal(
    VIEW(MeshView) mesh, VIEW(Part) part,
    VIEW(Lame) material,
    const real* __restrict__ moduli, // [n_elements]
    real* __restrict__ out) {        // [6][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;

    unsigned node[8];
    load_nodes(mesh, e, node);
    double positions[3][8];
    real X[3][8];
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);

#ifdef BY_MODES
    const real scale = (real)(material.mu / 512) * moduli[e];
    each_own_block(mesh, e, X, (real)material.ratio, [&](int m, unsigned own, const real block[6]) {
#pragma unroll
        for (int c = 0; c < 6; ++c) atomicAdd(out + ((size_t)c * mesh.n_nodes + own), scale * block[c]);
    });
#else
    real D[6][8] = {};
    add_self_stiffness(node, X, (real)material.ratio, D);

    const real scale = (real)(material.mu / 512) * moduli[e];
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
        for (int c = 0; c < 6; ++c) atomicAdd(out + ((size_t)c * mesh.n_nodes + node[m]), scale * D[c][m]);
#endif
}

// Every block by its inverse, with the identity in the rows and columns of held components
extern "C" __global__ void __launch_bounds__(BLOCK) invert_blocks(
    unsigned n_nodes,
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    real* __restrict__ blocks) {            // [6][n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= n_nodes) return;
    const unsigned mask = held[node];
    double A[3][3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        A[i][i] = mask >> i & 1 ? 1.0 : (double)blocks[(size_t)i * n_nodes + node];
        A[i][j] = A[j][i] = (mask >> i | mask >> j) & 1 ? 0.0 : (double)blocks[(size_t)(3 + i) * n_nodes + node];
    }

    invert<3>(A);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        blocks[(size_t)i * n_nodes + node] = (real)A[i][i];
        blocks[(size_t)(3 + i) * n_nodes + node] = (real)A[i][(i + 1) % 3];
    }
}

// D v at a node, D its symmetric block
__device__ __forceinline__ void multiply_block(
    const real* __restrict__ blocks, // [6][n_nodes]
    unsigned n_nodes, unsigned node, const real v[3], real product[3]) {
    real D[6];
#pragma unroll
    for (int c = 0; c < 6; ++c) D[c] = blocks[(size_t)c * n_nodes + node];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3; // D[3 + i] couples i and j, D[3 + k] k and i
        product[i] = D[i] * v[i] + D[3 + i] * v[j] + D[3 + k] * v[k];
    }
}

// y = D x
extern "C" __global__ void __launch_bounds__(BLOCK) apply_blocks(
    unsigned n_nodes,
    const real* __restrict__ blocks, // [6][n_nodes]
    const real* __restrict__ x,      // [3][n_nodes]
    real* __restrict__ y) {          // [3][n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= n_nodes) return;

    real v[3], product[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) v[i] = x[(size_t)i * n_nodes + node];
    multiply_block(blocks, n_nodes, node, v, product);
#pragma unroll
    for (int i = 0; i < 3; ++i) y[(size_t)i * n_nodes + node] = product[i];
}

// One step of the smoother, as common/smooth.cuh has it
extern "C" __global__ void __launch_bounds__(BLOCK) smooth_blocks(
    unsigned n_nodes, unsigned residual, double alpha, double beta,
    const double* __restrict__ scalars, unsigned result, unsigned start, // of the power method
    const real* __restrict__ blocks,  // [6][n_nodes]
    const real* __restrict__ b,       // [3][n_nodes]
    const real* __restrict__ product, // [3][n_nodes]
    real* __restrict__ r,             // [3][n_nodes]
    real* __restrict__ d,             // [3][n_nodes]
    real* __restrict__ x) {           // [3][n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= n_nodes) return;

    real v[3], product_of_block[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) v[i] = residual_at((size_t)i * n_nodes + node, residual, b, product, r);
    multiply_block(blocks, n_nodes, node, v, product_of_block);

    const real scale = over_growth(alpha, scalars, result, start);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const real step = scale * product_of_block[i];
        step_at((size_t)i * n_nodes + node, residual, v[i], step, (real)beta, r, d, x);
    }
}
