// The forces of one element by its strain modes (common/strain_modes.cuh), in closed form: the
// stress of the mean gradient, and that of the hourglass modes, the linear ones without stress on
// the planes in which incompatible modes relax them. Geometry waits in shared memory, or a thread
// would need twice the registers. BLOCK is defined before, or LANES and LANE: threads that share
// it, and the number of one among them.

#pragma once

#include "common/strain_modes.cuh"

#ifndef LANES
#define LANES BLOCK
#define LANE threadIdx.x
#endif

// What mu is to be divided by
#define MU_SCALE 64

// [number][component][thread]: mean cofactors of monomials 1 to 6, then the coordinates'
// coefficients of the hourglasses; volatile, or the compiler would keep them in registers
typedef volatile real Geometry[10][3][LANES];

// What stays in registers of an element's geometry
struct Center {
    real tangents[3][3]; // coefficients of xi, eta, zeta
    real gradients[6];   // sum of g g^T of their gradients g, as VOIGT has its components; over 64
    real det;            // 512 times the mean of det J
};

// The geometry of the element whose coordinates have the coefficients X
__device__ __forceinline__ Center store_geometry(const real X[3][8], Geometry& geometry) {
    const ModeGeometry all = mode_geometry(X);
    Center center;
    center.det = all.det;
    const real inverse = reciprocal(all.at_center), scale = inverse * inverse;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
        for (int k = 1; k < 7; ++k) geometry[k - 1][i][LANE] = all.mean[k][i];
#pragma unroll
        for (int h = 0; h < 4; ++h) geometry[6 + h][i][LANE] = X[i][HOURGLASS(h)];

        const real own[3] = {all.center[0][i], all.center[1][i], all.center[2][i]};
        const int j = (i + 1) % 3;
        const real next[3] = {all.center[0][j], all.center[1][j], all.center[2][j]};
        center.gradients[i] = scale * dot(own, own, 0);
        center.gradients[VOIGT(i, j)] = scale * dot(own, next, 0);
#pragma unroll
        for (int d = 0; d < 3; ++d) center.tangents[d][i] = X[i][1 << d];
    }
    return center;
}

__device__ __forceinline__ void read(const Geometry& geometry, int number, real v[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) v[i] = geometry[number][i][LANE];
}

// What a field with coefficients U is to the modes: its mean gradient G, du_i/dx_c, and the
// coefficients H of its hourglasses without what the gradient gives them
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

// Adds the forces over mu of two hourglasses h in the plane of the tangents t, which no stress
// leaves.
//
// The gradient is h_0 along the first reference coordinate of the plane and h_1 along the second,
// so that h_0 . t_0, h_1 . t_1 and h_0 . t_1 + h_1 . t_0 are all of its strain in the plane. With
// the metric m of the tangents and A = adj(m), det(m) = M, the stress is that of an isotropic
// material in plane stress; as A e A = (A : e) A - M adj(e), it takes one product. plane = (lambda
// of plane stress + 2 mu) / mu.
__device__ __forceinline__ void add_relaxed(
    const real h_0[3], const real h_1[3], const real t_0[3], const real t_1[3], real m_00, real m_01,
    real m_11, real plane, real f_0[3], real f_1[3]) {
    const real inverse = reciprocal(m_00 * m_11 - m_01 * m_01), twice = 2 * inverse;
    const real e_00 = dot(h_0, t_0, 0), e_11 = dot(h_1, t_1, 0), e_01 = dot(h_0, t_1, dot(h_1, t_0, 0));
    const real trace = plane * inverse * inverse * (m_11 * e_00 + (m_00 * e_11 - m_01 * e_01));
    const real s_00 = trace * m_11 - twice * e_11, s_11 = trace * m_00 - twice * e_00;
    const real s_01 = inverse * e_01 - trace * m_01;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        f_0[i] += s_00 * t_0[i] + s_01 * t_1[i];
        f_1[i] += s_11 * t_1[i] + s_01 * t_0[i];
    }
}

// Forces over mu / 3 of the hourglasses H: of three linear modes and, of xi eta zeta, the bilinear
// ones; per mean of det J
__device__ __forceinline__ void hourglass_forces(
    const Center& center, const real H[4][3], real ratio, real F[4][3]) {
    const real *x = center.tangents[0], *y = center.tangents[1], *z = center.tangents[2];
    const real xx = dot(x, x, 0), yy = dot(y, y, 0), zz = dot(z, z, 0);
    const real xy = dot(x, y, 0), xz = dot(x, z, 0), yz = dot(y, z, 0);
    const real plane = 4 * (ratio + 1) * reciprocal(ratio + 2);
#pragma unroll
    for (int h = 0; h < 3; ++h)
#pragma unroll
        for (int i = 0; i < 3; ++i) F[h][i] = 0;
    add_relaxed(H[0], H[1], y, z, yy, yz, zz, plane, F[0], F[1]);
    add_relaxed(H[0], H[2], x, z, xx, xz, zz, plane, F[0], F[2]);
    add_relaxed(H[1], H[2], x, y, xx, xy, yy, plane, F[1], F[2]);

    const real* g = center.gradients;
    const real third = (real)(1.0 / 3.0), sum = third * (g[0] + g[1] + g[2]), along = third * (ratio + 1);
#pragma unroll
    for (int i = 0; i < 3; ++i) F[3][i] = sum * H[3][i] + along * times(g, H[3], i, 0);
}

// What is conjugate to the strains G and H over the mean of det J: stress S of the mean gradient, P
// of the hourglasses; a material is that of overloads of the functions above
template <class Material>
__device__ __forceinline__ void stresses(
    const Center& center, const real G[3][3], const real H[4][3], real mu, Material material, real S[3][3],
    real P[4][3]) {
    real s[6];
    stress_of_gradient(G, material, s);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c) S[i][c] = mu * s[VOIGT(i, c)];

    hourglass_forces(center, H, material, P);
    const real scale = (real)(1.0 / 3.0) * mu;
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

// Nodal forces f of the displacements with coefficients U, for mu over MU_SCALE; returns what they
// do along U, a sum of squares of strains, of which nothing cancels
template <class Material>
__device__ __forceinline__ double mode_forces(
    const Geometry& geometry, const Center& center, const real U[3][8], real mu, Material material,
    real f[3][8]) {
    real G[3][3], H[4][3], S[3][3], P[4][3], F[3][8];
    strains(geometry, center.det, U, G, H);
    stresses(center, G, H, mu, material, S, P);
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
