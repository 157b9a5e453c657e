// (k L + c M) u of one element by modes of the gradient. BLOCK and STRETCHED are defined before.

#pragma once

#include "common/conduction_modes.cuh"
#include "common/opaque.cuh"

#define RESIDENT_BLOCKS 4

// Adds 4096 times the integrals of the shape functions to `shares`, by position: of two Gauss points
// along eta at xi and zeta, in the element whose coordinates have the coefficients X
__device__ __forceinline__ void add_shares(const real X[3][8], bool xi, bool zeta, real shares[8]) {
    const real s = xi ? GAUSS : -GAUSS, t = zeta ? GAUSS : -GAUSS, near = 1 + GAUSS, far = 1 - GAUSS;
    real below[3][3], above[3][3], C[3][3]; // J at the two
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const real along_xi = X[c][1] + t * X[c][5], xi_eta = GAUSS * (X[c][3] + t * X[c][7]);
        const real along_zeta = X[c][4] + s * X[c][5], eta_zeta = GAUSS * (X[c][6] + s * X[c][7]);
        below[c][0] = along_xi - xi_eta, above[c][0] = along_xi + xi_eta;
        below[c][1] = above[c][1] = X[c][2] + s * X[c][3] + t * (X[c][6] + s * X[c][7]);
        below[c][2] = along_zeta - eta_zeta, above[c][2] = along_zeta + eta_zeta;
    }

    const real lower = cofactors(below, C), upper = cofactors(above, C);
    const real low = near * lower + far * upper, high = far * lower + near * upper;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const real factor = (xi == (i == 1) ? near : far) * (zeta == (k == 1) ? near : far);
            shares[i + 4 * k] += factor * low;
            shares[i + 4 * k + 2] += factor * high;
        }
}

// Adds the product of a capacity of element e to F; returns what it does along x. What it takes, the
// nodes too, is read again: kept from before, it would take half as many registers more.
__device__ __forceinline__ double add_capacity(
    const MeshView& mesh, unsigned e, real capacity,
    const real* __restrict__ x, // [n_nodes]
    unsigned node[8], real F[8]) {
    real X[3][8], values[8], shares[8] = {};
    load_element(mesh, opaque(e), node, X);
#pragma unroll 1
    for (int q = 0; q < 4; ++q) add_shares(X, q & 1, q & 2, shares);

    double sum = 0.0;
    load_values(node, x, values);
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const real stored = (real)(1.0 / 4096) * capacity * shares[m] * values[m];
        sum += (double)stored * (double)values[m];
        F[m] += stored;
    }
    return sum;
}

// The product F at the nodes of element e, by position, of their values; with WITH_DOT returns its
// part of x . y, else 0
template <bool WITH_DOT>
__device__ __forceinline__ double element_product(
    const MeshView& mesh, unsigned e, unsigned node[8],
    const real* __restrict__ stretches, // [3][n_elements]; null where not STRETCHED
    real conductivity, real capacity,
    const real* __restrict__ x, // [n_nodes]
    const real values[8], real F[8]) {
    double positions[3][8];
    real X[3][8], U[8];
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);
#if STRETCHED
#pragma unroll
    for (int c = 0; c < 3; ++c) stretch(stretches[(size_t)c * mesh.n_elements + e], X[c]);
#endif
    to_coefficients(values, U);
    const real work = conduct(conductor(X), U, (real)(1.0 / 64) * conductivity, F);
    double sum = WITH_DOT ? (double)work : 0.0;
    if (capacity != 0) { // 0 everywhere in steady conduction
        const double stored = add_capacity(mesh, e, capacity, x, node, F);
        if (WITH_DOT) sum += stored;
    }
    return sum;
}
