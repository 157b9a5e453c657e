// The geometry of one element in two slabs of four Gauss points, for one unknown per node. BLOCK is
// defined before.

#pragma once

#include "common/points.cuh"

// The coefficients along xi and eta of the coordinates, [slab][component][a, b, ab][thread], as
// common/forces.cuh has them; volatile, or the compiler would keep them in registers
typedef volatile real Slabs[2][3][3][BLOCK];

// The derivative along zeta at [xi][eta] of the field with coefficients V
__device__ __forceinline__ void along_zeta(const real V[8], real up[2][2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const real at = i ? GAUSS : -GAUSS;
        const real middle = V[4] + at * V[5], mixed = V[6] + at * V[7];
        up[i][0] = middle - GAUSS * mixed;
        up[i][1] = middle + GAUSS * mixed;
    }
}

// Component c of the coordinates: its slabs, and its derivatives along zeta at [xi][eta]
__device__ __forceinline__ void to_slabs(const real V[8], int c, Slabs& slabs, real up[2][2]) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const real at = k ? GAUSS : -GAUSS;
#pragma unroll
        for (int p = 0; p < 3; ++p) slabs[k][c][p][threadIdx.x] = V[p + 1] + at * V[p + 5];
    }
    along_zeta(V, up);
}

// The derivatives along xi at [eta], and along eta at [xi], in a slab of coefficients a, b, ab
__device__ __forceinline__ void in_slab(real a, real b, real ab, real along_xi[2], real along_eta[2]) {
    along_xi[0] = a - GAUSS * ab, along_xi[1] = a + GAUSS * ab;
    along_eta[0] = b - GAUSS * ab, along_eta[1] = b + GAUSS * ab;
}

// Stretches the element whose coordinates have these slabs and derivatives along zeta
__device__ __forceinline__ void stretch_slabs(
    const MeshView& mesh, unsigned e,
    const real* __restrict__ stretches, // [3][n_elements]
    Slabs& slabs, real up[3][2][2]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const real factor = stretches[(size_t)c * mesh.n_elements + e];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
#pragma unroll
            for (int p = 0; p < 3; ++p) slabs[k][c][p][threadIdx.x] = factor * slabs[k][c][p][threadIdx.x];
            up[c][k][0] *= factor, up[c][k][1] *= factor;
        }
    }
}
