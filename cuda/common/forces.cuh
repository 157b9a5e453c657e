// The forces of one element, sum-factorised: two slabs of four Gauss points one after the other, to
// stay within the registers of a thread.

#pragma once

#include "common/opaque.cuh"
#include "common/trilinear.cuh"

// Derivatives at zeta: along xi where eta = -+gauss, along eta where xi = -+gauss
__device__ __forceinline__ void in_slab(
    const real V[8], real zeta, real gauss, real along_xi[2], real along_eta[2]) {
    const real a = V[1] + zeta * V[5], b = V[2] + zeta * V[6], ab = V[3] + zeta * V[7];
    along_xi[0] = a - gauss * ab;
    along_xi[1] = a + gauss * ab;
    along_eta[0] = b - gauss * ab;
    along_eta[1] = b + gauss * ab;
}

// The transpose of in_slab, added to F
__device__ __forceinline__ void add_slab(
    const real along_xi[2], const real along_eta[2], real zeta, real gauss, real F[8]) {
    const real a = along_xi[0] + along_xi[1], b = along_eta[0] + along_eta[1];
    const real ab = gauss * ((along_xi[1] - along_xi[0]) + (along_eta[1] - along_eta[0]));
    F[1] += a;
    F[2] += b;
    F[3] += ab;
    F[5] += zeta * a;
    F[6] += zeta * b;
    F[7] += zeta * ab;
}

// Derivatives along zeta at xi, where eta = -+gauss
__device__ __forceinline__ void upwards(const real V[8], real xi, real gauss, real along_zeta[2]) {
    const real c = V[4] + xi * V[5], bc = V[6] + xi * V[7];
    along_zeta[0] = c - gauss * bc;
    along_zeta[1] = c + gauss * bc;
}

// The transpose of upwards, added to F
__device__ __forceinline__ void add_upwards(const real along_zeta[2], real xi, real gauss, real F[8]) {
    const real c = along_zeta[0] + along_zeta[1], bc = along_zeta[1] - along_zeta[0];
    F[4] += c;
    F[5] += xi * c;
    F[6] += gauss * bc;
    F[7] += xi * gauss * bc;
}

// Coefficients F of the forces by those of coordinates X and displacements U
__device__ __forceinline__ void forces(
    const real X[3][8], const real U[3][8], real mu, real ratio, real F[3][8]) {
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
        // Opaque, or what does not depend on the slab moves out of the loop, where no register is free.
        const real gauss = opaque(GAUSS), zeta = k ? gauss : -gauss;
        // of x along xi and eta, of u, and the forces conjugate to those of u
        real xa[3][2], xb[3][2], ua[3][2], ub[3][2], fa[3][2] = {}, fb[3][2] = {};
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            in_slab(X[c], zeta, gauss, xa[c], xb[c]);
            in_slab(U[c], zeta, gauss, ua[c], ub[c]);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const real xi = i ? gauss : -gauss;
            real xc[3][2], uc[3][2], fc[3][2];
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                upwards(X[c], xi, gauss, xc[c]);
                upwards(U[c], xi, gauss, uc[c]);
            }
#pragma unroll
            for (int j = 0; j < 2; ++j) { // the Gauss point (i, j, k)
                real J[3][3], G[3][3], C[3][3], s[6];
#pragma unroll
                for (int c = 0; c < 3; ++c) {
                    J[c][0] = xa[c][j], J[c][1] = xb[c][i], J[c][2] = xc[c][j];
                    G[c][0] = ua[c][j], G[c][1] = ub[c][i], G[c][2] = uc[c][j];
                }
                const real det = cofactors(J, C);
                strain(G, C, s);
                stress(mu * reciprocal(det), ratio, s);
#pragma unroll
                for (int c = 0; c < 3; ++c) {
                    const real row[3] = {s[VOIGT(c, 0)], s[VOIGT(c, 1)], s[VOIGT(c, 2)]};
                    fa[c][j] = dot(row, C[0], fa[c][j]);
                    fb[c][i] = dot(row, C[1], fb[c][i]);
                    fc[c][j] = dot(row, C[2], 0);
                }
            }
#pragma unroll
            for (int c = 0; c < 3; ++c) add_upwards(fc[c], xi, gauss, F[c]);
        }
#pragma unroll
        for (int c = 0; c < 3; ++c) add_slab(fa[c], fb[c], zeta, gauss, F[c]);
    }
}

// Sets held components of nodal values to zero
__device__ __forceinline__ void clear_held(unsigned masks, real v[3][8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (masks >> (3 * m + c) & 1) v[c][m] = 0;
}
