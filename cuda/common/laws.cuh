// A law of elasticity in place of an isotropic material: a symmetric matrix D from strains, shear twice,
// to stresses, both as VOIGT orders them, at Young's modulus 1.

#pragma once

#include "common/trilinear.cuh"

// Entries of a symmetric matrix by rows, from the diagonal on
#define LAW_ENTRIES 21

// Place of entry (r, c) among them
#define UPPER(r, c) ((r) <= (c) ? (r) * (11 - (r)) / 2 + (c) : (c) * (11 - (c)) / 2 + (r))

// A parameter, whose members a thread reads where it uses them, without registers: each launch has one law.
struct LawView {
    double stiffness[21];  // D
    double compliance[21]; // its inverse
};

typedef const LawView* Law;

// Row r of a matrix times v
__device__ __forceinline__ real row_times(const double matrix[LAW_ENTRIES], int r, const real v[6]) {
    real sum = (real)matrix[UPPER(r, 0)] * v[0];
#pragma unroll
    for (int c = 1; c < 6; ++c) sum += (real)matrix[UPPER(r, c)] * v[c];
    return sum;
}

// From strain, shear twice, to scale times the stress, in place
__device__ __forceinline__ void stress(real scale, Law law, real e[6]) {
    real s[6];
#pragma unroll
    for (int r = 0; r < 6; ++r) s[r] = row_times(law->stiffness, r, e);
#pragma unroll
    for (int r = 0; r < 6; ++r) e[r] = scale * s[r];
}

#ifdef BY_MODES

#include "common/mode_forces.cuh"

// Stress of a gradient, as VOIGT has its components
__device__ __forceinline__ void stress_of_gradient(const real G[3][3], Law law, real s[6]) {
    real e[6];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        e[i] = G[i][i];
        e[VOIGT(i, j)] = G[i][j] + G[j][i];
    }
#pragma unroll
    for (int r = 0; r < 6; ++r) s[r] = row_times(law->stiffness, r, e);
}

// A stress along tangents, a b^T + b a^T, or half of it where they are the same
__device__ __forceinline__ void tangent_stress(const real a[3], const real b[3], bool same, real s[6]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        s[i] = same ? a[i] * b[i] : 2 * a[i] * b[i];
        s[VOIGT(i, j)] = same ? a[i] * b[j] : a[i] * b[j] + b[i] * a[j];
    }
}

__device__ __forceinline__ real along(const real s[6], const real e[6]) {
    real sum = s[0] * e[0];
#pragma unroll
    for (int p = 1; p < 6; ++p) sum += s[p] * e[p];
    return sum;
}

// Adds the forces of two hourglasses h in the plane of the tangents t, which no stress leaves: of the
// strains e_00, e_11 and e_01 in the plane, see add_relaxed. Stresses sum s_ij t_i t_j^T strain the plane by C s, C_ij =
// (t t^T)_i : D^-1 (t t^T)_j.
__device__ __forceinline__ void add_relaxed(
    const real h_0[3], const real h_1[3], const real t_0[3], const real t_1[3], Law law, real f_0[3],
    real f_1[3]) {
    real basis[3][6], C[3][3];
    tangent_stress(t_0, t_0, true, basis[0]);
    tangent_stress(t_1, t_1, true, basis[1]);
    tangent_stress(t_0, t_1, false, basis[2]);
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        real strains[6];
#pragma unroll
        for (int r = 0; r < 6; ++r) strains[r] = row_times(law->compliance, r, basis[k]);
#pragma unroll
        for (int l = 0; l <= k; ++l) C[k][l] = C[l][k] = along(basis[l], strains);
    }

    const real e[3] = {
        dot(h_0, t_0, 0), dot(h_1, t_1, 0), dot(h_0, t_1, dot(h_1, t_0, 0))};
    real adjugate[3][3], s[3];
    const real inverse = reciprocal(cofactors(C, adjugate));
#pragma unroll
    for (int k = 0; k < 3; ++k) s[k] = inverse * dot(adjugate[k], e, 0);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        f_0[i] += s[0] * t_0[i] + s[2] * t_1[i];
        f_1[i] += s[1] * t_1[i] + s[2] * t_0[i];
    }
}

// A third of the forces of the hourglasses H: of three linear modes and, of xi eta zeta, the bilinear
// ones; per mean of det J
__device__ __forceinline__ void hourglass_forces(
    const Center& center, const real H[4][3], Law law, real F[4][3]) {
    const real *x = center.tangents[0], *y = center.tangents[1], *z = center.tangents[2];
#pragma unroll
    for (int h = 0; h < 4; ++h)
#pragma unroll
        for (int i = 0; i < 3; ++i) F[h][i] = 0;
    add_relaxed(H[0], H[1], y, z, law, F[0], F[1]);
    add_relaxed(H[0], H[2], x, z, law, F[0], F[2]);
    add_relaxed(H[1], H[2], x, y, law, F[1], F[2]);

    // sum over k and l of D_(ik)(jl) (sum of g g^T)_kl
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            real sum = 0;
#pragma unroll
            for (int k = 0; k < 3; ++k)
#pragma unroll
                for (int l = 0; l < 3; ++l)
                    sum += (real)law->stiffness[UPPER(VOIGT(i, k), VOIGT(j, l))] * center.gradients[VOIGT(k, l)];
            F[3][i] += (real)(1.0 / 3.0) * sum * H[3][j];
        }
}

#endif

// Moduli of elements are for D at Young's modulus 1. LAW_SCALE is what mu is divided by in the elements.
__device__ __forceinline__ real modulus_of(Law) {
    return (real)(1.0 / LAW_SCALE);
}

__device__ __forceinline__ Law law_of(Law law) {
    return law;
}
