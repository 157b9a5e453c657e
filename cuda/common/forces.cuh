// The forces of one element, sum-factorized, in two slabs of four Gauss points. What the slabs need
// waits in shared memory, or a thread would need twice the registers. BLOCK is defined before, or
// LANES and LANE: threads that share slabs, and the number of one among them.
//
// In the slab at zeta = -+gauss a field has the derivatives a + eta ab along xi and b + xi ab along
// eta; those along zeta are the same in both.

#pragma once

#include "common/trilinear.cuh"

#ifndef LANES
#define LANES BLOCK
#define LANE threadIdx.x
#endif

// What mu is to be divided by
#ifndef MU_SCALE
#define MU_SCALE 512
#endif

// [slab][component][a, b, ab][thread]; volatile, or the compiler would keep them in registers.
typedef volatile real Slabs[2][3][3][LANES];

// Component c, of nodal values v: its slabs, and its derivatives along zeta at [xi][eta]
template <class T>
__device__ __forceinline__ void to_derivatives(const T v[8], int c, Slabs& slabs, real up[2][2]) {
    real V[8];
    to_coefficients(v, V);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const real at = k ? GAUSS : -GAUSS;
#pragma unroll
        for (int p = 0; p < 3; ++p) slabs[k][c][p][LANE] = V[p + 1] + at * V[p + 5];
        const real along_zeta = V[4] + at * V[5], mixed = V[6] + at * V[7];
        up[k][0] = along_zeta - GAUSS * mixed;
        up[k][1] = along_zeta + GAUSS * mixed;
    }
}

// Derivatives of coordinates x and displacements u in slab k: along xi at eta = -+gauss, along eta
// at xi = -+gauss. Both fields in one loop: one after the other takes registers that there are not.
__device__ __forceinline__ void in_slab(
    const Slabs& x, const Slabs& u, int k,
    real xa[3][2], real xb[3][2], real ua[3][2], real ub[3][2]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real xs[3], us[3];
#pragma unroll
        for (int p = 0; p < 3; ++p) {
            xs[p] = x[k][c][p][LANE];
            us[p] = u[k][c][p][LANE];
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const real at = i ? GAUSS : -GAUSS;
            xa[c][i] = xs[0] + at * xs[2];
            xb[c][i] = xs[1] + at * xs[2];
            ua[c][i] = us[0] + at * us[2];
            ub[c][i] = us[1] + at * us[2];
        }
    }
}

// The forces of slab k, conjugate to the slabs of u, in place of those of x; and those conjugate to
// the derivatives of u along zeta, added to `up`. xc and uc are the derivatives along zeta; a
// material is that of an overload of stress().
template <class Material>
__device__ __forceinline__ void add_slab(
    int k, const Slabs& u, const real xc[3][2][2], const real uc[3][2][2], real mu, Material material,
    Slabs& x, real up[3][2][2]) {
    real xa[3][2], xb[3][2], ua[3][2], ub[3][2], fa[3][2] = {}, fb[3][2] = {};
    in_slab(x, u, k, xa, xb, ua, ub);

#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) { // the Gauss point (i, j, k)
            real J[3][3], G[3][3], C[3][3], s[6];
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                J[c][0] = xa[c][j], J[c][1] = xb[c][i], J[c][2] = xc[c][i][j];
                G[c][0] = ua[c][j], G[c][1] = ub[c][i], G[c][2] = uc[c][i][j];
            }

            const real det = cofactors(J, C);
            strain(G, C, s);
            stress(mu * reciprocal(det), material, s);

#pragma unroll
            for (int c = 0; c < 3; ++c) {
                const real row[3] = {s[VOIGT(c, 0)], s[VOIGT(c, 1)], s[VOIGT(c, 2)]};
                fa[c][j] = dot(row, C[0], fa[c][j]);
                fb[c][i] = dot(row, C[1], fb[c][i]);
                up[c][i][j] = dot(row, C[2], up[c][i][j]);
            }
        }

#pragma unroll
    for (int c = 0; c < 3; ++c) {
        x[k][c][0][LANE] = fa[c][0] + fa[c][1];
        x[k][c][1][LANE] = fb[c][0] + fb[c][1];
        x[k][c][2][LANE] = (fa[c][1] - fa[c][0]) + (fb[c][1] - fb[c][0]); // to be times gauss
    }
}

// What the forces do along u
__device__ __forceinline__ double work(
    const Slabs& u, const real uc[3][2][2], const Slabs& forces, const real up[3][2][2]) {
    double sum = 0.0;
#pragma unroll
    for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int k = 0; k < 2; ++k) {
#pragma unroll
            for (int p = 0; p < 3; ++p) {
                const real conjugate = forces[k][c][p][LANE];
                const real force = p == 2 ? GAUSS * conjugate : conjugate;
                sum += (double)u[k][c][p][LANE] * (double)force;
            }
#pragma unroll
            for (int j = 0; j < 2; ++j) sum += (double)uc[c][k][j] * (double)up[c][k][j];
        }
    return sum;
}

// The transpose of to_derivatives: nodal forces of component c
__device__ __forceinline__ void to_nodes(const Slabs& forces, int c, const real up[2][2], real f[8]) {
    real F[2][3]; // sums over the slabs, and differences
#pragma unroll
    for (int p = 0; p < 3; ++p) {
        const real low = forces[0][c][p][LANE], high = forces[1][c][p][LANE];
        F[0][p] = low + high;
        F[1][p] = high - low;
    }

    const real up_low = up[0][0] + up[0][1], mixed_low = up[0][1] - up[0][0];
    const real up_high = up[1][0] + up[1][1], mixed_high = up[1][1] - up[1][0];

    // Coefficients by position, those of two and three bits to be times gauss and its square.
    const real f1 = F[0][0], f2 = F[0][1], f3 = F[0][2], f4 = up_low + up_high;
    const real f5 = F[1][0] + (up_high - up_low), f6 = F[1][1] + (mixed_low + mixed_high);
    const real f7 = F[1][2] + (mixed_high - mixed_low);

#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const real xi = i ? GAUSS : -GAUSS, along_xi = i ? f1 : -f1;
        const real eta = f2 + xi * f3, zeta = f4 + xi * f5, mixed = GAUSS * (f6 + xi * f7);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const real even = j ? along_xi + eta : along_xi - eta, odd = j ? zeta + mixed : zeta - mixed;
            f[i + 2 * j] = even - odd;
            f[i + 2 * j + 4] = even + odd;
        }
    }
}
