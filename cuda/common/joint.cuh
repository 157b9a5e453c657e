// What one element adds to the block of a coarse matrix between two aggregates, and to the ground of one.
//
// A block is the sum over the points of the 2x2x2 Gauss rule of H_a : C : H_b det J, H_a the gradients of
// the six motions of the nodes in aggregate a: sums over these nodes of grad N and grad N x^T.

#pragma once

#include "common/trilinear.cuh"
#include "common/gradient.cuh"
#include "common/rigid.cuh"

#define JOINT_BLOCK 64

// Of the nodes of an element in an aggregate, at a point, in a column of shared memory a thread: places
// of the sums of dN/dx_c over the nodes free in i, and of the same times x_(i + 1 + k) modulo 3
#define T(i, c) (3 * (i) + (c))
#define W(i, k, c) (9 + 6 * (i) + 3 * (k) + (c))
#define GRADIENTS 27
typedef real (*Shared)[JOINT_BLOCK];
typedef const volatile real (*Positions)[JOINT_BLOCK]; // or the compiler would keep them in registers

// det J times the gradient of the node at position m, at the point (s_x, s_y, s_z)
__device__ __forceinline__ void gradient_at(int m, const real s[3], const real C[3][3], real g[3]) {
    const real x = m & 1 ? 1 : -1, y = m & 2 ? 1 : -1, z = m & 4 ? 1 : -1;
    const real along_x = 1 + x * s[0], along_y = 1 + y * s[1], along_z = 1 + z * s[2];
    const real N[3] = {x * along_y * along_z, y * along_x * along_z, z * along_x * along_y};
#pragma unroll
    for (int c = 0; c < 3; ++c) g[c] = N[0] * C[0][c] + N[1] * C[1][c] + N[2] * C[2][c];
}

// `nodes` has bit m for the node at position m; `masks` bit 3 m + i if it is held in i
__device__ __forceinline__ void sum_gradients(
    unsigned nodes, unsigned masks, Positions X, const real s[3], const real C[3][3], Shared sums) {
    real t[3] = {}, w[3][3] = {};
#pragma unroll 1
    for (int m = 0; m < 8; ++m) {
        if (!(nodes >> m & 1)) continue;
        real g[3];
        gradient_at(m, s, C, g);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            t[c] += g[c];
#pragma unroll
            for (int k = 0; k < 3; ++k) w[k][c] += X[8 * k + m][threadIdx.x] * g[c];
        }
    }
    // Of held nodes one by one, so that what is held throughout has sums of zero and not of rounding.
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            sums[T(i, c)][threadIdx.x] = masks ? 0 : t[c];
#pragma unroll
            for (int k = 0; k < 2; ++k) sums[W(i, k, c)][threadIdx.x] = masks ? 0 : w[(i + 1 + k) % 3][c];
        }
    if (!masks) return;
#pragma unroll 1
    for (int m = 0; m < 8; ++m) {
        if (!(nodes >> m & 1)) continue;
        real g[3];
        gradient_at(m, s, C, g);
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            if (masks >> (3 * m + i) & 1) continue;
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                sums[T(i, c)][threadIdx.x] += g[c];
#pragma unroll
                for (int k = 0; k < 2; ++k)
                    sums[W(i, k, c)][threadIdx.x] += X[8 * ((i + 1 + k) % 3) + m][threadIdx.x] * g[c];
            }
        }
    }
}

// The stress of a mode, times det J: it moves component i along t[i], or i and j along -w[i][0] and w[j][1]
__device__ __forceinline__ void stress_of_mode(
    int mode, const Shared sums, real mu, real ratio, real stress[3][3]) {
    real H[3][3] = {};
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        if (mode < 3) {
            H[mode][c] = sums[T(mode, c)][threadIdx.x];
        } else {
            const int i = (mode + 1) % 3, j = (mode + 2) % 3;
            H[i][c] = -sums[W(i, 0, c)][threadIdx.x];
            H[j][c] = sums[W(j, 1, c)][threadIdx.x];
        }
    }
    const real pressure = ratio * (H[0][0] + H[1][1] + H[2][2]);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) stress[i][j] = mu * (H[i][j] + H[j][i] + (i == j ? pressure : 0));
}

