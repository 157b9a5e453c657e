// precision: f64 f32
// diagonal: of K, for Jacobi's preconditioner, whatever strategy computes K u.
//
// Source:        [Ratnakar2022, Alg. 1]; K_ai,ai = sum over the points of the 2x2x2 Gauss rule of
//                ((lambda + mu) (dN_a/dx_i)^2 + mu |grad N_a|^2) det J
// Mapping:       one thread an element, blocks of 128
// Layout:        the diagonal as planes [3][n_nodes]
// Cost:          3105 operations an element; connectivity (32 bytes) and a modulus read an element;
//                coordinates and supports (25 bytes) read and the diagonal written a node
// Deterministic: where no two elements of a launch share a node, as with one launch a color; in one
//                launch of all elements the order of additions at a node is not fixed
// Requires:      out = 0 beforehand
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/trilinear.cuh"
#include "common/gradient.cuh"

#define BLOCK 128

// D[c][m] += det J / mu times the sum over directions of (dN_m/dx)^2, and (ratio + 1) (dN_m/dx_c)^2
__device__ __forceinline__ void add_point(
    const unsigned node[8], const real X[3][8], real xi, real eta, real zeta, real ratio, real D[3][8]) {
    real J[3][3], C[3][3];
#pragma unroll
    for (int c = 0; c < 3; ++c) derivatives(X[c], xi, eta, zeta, J[c]);
    const real weight = reciprocal(cofactors(J, C));
    const real sides[3][2] = {SIDES(xi), SIDES(eta), SIDES(zeta)};
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real g[3];
        gradient_of_node(node, m, sides, C, g);
        const real sum = dot(g, g, 0);
#pragma unroll
        for (int c = 0; c < 3; ++c) D[c][m] += weight * (sum + (ratio + 1) * g[c] * g[c]);
    }
}

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
    real X[3][8], D[3][8] = {};
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);

#pragma unroll 1
    for (int q = 0; q < 8; ++q)
        add_point(node, X, q & 1 ? GAUSS : -GAUSS, q & 2 ? GAUSS : -GAUSS, q & 4 ? GAUSS : -GAUSS,
                  (real)material.ratio, D);

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
}
