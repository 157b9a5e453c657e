// What couples each node of an element with itself; needs trilinear.cuh.

#pragma once

#ifdef BY_MODES

#include "common/strain_modes.cuh"

// A direction d and what the linear mode without stress on its planes is made of
struct Planes {
    real normal[3];
    real along[2][3]; // gradients of the two other reference coordinates at the center, within the planes
};

__device__ __forceinline__ Planes planes_of(const real center[3][3], real scale, int d) {
    Planes planes;
    const real length = sqrt(dot(center[d], center[d], 0));
#pragma unroll
    for (int i = 0; i < 3; ++i) planes.normal[i] = center[d][i] / length;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const real* other = center[(d + 1 + k) % 3];
        const real out = dot(other, planes.normal, 0);
#pragma unroll
        for (int i = 0; i < 3; ++i) planes.along[k][i] = scale * (other[i] - out * planes.normal[i]);
    }
    return planes;
}

// D += weight (factor g g^T + |g|^2 (I - n n^T)), in the order xx, yy, zz, xy, yz, zx
__device__ __forceinline__ void add_own(
    real weight, real factor, const real g[3], const real normal[3], real D[6]) {
    const real sum = weight * dot(g, g, 0);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const int next = (c + 1) % 3;
        D[c] += sum * (1 - normal[c] * normal[c]) + weight * factor * g[c] * g[c];
        D[3 + c] += weight * factor * g[c] * g[next] - sum * normal[c] * normal[next];
    }
}

// The shares of the monomials in the shape function at position m, 8 times; of a node that stands twice or
// four times the sum at its first position and 0 at the others, as in gradient.cuh
__device__ __forceinline__ void shape_shares(const unsigned node[8], int m, real shares[8]) {
    int joined = 0;
    real times = 1;
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2)
        if (node[m ^ bit] == node[m]) joined |= bit, times *= 2;
    if (m & joined) times = 0;
    // Monomials that change their sign between these positions cancel.
#pragma unroll
    for (int k = 1; k < 8; ++k) shares[k] = k & joined ? 0 : MONOMIAL_SIGN(k, m) * times;
}

// Calls visit(m, D) for the node at every position m: D is its 3x3 block times 512 / mu, a sum over modes, in
// the order xx, yy, zz, xy, yz, zx. X: coefficients of the coordinates.
template <class Visit>
__device__ __forceinline__ void each_own_block(
    const unsigned node[8], const real X[3][8], real ratio, Visit visit) {
    const ModeGeometry geometry = mode_geometry(X);
    const real scale = 1 / geometry.at_center, inverse = 1 / geometry.det, weight = 8 * geometry.det;
    const Planes planes[3] = {planes_of(geometry.center, scale, 0), planes_of(geometry.center, scale, 1),
                              planes_of(geometry.center, scale, 2)};
    const real none[3] = {};
    real bilinear[6] = {};
#pragma unroll
    for (int d = 0; d < 3; ++d)
        add_own((real)(1.0 / 9.0) * weight * scale * scale, ratio + 1, geometry.center[d], none, bilinear);

#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real shares[8], g[3] = {}, D[6];
        shape_shares(node, m, shares);
#pragma unroll
        for (int k = 1; k < 7; ++k)
#pragma unroll
            for (int c = 0; c < 3; ++c) g[c] += inverse * shares[k] * geometry.mean[k][c];
#pragma unroll
        for (int k = 3; k < 8; ++k) {
            const real x[3] = {X[0][k], X[1][k], X[2][k]};
            if (k != 4) shares[k] -= dot(g, x, 0); // of the hourglasses, without the mean gradient
        }

#pragma unroll
        for (int c = 0; c < 6; ++c) D[c] = shares[7] * shares[7] * bilinear[c];
        add_own(weight, ratio + 1, g, none, D);
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            // The hourglass of xi_d and another coordinate goes with the gradient of the other.
            const int first = 1 << d | 1 << (d + 1) % 3, second = 1 << d | 1 << (d + 2) % 3;
#pragma unroll
            for (int c = 0; c < 3; ++c)
                g[c] = shares[first] * planes[d].along[0][c] + shares[second] * planes[d].along[1][c];
            add_own((real)(1.0 / 3.0) * weight, 2 * ratio / (ratio + 2) + 1, g, planes[d].normal, D);
        }
        visit(m, D);
    }
}

#else

#include "common/gradient.cuh"

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

#endif