// K[a][b] += the work of the stress of each mode of `rows` in each mode of `columns`
__device__ __forceinline__ void add_work(
    const Shared rows, const Shared columns, real mu, real ratio, real K[MODES][MODES]) {
#pragma unroll
    for (int a = 0; a < MODES; ++a) {
        real s[3][3];
        stress_of_mode(a, rows, mu, ratio, s);
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                K[a][i] += s[i][c] * columns[T(i, c)][threadIdx.x];
                K[a][3 + (i + 2) % 3] -= s[i][c] * columns[W(i, 0, c)][threadIdx.x];
                K[a][3 + (i + 1) % 3] += s[i][c] * columns[W(i, 1, c)][threadIdx.x];
            }
    }
}

// What all threads know of the mesh
#define MESH_PARAMETERS                                                                       \
    unsigned n_aggregates, unsigned n_elements, unsigned n_nodes,                             \
    const unsigned* __restrict__ of,           /* [n_nodes], the aggregate */                 \
    const unsigned* __restrict__ connectivity, /* [8][n_elements] */                          \
    const double* __restrict__ coordinates,    /* [3][n_nodes] */                             \
    const double* __restrict__ centres,        /* [3][n_aggregates] */                        \
    const unsigned char* __restrict__ held,    /* [n_nodes], bit i for component i */         \
    double mu, double ratio,                   /* Lame's mu at modulus 1, lambda / mu */      \
    const double* __restrict__ moduli          /* [n_elements] */
#define MESH n_aggregates, n_elements, n_nodes, of, connectivity, coordinates, centres, held, mu, ratio, moduli

// K += what element e couples of the motions of aggregate `row` and of `column`, or of all its nodes
// where they are the same, all about the centre of `row`
__device__ __forceinline__ void add_element(
    unsigned e, unsigned row, unsigned column, MESH_PARAMETERS, volatile real (*X)[JOINT_BLOCK], Shared rows, Shared columns,
    real K[MODES][MODES]) {
    unsigned in_row = 0, in_column = 0, masks = 0;
    {
        unsigned node[8];
        load_nodes(connectivity, n_elements, e, node);
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            const unsigned owner = of[node[m]];
            double r[3];
            arm(coordinates, n_nodes, node[m], centres, n_aggregates, row, r);
            in_row |= (owner == row ? 1u : 0u) << m;
            in_column |= (row == column || owner == column ? 1u : 0u) << m;
            masks |= (unsigned)held[node[m]] << 3 * m;
#pragma unroll
            for (int i = 0; i < 3; ++i) X[8 * i + m][threadIdx.x] = (real)r[i];
        }
    }
    const real scale = (real)(mu / 512 * moduli[e]);
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const real s[3] = {q & 1 ? GAUSS : -GAUSS, q & 2 ? GAUSS : -GAUSS, q & 4 ? GAUSS : -GAUSS};
        const real sides[3][2] = {SIDES(s[0]), SIDES(s[1]), SIDES(s[2])};
        real J[3][3] = {}, C[3][3];
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            real N[3];
            reference_gradient(m, sides, N);
#pragma unroll
            for (int i = 0; i < 3; ++i)
#pragma unroll
                for (int k = 0; k < 3; ++k) J[i][k] += X[8 * i + m][threadIdx.x] * N[k];
        }
        const real weight = scale * reciprocal(cofactors(J, C));
        sum_gradients(in_row, masks, X, s, C, rows);
        sum_gradients(in_column, masks, X, s, C, columns);
        add_work(rows, columns, weight, (real)ratio, K);
    }
}
