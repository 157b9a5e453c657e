// What one element adds to the block of a coarse matrix between two aggregates, and to the ground
// of one.
//
// A block is the sum over the points of the 2x2x2 Gauss rule, or over strain modes, of H_a : C :
// H_b det J, H_a the gradients of the six motions of the nodes in aggregate a: sums over these
// nodes of grad N and grad N x^T.

#pragma once

#ifdef BY_MODES
#include "common/strain_modes.cuh"
#else
#include "common/gradient.cuh"
#endif
#include "common/trilinear.cuh"
#include "common/rigid.cuh"

#define JOINT_BLOCK 64

// Lanes that share an element, one per node, one per Gauss point or mode, and how many such groups
// there are
#define LANES 8
#define GROUPS (JOINT_BLOCK / LANES)

// Of the nodes of an element in an aggregate, at a point, in a column of shared memory a thread:
// places of the sums of dN/dx_c over the nodes free in i, and of the same times x_(i + 1 + k)
// modulo 3
#define T(i, c) (3 * (i) + (c))
#define W(i, k, c) (9 + 6 * (i) + 3 * (k) + (c))
#define GRADIENTS 27
typedef real (*Shared)[JOINT_BLOCK];
// Nodes of the elements of all groups, 8 i + m for component i at position m
typedef real (*Positions)[GROUPS];

// An element as its eight lanes share it: bit m for the node at position m
struct Element {
    unsigned in_row, in_column; // which aggregate moves it
    unsigned held[3];           // by component
    real mu;                    // Lame's mu of it over 512
};

#ifndef BY_MODES
// 8 dN_m/dxi of the node at position m, at the point s
__device__ __forceinline__ void reference_gradient_at(int m, const real s[3], real N[3]) {
    const real sides[3][2] = {SIDES(s[0]), SIDES(s[1]), SIDES(s[2])};
    reference_gradient(m, sides, N);
}

// det J times its gradient
__device__ __forceinline__ void gradient_at(int m, const real s[3], const real C[3][3], real g[3]) {
    real N[3];
    reference_gradient_at(m, s, N);
#pragma unroll
    for (int c = 0; c < 3; ++c) g[c] = N[0] * C[0][c] + N[1] * C[1][c] + N[2] * C[2][c];
}
#endif

// Writes a lane's sums of `gradient` over `nodes`, which has bit m for the node at position m, as
// `held` has by component
template <class Gradient>
__device__ __forceinline__ void sum_gradients(
    unsigned nodes, const unsigned held[3], const Positions X, Gradient gradient, Shared sums) {
    const unsigned group = threadIdx.x / LANES;
    real t[3] = {}, w[3][3] = {};
#pragma unroll 1
    for (unsigned rest = nodes; rest; rest &= rest - 1) {
        const int m = __ffs(rest) - 1;
        real g[3];
        gradient(m, g);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            t[c] += g[c];
#pragma unroll
            for (int k = 0; k < 3; ++k) w[k][c] += X[8 * k + m][group] * g[c];
        }
    }

    // Of held nodes one by one, so that what is held throughout has sums of zero and not of
    // rounding.
    const bool is_held = nodes & (held[0] | held[1] | held[2]);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            sums[T(i, c)][threadIdx.x] = is_held ? 0 : t[c];
#pragma unroll
            for (int k = 0; k < 2; ++k) sums[W(i, k, c)][threadIdx.x] = is_held ? 0 : w[(i + 1 + k) % 3][c];
        }

    if (!is_held) return;
#pragma unroll 1
    for (unsigned rest = nodes; rest; rest &= rest - 1) {
        const int m = __ffs(rest) - 1;
        real g[3];
        gradient(m, g);

#pragma unroll
        for (int i = 0; i < 3; ++i) {
            if (held[i] >> m & 1) continue;
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                sums[T(i, c)][threadIdx.x] += g[c];
#pragma unroll
                for (int k = 0; k < 2; ++k)
                    sums[W(i, k, c)][threadIdx.x] += X[8 * ((i + 1 + k) % 3) + m][group] * g[c];
            }
        }
    }
}

// The stress of a mode, times det J: it moves component i along t[i], or i and j along -w[i][0] and
// w[j][1]
__device__ __forceinline__ void stress_of_mode(
    int mode, const Shared sums, const real normal[3], real mu, real ratio, real stress[3][3]) {
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

#ifdef BY_MODES
    relaxed_stress(normal, mu, ratio, H, stress);
#else
    const real pressure = ratio * (H[0][0] + H[1][1] + H[2][2]);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) stress[i][j] = mu * (H[i][j] + H[j][i] + (i == j ? pressure : 0));
