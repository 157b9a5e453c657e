// The strain of a hexahedron as a sum of modes, as crates/topopt-fem/src/strain_modes.rs has it: a
// mean gradient, and hourglass modes in which incompatible modes are condensed. Sources that say
// `// element: full modes` are compiled with BY_MODES for it.
//
// Fields have coefficients as in trilinear.cuh. The gradient of a mode at a node is a sum over
// monomials, each with its sign at the node.

#pragma once

#include "common/trilinear.cuh"

#define STRAIN_MODES 7

// Monomials of the hourglasses xi eta, xi zeta, eta zeta, xi eta zeta
#define HOURGLASS(h) ((h) == 0 ? 3 : (h) + 4)

// The sign of monomial k at the node at position m: whether an odd number of its coordinates are -1
#define MONOMIAL_SIGN(k, m) ((real)(0x96 >> ((k) & ~(m)) & 1 ? -1 : 1))

// What the modes of an element have in common; determinants 512 times, cofactors 64 times
struct ModeGeometry {
    real mean[7][3];   // mean cofactors of the gradient of monomials 1 to 6
    real center[3][3]; // cofactors at the center
    real det;          // mean of det J
    real at_center;    // det J at the center
};

// out += factor a x b
__device__ __forceinline__ void add_cross(const real a[3], const real b[3], real factor, real out[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] += factor * (a[j] * b[k] - a[k] * b[j]);
    }
}

// out = a x b
__device__ __forceinline__ void cross(const real a[3], const real b[3], real out[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) out[i] = 0;
    add_cross(a, b, 1, out);
}

// out = base + a x b / 3
__device__ __forceinline__ void third_of_cross(
    const real base[3], const real a[3], const real b[3], real out[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) out[i] = base[i];
    add_cross(a, b, (real)(1.0 / 3.0), out);
}

// Mean cofactors and those at the center, from the coefficients of the coordinates by monomial
__device__ __forceinline__ void mean_cofactors(const real x[7][3], real center[3][3], real mean[7][3]) {
    const real none[3] = {};
    real half[3];
    cross(x[2], x[4], center[0]), third_of_cross(center[0], x[3], x[5], mean[1]);
    cross(x[4], x[1], center[1]), third_of_cross(center[1], x[6], x[3], mean[2]);
    cross(x[1], x[2], center[2]), third_of_cross(center[2], x[5], x[6], mean[4]);
    third_of_cross(none, x[2], x[6], half), third_of_cross(half, x[5], x[1], mean[3]);
    third_of_cross(none, x[6], x[4], half), third_of_cross(half, x[1], x[3], mean[5]);
    third_of_cross(none, x[4], x[5], half), third_of_cross(half, x[3], x[2], mean[6]);
}

// The geometry of the element whose coordinates have the coefficients X
__device__ __forceinline__ ModeGeometry mode_geometry(const real X[3][8]) {
    ModeGeometry geometry;
    real x[7][3];
#pragma unroll
    for (int k = 1; k < 7; ++k)
#pragma unroll
        for (int i = 0; i < 3; ++i) x[k][i] = X[i][k];

    mean_cofactors(x, geometry.center, geometry.mean);
    geometry.at_center = dot(x[1], geometry.center[0], 0);
    real sum = 0;
#pragma unroll
    for (int k = 1; k < 7; ++k) sum = dot(x[k], geometry.mean[k], sum);
    geometry.det = (real)(1.0 / 3.0) * sum;
    return geometry;
}

// The shares of the monomials in the shape function at position m, 8 times; of a node that stands
// twice or four times the sum at its first position and 0 at the others, as in gradient.cuh.
// Returns the node.
__device__ __forceinline__ unsigned shape_shares(const MeshView& mesh, unsigned e, int m, real shares[8]) {
    const unsigned node = local_node(mesh, NODE(m), e);
    int joined = 0;
    real times = 1;
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2)
        if (local_node(mesh, NODE(m ^ bit), e) == node) joined |= bit, times *= 2;
    if (m & joined) times = 0;
    // Monomials that change their sign between these positions cancel.
#pragma unroll
    for (int k = 1; k < 8; ++k) shares[k] = k & joined ? 0 : MONOMIAL_SIGN(k, m) * times;
    return node;
}

// Nodal values by position of coefficients, whose first is 0
__device__ __forceinline__ void from_coefficients(const real F[8], real f[8]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const real xi = i ? F[1] : -F[1], eta = i ? F[2] + F[3] : F[2] - F[3];
        const real zeta = i ? F[4] + F[5] : F[4] - F[5], mixed = i ? F[6] + F[7] : F[6] - F[7];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const real even = j ? xi + eta : xi - eta, odd = j ? zeta + mixed : zeta - mixed;
            f[i + 2 * j] = even - odd;
            f[i + 2 * j + 4] = even + odd;
        }
    }
}

