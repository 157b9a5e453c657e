// The forces of one element by its strain modes (common/strain_modes.cuh), in closed form: the stress of
// the mean gradient, and that of the hourglass modes, the linear ones without stress on the planes in
// which incompatible modes relax them. Geometry waits in shared memory, or a thread would need twice the
// registers. BLOCK is defined before, or LANES and LANE: threads that share it, and the number of one
// among them.

#pragma once

#include "common/strain_modes.cuh"

#ifndef LANES
#define LANES BLOCK
#define LANE threadIdx.x
#endif

// What mu is to be divided by
#define MU_SCALE 64

// Monomials of the hourglasses xi eta, xi zeta, eta zeta, xi eta zeta
#define HOURGLASS(h) ((h) == 0 ? 3 : (h) + 4)

// [number][component][thread]: mean cofactors of monomials 1 to 6, then the coordinates' coefficients of the
// hourglasses; volatile, or the compiler would keep them in registers
typedef volatile real Geometry[10][3][LANES];

// What stays in registers of an element's geometry
struct Center {
    real cofactors[3][3]; // at the center
    real det, at_center;  // 512 times the mean of det J, and that at the center
};

// The geometry of the element whose coordinates have the coefficients X
__device__ __forceinline__ Center store_geometry(const real X[3][8], Geometry& geometry) {
    const ModeGeometry all = mode_geometry(X);
    Center center = {{}, all.det, all.at_center};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
        for (int k = 1; k < 7; ++k) geometry[k - 1][i][LANE] = all.mean[k][i];
#pragma unroll
        for (int h = 0; h < 4; ++h) geometry[6 + h][i][LANE] = X[i][HOURGLASS(h)];
#pragma unroll
        for (int d = 0; d < 3; ++d) center.cofactors[d][i] = all.center[d][i];
    }
    return center;
}

__device__ __forceinline__ void read(const Geometry& geometry, int number, real v[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) v[i] = geometry[number][i][LANE];
}

// What a field with coefficients U is to the modes: its mean gradient G, du_i/dx_c, and the coefficients H of
// its hourglasses without what the gradient gives them
__device__ __forceinline__ void strains(
    const Geometry& geometry, real det, const real U[3][8], real G[3][3], real H[4][3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c) G[i][c] = 0;
#pragma unroll
    for (int k = 1; k < 7; ++k) {
        real mean[3];
        read(geometry, k - 1, mean);
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int c = 0; c < 3; ++c) G[i][c] += U[i][k] * mean[c];
    }

    const real inverse = reciprocal(det);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c) G[i][c] *= inverse;

#pragma unroll
    for (int h = 0; h < 4; ++h) {
        real x[3];
        read(geometry, 6 + h, x);
#pragma unroll
        for (int i = 0; i < 3; ++i) H[h][i] = U[i][HOURGLASS(h)] - dot(G[i], x, 0);
    }
}

// Stress over mu of a gradient, as VOIGT has its components
__device__ __forceinline__ void stress_of_gradient(const real G[3][3], real ratio, real s[6]) {
    const real pressure = ratio * (G[0][0] + G[1][1] + G[2][2]);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        s[i] = 2 * G[i][i] + pressure;
        s[VOIGT(i, j)] = G[i][j] + G[j][i];
    }
}

// Component i of s . v, added to a sum
__device__ __forceinline__ real times(const real s[6], const real v[3], int i, real sum) {
    const real row[3] = {s[VOIGT(i, 0)], s[VOIGT(i, 1)], s[VOIGT(i, 2)]};
    return dot(row, v, sum);
}

// Adds the forces of p (x) a + q (x) b, conjugate to p and q, without stress on planes of normal n: the
// incompatible mode along n takes it, a symmetric t (x) n, found from the stress on these planes.
__device__ __forceinline__ void add_relaxed(
    const real p[3], const real a[3], const real q[3], const real b[3], const real n[3], real ratio,
    real of_p[3], real of_q[3]) {
    real G[3][3], s[6], t[3];
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c) G[i][c] = p[i] * a[c] + q[i] * b[c];
    stress_of_gradient(G, ratio, s);

    const real inverse = reciprocal(dot(n, n, 0)), inverse_stretch = reciprocal(ratio + 2);
#pragma unroll
    for (int i = 0; i < 3; ++i) t[i] = inverse * times(s, n, i, 0);
    const real along = dot(t, n, 0);
    const real back = (ratio + 1) * inverse_stretch * inverse * along;
    const real pressure = ratio * inverse_stretch * along;
#pragma unroll
    for (int i = 0; i < 3; ++i) t[i] -= back * n[i];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        s[i] -= 2 * t[i] * n[i] + pressure;
        s[VOIGT(i, j)] -= t[i] * n[j] + t[j] * n[i];
    }

