// The 3x3 blocks that couple each node of an element with itself; needs trilinear.cuh and gradient.cuh.

#pragma once

// Adds det J / mu times (ratio + 1) g g^T + |g|^2 I of every node, g = grad N_a at a Gauss point, times
// 512; as planes in the order xx, yy, zz, xy, yz, zx
__device__ __forceinline__ void add_point(
    const unsigned node[8], const real X[3][8], real xi, real eta, real zeta, real ratio, real D[6][8]) {
    real J[3][3], C[3][3];
#pragma unroll
    for (int c = 0; c < 3; ++c) derivatives(X[c], xi, eta, zeta, J[c]);
    const real weight = reciprocal(cofactors(J, C));
    const real sides[3][2] = {SIDES(xi), SIDES(eta), SIDES(zeta)};
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real g[3];
        gradient_of_node(node, m, sides, C, g);
        const real sum = weight * dot(g, g, 0), factor = weight * (ratio + 1);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            D[c][m] += sum + factor * g[c] * g[c];
            D[3 + c][m] += factor * g[c] * g[(c + 1) % 3];
        }
    }
}

// The blocks of an element whose coordinates have the coefficients X
__device__ __forceinline__ void self_stiffness(
    const unsigned node[8], const real X[3][8], real ratio, real D[6][8]) {
#pragma unroll 1
    for (int q = 0; q < 8; ++q)
        add_point(node, X, q & 1 ? GAUSS : -GAUSS, q & 2 ? GAUSS : -GAUSS, q & 4 ? GAUSS : -GAUSS, ratio, D);
}
