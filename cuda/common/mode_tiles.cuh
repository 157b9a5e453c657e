// Sub-matrices of an element's stiffness by strain modes, from gradients that eight threads have
// written.

#pragma once

#include "common/strain_modes.cuh"

// [mode][direction][node], each times the root of the mode's weight; in the place of an eighth mode
// the normals of the three linear ones
#define NORMALS 7

// Writes mode q < 8 of the element whose coordinates have the coefficients X, if RELAXED with
// incompatible modes; the node at position m comes at place(m)
template <bool RELAXED, class Place>
__device__ __forceinline__ void write_mode(const real X[3][8], int q, real (*out)[3][8], Place place) {
    if (q >= STRAIN_MODES) return;
    const StrainMode mode = strain_mode<RELAXED>(X, mode_geometry(X), q, 0);
    const real root = sqrt(mode.weight / 512);
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real g[3];
        mode_gradient(mode, m, g);
#pragma unroll
        for (int c = 0; c < 3; ++c) out[q][c][place(m)] = root * g[c];
    }

    if (RELAXED && q >= 1 && q <= 3)
#pragma unroll
        for (int c = 0; c < 3; ++c) out[NORMALS][q - 1][c] = mode.normal[c];
}

// T += the products of the gradients at a and b
__device__ __forceinline__ void add_mode(const real (*gradients)[3][8], int q, int a, int b, real T[3][3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) T[i][j] += gradients[q][i][a] * gradients[q][j][b];
}

// K[3 i + j] += scale times K_e[3a + i][3b + j] at Young's modulus 1
__device__ __forceinline__ void add_mode_tile(
    const real (*gradients)[3][8], int a, int b, const Lame& material, real scale, real K[9]) {
    real linear[3][3] = {}, all[3][3] = {}, less[3][3] = {};
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        real own[3][3] = {};
        add_mode(gradients, 1 + d, a, b, own);
        const real trace = own[0][0] + own[1][1] + own[2][2];
        const real* normal = gradients[NORMALS][d];
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                linear[i][j] += own[i][j];
                less[i][j] += trace * (normal[i] * normal[j]);
            }
    }

    add_mode(gradients, 0, a, b, all);
#pragma unroll
    for (int q = 4; q < STRAIN_MODES; ++q) add_mode(gradients, q, a, b, all);

    const real lambda = (real)material.lambda, mu = (real)material.mu;
    const real plane = 2 * lambda * mu / (lambda + 2 * mu);
    const real trace = all[0][0] + all[1][1] + all[2][2] + linear[0][0] + linear[1][1] + linear[2][2];
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            const real sheared = all[j][i] + linear[j][i] - less[i][j] + (i == j ? trace : 0);
            K[3 * i + j] += scale * (lambda * all[i][j] + plane * linear[i][j] + mu * sheared);
        }
}
