// Trilinear fields on a hexahedron, and the elasticity at one Gauss point; all in registers.
//
// A component is held by 8 times the coefficients of its polynomial:
//   8 v(xi, eta, zeta) = sum over m of V[m] xi^(bit 0 of m) eta^(bit 1) zeta^(bit 2).
// Sums and differences of the nodal values give them without a multiplication. A derivative takes
// the four with the bit of its direction; the constant one, V[0], is never used.
//
// Derivatives are therefore 8 times what they should be, so det(J) is 512 times, and whatever is a
// product of three derivatives as well: users divide mu by 512 once.

#pragma once

#define GAUSS ((real)0.5773502691896258)

// VTK's local node at position m of the 2x2x2 grid of nodes
#define NODE(m) ((m) ^ ((m) >> 1 & 1))

// Place of component (i, j) of a symmetric tensor in the order xx, yy, zz, yz, xz, xy
#define VOIGT(i, j) ((i) == (j) ? (i) : 6 - (i) - (j))

// The nodes of element e, by position
__device__ __forceinline__ void load_nodes(
    const unsigned* __restrict__ connectivity, // [8][n_elements]
    unsigned n_elements, unsigned e, unsigned node[8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m) node[m] = connectivity[(size_t)NODE(m) * n_elements + e];
}

// v[8], by position: nodal values in, coefficients out
__device__ __forceinline__ void to_coefficients(real v[8]) {
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2)
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (!(m & bit)) {
                const real near = v[m], far = v[m + bit];
                v[m] = near + far;
                v[m + bit] = far - near;
            }
}

// The transpose of to_coefficients
__device__ __forceinline__ void to_nodes(real f[8]) {
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2)
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (!(m & bit)) {
                const real even = f[m], odd = f[m + bit];
                f[m] = even - odd;
                f[m + bit] = even + odd;
            }
}

// Coefficients of the coordinates of an element. Those of its first node are taken off in double
// precision, so that an element far from the origin is as exact as one at it.
__device__ __forceinline__ void load_geometry(
    const unsigned node[8],
    const double* __restrict__ coordinates, // [3][n_nodes]
    unsigned n_nodes, real X[3][8]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const double* __restrict__ plane = coordinates + (size_t)c * n_nodes;
        const double first = plane[node[0]];
#pragma unroll
        for (int m = 0; m < 8; ++m) X[c][m] = (real)(plane[node[m]] - first);
        to_coefficients(X[c]);
    }
}

// A nodal vector at the nodes of an element
__device__ __forceinline__ void load_field(
    const unsigned node[8],
    const real* __restrict__ u, // [3][n_nodes]
    unsigned n_nodes, real U[3][8]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const real* __restrict__ plane = u + (size_t)c * n_nodes;
#pragma unroll
        for (int m = 0; m < 8; ++m) U[c][m] = plane[node[m]];
    }
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

// 1 / x for a normal number
__device__ __forceinline__ double reciprocal(double x) {
#ifdef __CUDA_ARCH__
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); // 20 bits, doubled twice
    y = fma(fma(-x, y, 1.0), y, y);
    return fma(fma(-x, y, 1.0), y, y);
#else
    return 1.0 / x;
#endif
}

__device__ __forceinline__ float reciprocal(float x) {
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); // within 1 ulp
    return y;
#else
    return 1.0f / x;
#endif
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
