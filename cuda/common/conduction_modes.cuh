// The conduction of one element by modes of the gradient in closed form: the mean gradient G, and
// hourglasses H. Those of xi eta, xi zeta and eta zeta make linear modes, that of xi eta zeta bilinear
// ones (common/strain_modes.cuh without incompatible modes). With the gradients g of xi, eta and zeta at
// the center the energy is, of volume V and conductivity k,
//   k V / 2 (G . G + 1/3 (|H_0 g_1 + H_1 g_2|^2 + |H_0 g_0 + H_2 g_2|^2 + |H_1 g_0 + H_2 g_1|^2)
//            + 1/9 H_3^2 (|g_0|^2 + |g_1|^2 + |g_2|^2)).

#pragma once

#include "common/points.cuh"
#include "common/strain_modes.cuh"

// What the conduction of an element takes of its geometry
struct Conductor {
    real mean[7][3];      // mean cofactors of the gradient of monomials 1 to 6, 64 times
    real hourglass[4][3]; // coefficients of the coordinates of the hourglasses
    real metric[6];       // third of the products of the g, as VOIGT has them; over 64
    real det;             // mean of det J, 512 times
};

// The conductor of an element whose coordinates have the coefficients X
__device__ __forceinline__ Conductor conductor(const real X[3][8]) {
    const ModeGeometry geometry = mode_geometry(X);
    Conductor out;
    const real inverse = reciprocal(geometry.at_center), scale = (real)(1.0 / 3.0) * inverse * inverse;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
        for (int k = 1; k < 7; ++k) out.mean[k][i] = geometry.mean[k][i];
#pragma unroll
        for (int h = 0; h < 4; ++h) out.hourglass[h][i] = X[i][HOURGLASS(h)];
        out.metric[i] = scale * dot(geometry.center[i], geometry.center[i], 0);
        const int j = (i + 1) % 3;
        out.metric[VOIGT(i, j)] = scale * dot(geometry.center[i], geometry.center[j], 0);
    }
    out.det = geometry.det;
    return out;
}

// The gradient G and the hourglasses H of a field with coefficients U, without what G gives these
__device__ __forceinline__ void modes_of(const Conductor& element, const real U[8], real G[3], real H[4]) {
    const real inverse = reciprocal(element.det);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        G[i] = 0;
#pragma unroll
        for (int k = 1; k < 7; ++k) G[i] += U[k] * element.mean[k][i];
        G[i] *= inverse;
    }
#pragma unroll
    for (int h = 0; h < 4; ++h) H[h] = U[HOURGLASS(h)] - dot(G, element.hourglass[h], 0);
}

// What is conjugate to the hourglasses H, over conductivity and volume
__device__ __forceinline__ void conjugates(const Conductor& element, const real H[4], real P[4]) {
    const real* m = element.metric;
    const real xy = m[VOIGT(0, 1)], xz = m[VOIGT(0, 2)], yz = m[VOIGT(1, 2)];
    P[0] = (m[0] + m[1]) * H[0] + (yz * H[1] + xz * H[2]);
    P[1] = (m[0] + m[2]) * H[1] + (yz * H[0] + xy * H[2]);
    P[2] = (m[1] + m[2]) * H[2] + (xz * H[0] + xy * H[1]);
    P[3] = (real)(1.0 / 3.0) * (m[0] + m[1] + m[2]) * H[3];
}

// v^T L u of the fields with coefficients V and U
__device__ __forceinline__ real conduction_along(const Conductor& element, const real V[8], const real U[8]) {
    real of_v[3], of_u[3], H[4], K[4], P[4];
    modes_of(element, V, of_v, H);
    modes_of(element, U, of_u, K);
    conjugates(element, K, P);
    return (real)(1.0 / 64) * element.det * (dot(of_v, of_u, 0) + (P[0] * H[0] + P[1] * H[1] + P[2] * H[2] + P[3] * H[3]));
}

// f = scale times 64 L u at the nodes by position, of the field with coefficients U; returns what it
// does along u, a sum of squares in which nothing cancels
__device__ __forceinline__ real conduct(const Conductor& element, const real U[8], real scale, real f[8]) {
    real G[3], H[4], P[4], F[8];
    modes_of(element, U, G, H);
    conjugates(element, H, P);
    const real stored = scale * element.det;
    const real work = stored * (dot(G, G, 0) + (P[0] * H[0] + P[1] * H[1] + P[2] * H[2] + P[3] * H[3]));

#pragma unroll
    for (int h = 0; h < 4; ++h)
#pragma unroll
        for (int i = 0; i < 3; ++i) G[i] -= P[h] * element.hourglass[h][i];
#pragma unroll
    for (int k = 1; k < 7; ++k) F[k] = scale * dot(G, element.mean[k], 0);
#pragma unroll
    for (int h = 0; h < 3; ++h) F[HOURGLASS(h)] += stored * P[h];
    F[7] = stored * P[3];
    from_coefficients(F, f);
    return work;
}
