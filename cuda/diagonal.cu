// precision: f64 f32
// element: full modes
// diagonal: of K, for Jacobi's preconditioner, whatever strategy computes K u.
//
// Source:        [Ratnakar2022, Alg. 1]; K_ai,ai = sum over the points of the 2x2x2 Gauss rule, or
//                over strain modes, of ((lambda + mu) (dN_a/dx_i)^2 + mu |grad N_a|^2) det J
//                (common/self_stiffness.cuh)
// Mapping:       one thread per element, blocks of 128
// Layout:        the diagonal as planes [3][n_nodes]
// Cost:          3105 operations per element, by modes 2400; connectivity (32 bytes) and a modulus
//                read per element; coordinates and supports (25 bytes) read and the diagonal
//                written per node
// Deterministic: where no two elements of a launch share a node, as with one launch per color; in
//                one launch of all elements the order of additions at a node is not fixed
// Requires:      out = 0 beforehand
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/trilinear.cuh"
#include "common/self_stiffness.cuh"

#define BLOCK 128

extern "C" __global__ void __launch_bounds__(BLOCK) diagonal(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    VIEW(Lame) material,
    const real* __restrict__ moduli,        // [n_elements]
    real* __restrict__ out) {               // [3][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;

    unsigned node[8];
    load_nodes(mesh, e, node);
    double positions[3][8];
    real X[3][8];
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);

    const real ratio = (real)material.ratio;
#ifdef BY_MODES
    const real mu = (real)(material.mu / 512) * moduli[e];
    each_own_block(mesh, e, X, ratio, [&](int m, unsigned own, const real block[6]) {
        const unsigned mask = held[own];
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            real* at = out + ((size_t)c * mesh.n_nodes + own);
            if (mask >> c & 1) *at = 1; // the same from every element
            else atomicAdd(at, mu * block[c]);
        }
    });
#else
    real D[3][8] = {};
    each_gradient(node, X, [&](int m, real weight, const real g[3]) {
        const real sum = dot(g, g, 0);
#pragma unroll
        for (int c = 0; c < 3; ++c) D[c][m] += weight * (sum + (ratio + 1) * g[c] * g[c]);
    });

    const real scale = (real)(material.mu / 512) * moduli[e];
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const unsigned mask = held[node[m]];
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            real* at = out + ((size_t)c * mesh.n_nodes + node[m]);
            if (mask >> c & 1) *at = 1; // the same from every element
            else atomicAdd(at, scale * D[c][m]);
        }
    }
#endif
}