#endif
}

// K[a][b] += the work of the stress of each mode of `rows` in each mode of `columns`
__device__ __forceinline__ void add_work(
    const Shared rows, const Shared columns, const real normal[3], real mu, real ratio, real K[MODES][MODES]) {
#pragma unroll
    for (int a = 0; a < MODES; ++a) {
        real s[3][3];
        stress_of_mode(a, rows, normal, mu, ratio, s);
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

// Element e of the lane's group, with Lame's mu of it over 512: for what it couples of the motions
// of aggregate `row` and of `column`, or of all its nodes where they are the same, all about the
// center of `row`; all lanes of a warp call it
__device__ __forceinline__ Element load_element(
    const MeshView& mesh, unsigned e, real mu, unsigned row, unsigned column,
    const AggregatesView& aggregates,
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    Positions X) {
    const unsigned m = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const unsigned node = local_node(mesh, NODE(m), e), owner = read_only(aggregates.of + node);
    const unsigned fixed = held[node], first_lane = threadIdx.x % WARP / LANES * LANES;

    Element element;
    element.in_row = __ballot_sync(WHOLE_WARP, owner == row) >> first_lane & 0xff;
    element.in_column = __ballot_sync(WHOLE_WARP, row == column || owner == column) >> first_lane & 0xff;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        element.held[i] = __ballot_sync(WHOLE_WARP, fixed >> i & 1) >> first_lane & 0xff;
        X[8 * i + m][group] = (real)(coordinate(mesh, i, node) - center(aggregates, i, row));
    }

    element.mu = mu;
    __syncwarp();
    return element;
}

#ifdef BY_MODES
// Mode q of the element of the lane's group, and its gradients
__device__ __forceinline__ StrainMode mode_of_lane(
    int q, real ratio, const Positions X, real (*gradients)[JOINT_BLOCK]) {
    const unsigned group = threadIdx.x / LANES;
    real positions[3][8], coefficients[3][8];
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int m = 0; m < 8; ++m) positions[i][m] = X[8 * i + m][group];
    to_coefficients(positions, coefficients);

    const StrainMode mode = strain_mode(coefficients, mode_geometry(coefficients), q, ratio);
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real g[3];
        mode_gradient(mode, m, g);
#pragma unroll
        for (int c = 0; c < 3; ++c) gradients[3 * m + c][threadIdx.x] = g[c];
    }
    return mode;
}
#endif

// K += what `element` couples at the Gauss point of the lane, or in its mode
__device__ __forceinline__ void add_point(
    const Element& element, real ratio, const Positions X, Shared rows, Shared columns,
    real K[MODES][MODES]) {
    const unsigned q = threadIdx.x % LANES;
#ifdef BY_MODES
    __shared__ real gradients[24][JOINT_BLOCK];
    const StrainMode mode = mode_of_lane(q, ratio, X, gradients);
    const auto gradient = [&](int m, real g[3]) {
#pragma unroll
        for (int c = 0; c < 3; ++c) g[c] = gradients[3 * m + c][threadIdx.x];
    };
    const real* normal = mode.normal;
    const real weight = q < STRAIN_MODES ? element.mu * mode.weight : 0;
    ratio = mode.ratio;
#else
    const unsigned group = threadIdx.x / LANES;
    const real s[3] = {q & 1 ? GAUSS : -GAUSS, q & 2 ? GAUSS : -GAUSS, q & 4 ? GAUSS : -GAUSS}, *normal = nullptr;
    real J[3][3] = {}, C[3][3];
#pragma unroll 1
    for (int m = 0; m < 8; ++m) {
        real N[3];
        reference_gradient_at(m, s, N);
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int k = 0; k < 3; ++k) J[i][k] += X[8 * i + m][group] * N[k];
    }

    const real weight = element.mu * reciprocal(cofactors(J, C));
    const auto gradient = [&](int m, real g[3]) { gradient_at(m, s, C, g); };
#endif
    sum_gradients(element.in_row, element.held, X, gradient, rows);
    sum_gradients(element.in_column, element.held, X, gradient, columns);
    add_work(rows, columns, normal, weight, ratio, K);
}

// Sum over `lanes` neighboring lanes, in all of them
__device__ __forceinline__ void sum_over_lanes(int lanes, real K[MODES][MODES]) {
#pragma unroll
    for (int a = 0; a < MODES; ++a)
#pragma unroll
        for (int b = 0; b < MODES; ++b)
            for (int step = lanes / 2; step > 0; step /= 2)
                K[a][b] += __shfl_xor_sync(WHOLE_WARP, K[a][b], step);
}