#pragma unroll
    for (int i = 0; i < 3; ++i) {
        of_p[i] = times(s, a, i, of_p[i]);
        of_q[i] = times(s, b, i, of_q[i]);
    }
}

// Forces over mu of the hourglasses H: three linear modes and, of xi eta zeta, the bilinear ones; times
// 3 at_center^2 over the volume
__device__ __forceinline__ void hourglass_forces(
    const real C[3][3], const real H[4][3], real ratio, real F[4][3]) {
#pragma unroll
    for (int h = 0; h < 3; ++h)
#pragma unroll
        for (int i = 0; i < 3; ++i) F[h][i] = 0;
    add_relaxed(H[0], C[1], H[1], C[2], C[0], ratio, F[0], F[1]);
    add_relaxed(H[0], C[0], H[2], C[2], C[1], ratio, F[0], F[2]);
    add_relaxed(H[1], C[0], H[2], C[1], C[2], ratio, F[1], F[2]);

    const real sum = dot(C[0], C[0], dot(C[1], C[1], dot(C[2], C[2], 0)));
    const real along[3] = {
        (ratio + 1) * dot(C[0], H[3], 0), (ratio + 1) * dot(C[1], H[3], 0), (ratio + 1) * dot(C[2], H[3], 0)};
#pragma unroll
    for (int i = 0; i < 3; ++i)
        F[3][i] = (real)(1.0 / 3.0)
                * (along[0] * C[0][i] + (along[1] * C[1][i] + (along[2] * C[2][i] + sum * H[3][i])));
}

// What is conjugate to the strains G and H over the mean of det J: stress S of the mean gradient, P of the
// hourglasses
__device__ __forceinline__ void stresses(
    const Center& center, const real G[3][3], const real H[4][3], real mu, real ratio, real S[3][3],
    real P[4][3]) {
    real s[6];
    stress_of_gradient(G, ratio, s);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c) S[i][c] = mu * s[VOIGT(i, c)];

    hourglass_forces(center.cofactors, H, ratio, P);
    const real inverse = reciprocal(center.at_center);
    const real scale = (real)(1.0 / 3.0) * mu * inverse * inverse;
#pragma unroll
    for (int h = 0; h < 4; ++h)
#pragma unroll
        for (int i = 0; i < 3; ++i) P[h][i] *= scale;
}

// What these stresses do along strains, for mu over MU_SCALE
__device__ __forceinline__ real work_along(
    const Center& center, const real S[3][3], const real P[4][3], const real G[3][3], const real H[4][3]) {
    real sum = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i) sum = dot(S[i], G[i], sum);
#pragma unroll
    for (int h = 0; h < 4; ++h) sum = dot(P[h], H[h], sum);
    return center.det * sum;
}

// Nodal values by position of coefficients, whose first is 0
__device__ __forceinline__ void from_coefficients(const real F[8], real f[8]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const real xi = i ? F[1] : -F[1], eta = i ? F[2] + F[3] : F[2] - F[3];
        const real zeta = i ? F[4] + F[5] : F[4] - F[5], mixed = i ? F[6] + F[7] : F[6] - F[7];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const real even = j ? xi + eta : xi - eta, odd = j ? zeta + mixed : zeta - mixed;
            f[i + 2 * j] = even - odd;
            f[i + 2 * j + 4] = even + odd;
        }
    }
}

// Nodal forces f of the displacements with coefficients U, for mu over MU_SCALE; returns what they do along U,
// a sum of squares of strains, of which nothing cancels
__device__ __forceinline__ double mode_forces(
    const Geometry& geometry, const Center& center, const real U[3][8], real mu, real ratio, real f[3][8]) {
    real G[3][3], H[4][3], S[3][3], P[4][3], F[3][8];
    strains(geometry, center.det, U, G, H);
    stresses(center, G, H, mu, ratio, S, P);
    const real work = work_along(center, S, P, G, H);

#pragma unroll
    for (int h = 0; h < 4; ++h) {
        real x[3];
        read(geometry, 6 + h, x);
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int c = 0; c < 3; ++c) S[i][c] -= P[h][i] * x[c];
    }

#pragma unroll
    for (int k = 1; k < 7; ++k) {
        real mean[3];
        read(geometry, k - 1, mean);
#pragma unroll
        for (int i = 0; i < 3; ++i) F[i][k] = dot(S[i], mean, 0);
    }
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
        for (int h = 0; h < 3; ++h) F[i][HOURGLASS(h)] += center.det * P[h][i];
        F[i][7] = center.det * P[3][i];
        from_coefficients(F[i], f[i]);
    }
    return work;
}
