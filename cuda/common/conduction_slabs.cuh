// (k L + c M) u of one element by the 2x2x2 Gauss rule, its points in two slabs. BLOCK and STRETCHED
// are defined before.

#pragma once

#include "common/slabs.cuh"

#define RESIDENT_BLOCKS (sizeof(real) == 8 ? 3 : 5)

// Adds the fluxes of slab k to F, conjugate to the coefficients U, and to those along zeta in `up`;
// weights are det J at [eta][xi]. Returns what the fluxes do along U.
template <bool WITH_DOT>
__device__ __forceinline__ double add_slab(
    int k, const Slabs& x, const real x_up[3][2][2], const real U[8], const real u_up[2][2],
    real conductivity, real F[8], real up[2][2], real weights[2][2]) {
    const real at = k ? GAUSS : -GAUSS;
    real xa[3][2], xb[3][2], ua[2], ub[2], fa[2] = {}, fb[2] = {};
#pragma unroll
    for (int c = 0; c < 3; ++c)
        in_slab(x[k][c][0][threadIdx.x], x[k][c][1][threadIdx.x], x[k][c][2][threadIdx.x], xa[c], xb[c]);
    in_slab(U[1] + at * U[5], U[2] + at * U[6], U[3] + at * U[7], ua, ub);

    double sum = 0.0;
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) { // the Gauss point (i, j, k)
            real J[3][3], C[3][3], h[3];
#pragma unroll
            for (int c = 0; c < 3; ++c) J[c][0] = xa[c][j], J[c][1] = xb[c][i], J[c][2] = x_up[c][i][j];
            weights[j][i] = cofactors(J, C);
            const real scale = conductivity * reciprocal(weights[j][i]);
#pragma unroll
            for (int c = 0; c < 3; ++c) h[c] = ua[j] * C[0][c] + ub[i] * C[1][c] + u_up[i][j] * C[2][c];
            // From gradients: what all nodes share does no work, and leaves no rounding behind.
            if (WITH_DOT) sum += (double)scale * (double)dot(h, h, 0);
#pragma unroll
            for (int c = 0; c < 3; ++c) h[c] *= scale;
            fa[j] = dot(h, C[0], fa[j]);
            fb[i] = dot(h, C[1], fb[i]);
            up[i][j] = dot(h, C[2], up[i][j]);
        }

    const real a = fa[0] + fa[1], b = fb[0] + fb[1], ab = GAUSS * ((fa[1] - fa[0]) + (fb[1] - fb[0]));
    F[1] += a, F[2] += b, F[3] += ab;
    F[5] += at * a, F[6] += at * b, F[7] += at * ab;
    return sum;
}

// Adds what is conjugate to the derivatives along zeta to F
__device__ __forceinline__ void add_along_zeta(const real up[2][2], real F[8]) {
    const real low = up[0][0] + up[0][1], high = up[1][0] + up[1][1];
    const real below = up[0][1] - up[0][0], above = up[1][1] - up[1][0];
    F[4] += low + high;
    F[5] += GAUSS * (high - low);
    F[6] += GAUSS * (below + above);
    F[7] += GAUSS * GAUSS * (above - below);
}

// Adds what nodes have of the weights at [eta][xi] of slab k, by 8 N
__device__ __forceinline__ void add_shares(int k, const real weights[2][2], real shares[8]) {
    const real near = 1 + GAUSS, far = 1 - GAUSS;
    real along[2][2]; // [eta][xi], xi of nodes
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        along[j][0] = near * weights[j][0] + far * weights[j][1];
        along[j][1] = far * weights[j][0] + near * weights[j][1];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const real share = (j ? far : near) * along[0][i] + (j ? near : far) * along[1][i];
            shares[i + 2 * j] += (k ? far : near) * share;
            shares[i + 2 * j + 4] += (k ? near : far) * share;
        }
}

// The transpose of to_coefficients, in place: nodal values by position
__device__ __forceinline__ void to_nodes(real F[8]) {
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2)
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (!(m & bit)) {
                const real low = F[m], high = F[m | bit];
                F[m] = low - high;
                F[m | bit] = low + high;
            }
}

// The product F at the nodes of element e, by position, of their values; with WITH_DOT returns its
// part of x . y, else 0
template <bool WITH_DOT>
__device__ __forceinline__ double element_product(
    const MeshView& mesh, unsigned e, const unsigned node[8],
    const real* __restrict__ stretches, // [3][n_elements]; null where not STRETCHED
    real conductivity, real capacity, const real*, const real values[8], real F[8]) {
    real U[8], shares[8] = {};
    __shared__ Slabs x_slabs;
    real x_up[3][2][2], u_up[2][2], f_up[2][2] = {};
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        double positions[8];
        real X[8];
#pragma unroll
        for (int m = 0; m < 8; ++m) positions[m] = coordinate(mesh, c, node[m]);
        to_coefficients(positions, X);
        to_slabs(X, c, x_slabs, x_up[c]);
    }
#if STRETCHED
    stretch_slabs(mesh, e, stretches, x_slabs, x_up);
#endif
    to_coefficients(values, U);
    along_zeta(U, u_up);

#pragma unroll
    for (int m = 0; m < 8; ++m) F[m] = 0;
    conductivity *= (real)(1.0 / 512), capacity *= (real)(1.0 / 4096);
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        real weights[2][2];
        sum += add_slab<WITH_DOT>(k, x_slabs, x_up, U, u_up, conductivity, F, f_up, weights);
        if (capacity != 0) add_shares(k, weights, shares); // 0 everywhere in steady conduction
    }
    add_along_zeta(f_up, F);
    to_nodes(F);

#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const real stored = capacity * shares[m] * values[m];
        if (WITH_DOT) sum += (double)stored * (double)values[m];
        F[m] += stored;
    }
    return sum;
}
