// What couples each node of an element with itself; needs trilinear.cuh and gradient.cuh.

#pragma once

// Calls visit(m, weight, g) for the node at every position m and every Gauss point: weight g g^T is 512 times
// det J grad N grad N^T there. X: coefficients of the coordinates.
template <class Visit>
__device__ __forceinline__ void each_gradient(const unsigned node[8], const real X[3][8], Visit visit) {
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const real xi = q & 1 ? GAUSS : -GAUSS, eta = q & 2 ? GAUSS : -GAUSS, zeta = q & 4 ? GAUSS : -GAUSS;
        real J[3][3], C[3][3];
#pragma unroll
        for (int c = 0; c < 3; ++c) derivatives(X[c], xi, eta, zeta, J[c]);
        const real weight = reciprocal(cofactors(J, C));
        const real sides[3][2] = {SIDES(xi), SIDES(eta), SIDES(zeta)};
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            real g[3];
            gradient_of_node(node, m, sides, C, g);
            visit(m, weight, g);
        }
    }
}

// Adds the 3x3 blocks to D, times 512 / mu: the integral of (ratio + 1) g g^T + |g|^2 I, g = grad N_a; as
// planes in the order xx, yy, zz, xy, yz, zx
__device__ __forceinline__ void add_self_stiffness(
    const unsigned node[8], const real X[3][8], real ratio, real D[6][8]) {
    each_gradient(node, X, [&](int m, real weight, const real g[3]) {
        const real sum = weight * dot(g, g, 0), factor = weight * (ratio + 1);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            D[c][m] += sum + factor * g[c] * g[c];
            D[3 + c][m] += factor * g[c] * g[(c + 1) % 3];
        }
    });
}
