// The stiffness of one element by its 8 threads: each evaluates one Gauss point or strain mode,
// then any of them makes any 3x3 sub-matrix from all.

#pragma once

#include "common/views.cuh"

#ifdef BY_MODES
#include "common/mode_tiles.cuh"
#endif

#define GAUSS_ABSCISSA 0.5773502691896258

// Gradients of the shape functions at the Gauss points, times sqrt(det J), of one element. The
// last row only shifts the next element to other banks of shared memory.
typedef double Gradients[9][3][8]; // [Gauss point][direction][local node]

#ifdef BY_MODES

// Writes F[q] of an element, and the normals
__device__ __forceinline__ void point_gradients(int q, unsigned element, const MeshView& mesh, Gradients& F) {
    unsigned node[8];
    double positions[3][8], X[3][8];
    load_nodes(mesh, element, node);
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);
    write_mode<true>(X, q, F, [](int m) { return NODE(m); });
}

// K[i][j] = K_e[3a + i][3b + j] at Young's modulus 1
__device__ __forceinline__ void stiffness_tile(
    const Gradients& F, int a, int b, const Lame& material, double K[3][3]) {
    double tile[9] = {};
    add_mode_tile(F, a, b, material, 1, tile);
#pragma unroll
    for (int k = 0; k < 9; ++k) K[k / 3][k % 3] = tile[k];
}

#else

// Bit d of the place of local node a in the reference element, VTK's order
__device__ __forceinline__ int side(int a, int d) {
    return (d == 0 ? a ^ a >> 1 : a >> d) & 1;
}

// dN_a/dxi_j of every node a at Gauss point q
__device__ __forceinline__ void reference_gradients(int q, double g[8][3]) {
    double weight[3][2]; // linear shape functions of each direction
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const double xi = side(q, d) ? GAUSS_ABSCISSA : -GAUSS_ABSCISSA;
        weight[d][0] = 0.5 - 0.5 * xi;
        weight[d][1] = 0.5 + 0.5 * xi;
    }

#pragma unroll
    for (int a = 0; a < 8; ++a)
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            const int k = (j + 1) % 3, l = (j + 2) % 3;
            const double across = 0.5 * weight[k][side(a, k)] * weight[l][side(a, l)];
            g[a][j] = side(a, j) ? across : -across;
        }
}

// Writes F[q] of an element
__device__ __forceinline__ void point_gradients(int q, unsigned element, const MeshView& mesh, Gradients& F) {
    double g[8][3];
    reference_gradients(q, g);

    double J[3][3] = {}; // dx_i/dxi_j
#pragma unroll
    for (int a = 0; a < 8; ++a) {
        const unsigned node = local_node(mesh, a, element);
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const double x = coordinate(mesh, i, node);
#pragma unroll
            for (int j = 0; j < 3; ++j) J[i][j] += x * g[a][j];
        }
    }

    double cofactor[3][3]; // det(J) dxi_j/dx_i at [i][j]
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            const int r = (i + 1) % 3, s = (i + 2) % 3, k = (j + 1) % 3, l = (j + 2) % 3;
            cofactor[i][j] = J[r][k] * J[s][l] - J[r][l] * J[s][k];
        }

    const double det = J[0][0] * cofactor[0][0] + J[0][1] * cofactor[0][1] + J[0][2] * cofactor[0][2];
    const double scale = 1.0 / sqrt(det); // sqrt(det) / det

#pragma unroll
    for (int a = 0; a < 8; ++a)
#pragma unroll
        for (int i = 0; i < 3; ++i)
            F[q][i][a] = scale * (cofactor[i][0] * g[a][0] + cofactor[i][1] * g[a][1] + cofactor[i][2] * g[a][2]);
}

// K[i][j] = K_e[3a + i][3b + j] at Young's modulus 1: the integral of B_a^T D B_b
__device__ __forceinline__ void stiffness_tile(
    const Gradients& F, int a, int b, const Lame& material, double K[3][3]) {
    double T[3][3] = {}; // integral of dN_a/dx_i dN_b/dx_j
#pragma unroll
    for (int q = 0; q < 8; ++q)
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int j = 0; j < 3; ++j) T[i][j] += F[q][i][a] * F[q][j][b];

    const double trace = T[0][0] + T[1][1] + T[2][2];
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j)
            K[i][j] = material.lambda * T[i][j] + material.mu * T[j][i] + (i == j ? material.mu * trace : 0.0);
}

#endif
