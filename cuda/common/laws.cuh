// A law of elasticity in place of an isotropic material: a symmetric matrix D from strains, shear twice,
// to stresses, both as VOIGT orders them, at Young's modulus 1. Included after the elements, which define
// MU_SCALE.

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
    double coupling[21];   // (D_(ik)(jl) + D_(il)(jk)) / 2 at ij, kl
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

// Entry (p, q) of C_pq = (t t^T)_p : D^-1 (t t^T)_q for the tangents t of an element, where pairs of them are
// in the order of VOIGT and a mixed one is a b^T + b a^T: of those entries that planes of two tangents have.
__device__ __forceinline__ void plane_compliances(const real t[3][3], Law law, real C[6][6]) {
#pragma unroll
    for (int p = 0; p < 6; ++p) {
        const int a = p < 3 ? p : (p - 2) % 3, b = p < 3 ? p : (p - 1) % 3;
        real stress[6], strains[6], along[3][3];
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3;
            stress[i] = p < 3 ? t[a][i] * t[a][i] : 2 * t[a][i] * t[b][i];
            stress[VOIGT(i, j)] =
                p < 3 ? t[a][i] * t[a][j] : t[a][i] * t[b][j] + t[b][i] * t[a][j];
        }
#pragma unroll
        for (int r = 0; r < 6; ++r) strains[r] = (r < 3 ? 1 : (real)0.5) * row_times(law->compliance, r, stress);

        // Strains, shear once, times each tangent
#pragma unroll
        for (int c = 0; c < 3; ++c)
#pragma unroll
            for (int i = 0; i < 3; ++i) along[c][i] = times(strains, t[c], i, 0);
#pragma unroll
        for (int q = p; q < 6; ++q) {
            const int c = q < 3 ? q : (q - 2) % 3, d = q < 3 ? q : (q - 1) % 3;
            const real entry = dot(t[c], along[d], 0);
            C[p][q] = q < 3 ? entry : 2 * entry;
        }
    }
}

// Adds the forces of two hourglasses h in the plane of the tangents t, which no stress leaves: of the
// strains in the plane, see the isotropic add_relaxed. The stresses sum s_p (t t^T)_p strain the plane by C s;
// first, second and mixed are the places of t_0 t_0^T, t_1 t_1^T and t_0 t_1^T in C.
__device__ __forceinline__ void add_relaxed(
    const real h_0[3], const real h_1[3], const real t_0[3], const real t_1[3], const real C[6][6],
    int first, int second, int mixed, real f_0[3], real f_1[3]) {
    const real e_00 = dot(h_0, t_0, 0), e_11 = dot(h_1, t_1, 0), e_01 = dot(h_0, t_1, dot(h_1, t_0, 0));
    const real a = C[first][first], b = C[second][second], c = C[mixed][mixed];
    const real ab = C[first][second], ac = C[first][mixed], bc = C[second][mixed];
    // Cofactors
    const real A = b * c - bc * bc, AB = ac * bc - ab * c, AC = ab * bc - ac * b;
    const real B = a * c - ac * ac, BC = ab * ac - a * bc, CC = a * b - ab * ab;
    const real inverse = reciprocal(a * A + (ab * AB + ac * AC));
    const real s_00 = inverse * (A * e_00 + (AB * e_11 + AC * e_01));
    const real s_11 = inverse * (AB * e_00 + (B * e_11 + BC * e_01));
    const real s_01 = inverse * (AC * e_00 + (BC * e_11 + CC * e_01));
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        f_0[i] += s_00 * t_0[i] + s_01 * t_1[i];
        f_1[i] += s_11 * t_1[i] + s_01 * t_0[i];
    }
}

// A third of the forces of the hourglasses H: of three linear modes and, of xi eta zeta, the bilinear
// ones; per mean of det J
__device__ __forceinline__ void hourglass_forces(
    const Center& center, const real H[4][3], Law law, real F[4][3]) {
    const real *x = center.tangents[0], *y = center.tangents[1], *z = center.tangents[2];
    real C[6][6];
    plane_compliances(center.tangents, law, C);
#pragma unroll
    for (int h = 0; h < 3; ++h)
#pragma unroll
        for (int i = 0; i < 3; ++i) F[h][i] = 0;
    add_relaxed(H[0], H[1], y, z, C, 1, 2, 3, F[0], F[1]);
    add_relaxed(H[0], H[2], x, z, C, 0, 2, 4, F[0], F[2]);
    add_relaxed(H[1], H[2], x, y, C, 0, 1, 5, F[1], F[2]);

    real gradients[6], along[6];
#pragma unroll
    for (int p = 0; p < 6; ++p) gradients[p] = (real)(p < 3 ? 1.0 / 3.0 : 2.0 / 3.0) * center.gradients[p];
#pragma unroll
    for (int r = 0; r < 6; ++r) along[r] = row_times(law->coupling, r, gradients);
#pragma unroll
    for (int i = 0; i < 3; ++i) F[3][i] = times(along, H[3], i, 0);
}

#endif

// Moduli of elements are for D at Young's modulus 1.
__device__ __forceinline__ real modulus_of(Law) {
    return (real)(1.0 / MU_SCALE);
}

__device__ __forceinline__ Law law_of(Law law) {
    return law;
}
