// Trilinear fields on a hexahedron, and the elasticity at one Gauss point; all in registers.
//
// A component is held by 8 times the coefficients of its polynomial:
//   8 v(xi, eta, zeta) = sum over m of V[m] xi^(bit 0 of m) eta^(bit 1) zeta^(bit 2).
// A derivative takes the four with the bit of its direction; the constant one, V[0], is never made.
//
// Derivatives are therefore 8 times what they should be, so det(J) is 512 times, and whatever is a
// product of three derivatives as well: users divide mu by 512 once.

#pragma once

#include "common/reciprocal.cuh"
#include "common/views.cuh"

#define GAUSS ((real)0.5773502691896258)

// VTK's local node at position m of the 2x2x2 grid of nodes
#define NODE(m) ((m) ^ ((m) >> 1 & 1))

// Place of component (i, j) of a symmetric tensor in the order xx, yy, zz, yz, xz, xy
#define VOIGT(i, j) ((i) == (j) ? (i) : 6 - (i) - (j))

// The nodes of element e, by position
__device__ __forceinline__ void load_nodes(const MeshView& mesh, unsigned e, unsigned node[8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m) node[m] = local_node(mesh, NODE(m), e);
}

// The coordinates of these
__device__ __forceinline__ void load_positions(const MeshView& mesh, const unsigned node[8], double X[3][8]) {
#pragma unroll
    for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int m = 0; m < 8; ++m) X[c][m] = coordinate(mesh, c, node[m]);
}

// Coefficients V of nodal values v, by position. Differences come first, in the precision of v: what
// all nodes share, such as the distance from the origin, leaves no rounding behind.
template <class T>
__device__ __forceinline__ void to_coefficients(const T v[8], real V[8]) {
    real edge[4][3]; // along xi, eta, zeta from where the other two are lowest on
#pragma unroll
    for (int m = 0; m < 4; ++m) edge[m][0] = (real)(v[2 * m + 1] - v[2 * m]);
#pragma unroll
    for (int m = 0; m < 2; ++m) {
        edge[m][1] = (real)(v[4 * m + 2] - v[4 * m]);
        edge[m][2] = (real)(v[2 * m + 4] - v[2 * m]);
    }

    const real low = edge[1][0] - edge[0][0], high = edge[3][0] - edge[2][0]; // at zeta
    const real below = edge[0][0] + edge[1][0], above = edge[2][0] + edge[3][0];
    V[1] = below + above, V[5] = above - below;
    V[3] = low + high, V[7] = high - low;

    const real bottom = 2 * edge[0][1] + low, top = 2 * edge[1][1] + high;
    V[2] = bottom + top, V[6] = top - bottom;
    V[4] = 2 * (edge[0][2] + edge[1][2]) + V[5];
}

// The components of a nodal vector at the nodes of an element
template <class T>
__device__ __forceinline__ void load_field(
    const unsigned node[8],
    const T* __restrict__ u, // [3][n_nodes]
    unsigned n_nodes, T U[3][8]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const T* __restrict__ plane = u + (size_t)c * n_nodes;
#pragma unroll
        for (int m = 0; m < 8; ++m) U[c][m] = plane[node[m]];
    }
}

// Coefficients of all components
template <class T>
__device__ __forceinline__ void to_coefficients(const T values[3][8], real U[3][8]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) to_coefficients(values[c], U[c]);
}

// All three derivatives of a component at a point
__device__ __forceinline__ void derivatives(const real V[8], real xi, real eta, real zeta, real d[3]) {
    d[0] = V[1] + eta * V[3] + zeta * (V[5] + eta * V[7]);
    d[1] = V[2] + xi * V[3] + zeta * (V[6] + xi * V[7]);
    d[2] = V[4] + xi * V[5] + eta * (V[6] + xi * V[7]);
}

// a . b + c
__device__ __forceinline__ real dot(const real a[3], const real b[3], real c) {
    return a[0] * b[0] + (a[1] * b[1] + (a[2] * b[2] + c));
}

// Cofactors C[k][i] = det(J) dxi_k/dx_i of J[i][k] = dx_i/dxi_k; returns det(J)
__device__ __forceinline__ real cofactors(const real J[3][3], real C[3][3]) {
#pragma unroll
    for (int k = 0; k < 3; ++k)
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const int r = (i + 1) % 3, s = (i + 2) % 3, a = (k + 1) % 3, b = (k + 2) % 3;
            C[k][i] = J[r][a] * J[s][b] - J[r][b] * J[s][a];
        }
    return J[0][0] * C[0][0] + (J[1][0] * C[0][1] + J[2][0] * C[0][2]);
}

// det(J) times the strain, shear twice, of the gradient G[i][k] = du_i/dxi_k
__device__ __forceinline__ void strain(const real G[3][3], const real C[3][3], real e[6]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        e[i] = G[i][0] * C[0][i] + G[i][1] * C[1][i] + G[i][2] * C[2][i];
        e[VOIGT(i, j)] = G[i][0] * C[0][j] + G[i][1] * C[1][j] + G[i][2] * C[2][j]
                       + G[j][0] * C[0][i] + G[j][1] * C[1][i] + G[j][2] * C[2][i];
    }
}

// From strain, shear twice, to stress, in place; ratio = lambda / mu
__device__ __forceinline__ void stress(real mu, real ratio, real e[6]) {
    const real pressure = mu * (ratio * (e[0] + e[1] + e[2])), twice_mu = mu + mu;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        e[i] = twice_mu * e[i] + pressure;
        e[i + 3] *= mu;
    }
}