// A mode of strain: the mean gradient, the three linear modes, the three bilinear ones
struct StrainMode {
    real shares[8][3]; // of every monomial but the first in its gradient, within the planes if relaxed
    real weight;       // 512 times the integral of the square of its own monomial
    real ratio;        // lambda / mu of its strain
    real normal[3];    // of the planes that an incompatible mode makes free of stress, or 0
};

// One of three, by choice and not by index: the number may be known only when it runs.
__device__ __forceinline__ real pick(int k, real first, real second, real third) {
    return k == 0 ? first : k == 1 ? second : third;
}

// Mode q of the element whose coordinates have the coefficients X, of a material with this lambda /
// mu; or as it is, without incompatible modes
template <bool RELAXED = true>
__device__ __forceinline__ StrainMode strain_mode(
    const real X[3][8], const ModeGeometry& geometry, int q, real ratio) {
    // A mode is up to two hourglasses, each along a gradient of a reference coordinate: the linear
    // mode d has those of xi_d with the two others, each along the other one.
    const bool is_linear = q >= 1 && q <= 3, is_bilinear = q > 3;
    const int d = is_linear ? q - 1 : q - 4;
    const int one = is_linear ? (d == 2 ? 5 : 3) : 7, two = d == 0 ? 5 : 6;
    real x_one[3], x_two[3], along_one[3], along_two[3];
    StrainMode mode;
    const real scale = 1 / geometry.at_center, inverse = 1 / geometry.det;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const real a = scale * geometry.center[0][i], b = scale * geometry.center[1][i];
        const real c = scale * geometry.center[2][i];
        x_one[i] = is_linear ? pick(d, X[i][3], X[i][3], X[i][5]) : X[i][7];
        x_two[i] = pick(d, X[i][5], X[i][6], X[i][6]);
        along_one[i] = is_linear ? pick(d, b, a, a) : pick(d, a, b, c);
        along_two[i] = is_linear ? pick(d, c, c, b) : 0;
        mode.normal[i] = RELAXED && is_linear ? pick(d, a, b, c) : 0;
    }
    if (RELAXED && is_linear) {
        const real length = sqrt(dot(mode.normal, mode.normal, 0));
#pragma unroll
        for (int i = 0; i < 3; ++i) mode.normal[i] /= length;
    }

#pragma unroll
    for (int k = 1; k < 8; ++k) {
        // Less what the mean gradient gives the hourglasses
        const real less_one = k < 7 ? inverse * dot(geometry.mean[k], x_one, 0) : 0;
        const real less_two = k < 7 ? inverse * dot(geometry.mean[k], x_two, 0) : 0;
        const real of_one = (k == one) - less_one, of_two = (k == two) - less_two;
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const real mean = k < 7 ? inverse * geometry.mean[k][i] : 0;
            mode.shares[k][i] = q == 0 ? mean : of_one * along_one[i] + of_two * along_two[i];
        }
        const real out = dot(mode.shares[k], mode.normal, 0);
#pragma unroll
        for (int i = 0; i < 3; ++i) mode.shares[k][i] -= out * mode.normal[i];
    }
    mode.weight = 8 * geometry.det * (real)(q == 0 ? 1.0 : is_bilinear ? 1.0 / 9.0 : 1.0 / 3.0);
    mode.ratio = is_linear ? 2 * ratio / (ratio + 2) : ratio;
    return mode;
}

// The gradient of a mode at the node at position m
__device__ __forceinline__ void mode_gradient(const StrainMode& mode, int m, real g[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        g[i] = 0;
#pragma unroll
        for (int k = 1; k < 8; ++k) g[i] += MONOMIAL_SIGN(k, m) * mode.shares[k][i];
    }
}

// Stress of a gradient that a mode makes, for Lame's mu: within the planes of a relaxed mode
__device__ __forceinline__ void relaxed_stress(
    const real normal[3], real mu, real ratio, const real G[3][3], real stress[3][3]) {
    real within[3][3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const real out = normal[0] * G[0][c] + (normal[1] * G[1][c] + normal[2] * G[2][c]);
#pragma unroll
        for (int i = 0; i < 3; ++i) within[i][c] = G[i][c] - out * normal[i];
    }
    const real pressure = ratio * (within[0][0] + within[1][1] + within[2][2]);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int c = 0; c < 3; ++c)
            stress[i][c] = mu * (within[i][c] + within[c][i] + pressure * ((i == c) - normal[i] * normal[c]));
}
