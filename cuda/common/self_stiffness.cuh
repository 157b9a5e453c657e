// What couples each node of an element with itself; needs trilinear.cuh.

#pragma once

#ifdef BY_MODES

#include "common/strain_modes.cuh"

// D += a b^T, which is symmetric or will be by what is added with it, in the order xx, yy, zz, xy,
// yz, zx
__device__ __forceinline__ void add_product(const real a[3], const real b[3], real D[6]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        D[c] += a[c] * b[c];
        D[3 + c] += a[c] * b[(c + 1) % 3];
    }
}

// D += weight ((ratio + 1) g g^T + |g|^2 I)
__device__ __forceinline__ void add_own(real weight, real ratio, const real g[3], real D[6]) {
    const real sum = weight * dot(g, g, 0), factor = weight * (ratio + 1);
    const real v[3] = {factor * g[0], factor * g[1], factor * g[2]};
    add_product(g, v, D);
#pragma unroll
    for (int c = 0; c < 3; ++c) D[c] += sum;
}

// A linear mode, of hourglasses in the plane of two tangents, see add_relaxed of mode_forces.cuh
struct Plane {
    real m_00, m_01, m_11; // products of the tangents
    real shear, normal;    // 1 / M, and (lambda of plane stress + 2 mu) / mu / M^2
};

__device__ __forceinline__ Plane plane_of(const real t_0[3], const real t_1[3], real ratio) {
    Plane plane = {dot(t_0, t_0, 0), dot(t_0, t_1, 0), dot(t_1, t_1, 0)};
    plane.shear = 1 / (plane.m_00 * plane.m_11 - plane.m_01 * plane.m_01);
    plane.normal = 4 * (ratio + 1) / (ratio + 2) * plane.shear * plane.shear;
    return plane;
}

// Adds the block of a node that has the shares h_0 and h_1 in the hourglasses of a linear mode
__device__ __forceinline__ void add_in_plane(
    const Plane& plane, const real t_0[3], const real t_1[3], real weight, real h_0, real h_1, real D[6]) {
    const real a = plane.m_11 * h_0 - plane.m_01 * h_1, b = plane.m_00 * h_1 - plane.m_01 * h_0;
    const real k_00 = weight * (plane.normal * a * a + plane.shear * h_1 * h_1);
    const real k_01 = weight * (plane.normal * a * b - plane.shear * h_0 * h_1);
    const real k_11 = weight * (plane.normal * b * b + plane.shear * h_0 * h_0);
    real v_0[3], v_1[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        v_0[c] = k_00 * t_0[c] + k_01 * t_1[c];
        v_1[c] = k_01 * t_0[c] + k_11 * t_1[c];
    }
    add_product(t_0, v_0, D);
    add_product(t_1, v_1, D);
}

// Calls visit(m, node, D) for the node at every position m: D is its 3x3 block times 512 / mu, a
// sum over modes, in the order xx, yy, zz, xy, yz, zx. X: coefficients of the coordinates.
template <class Visit>
__device__ __forceinline__ void each_own_block(
    const MeshView& mesh, unsigned e, const real X[3][8], real ratio, Visit visit) {
    const ModeGeometry geometry = mode_geometry(X);
    const real inverse = 1 / geometry.det, weight = 8 * geometry.det, third = (real)(1.0 / 3.0) * weight;
    real tangents[3][3], bilinear[6] = {}; // of gradients g at the center (ratio + 1) g g^T + |g|^2 I
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        real g[3];
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            g[c] = geometry.center[d][c] / geometry.at_center;
            tangents[d][c] = X[c][1 << d];
        }
        add_own((real)(1.0 / 9.0) * weight, ratio, g, bilinear);
    }
    const Plane planes[3] = {
        plane_of(tangents[1], tangents[2], ratio), plane_of(tangents[0], tangents[2], ratio),
        plane_of(tangents[0], tangents[1], ratio)};

#pragma unroll 1
    for (int m = 0; m < 8; ++m) {
        real h[8], g[3] = {}, D[6];
        const unsigned node = shape_shares(mesh, e, m, h);
#pragma unroll
        for (int k = 1; k < 7; ++k)
#pragma unroll
            for (int c = 0; c < 3; ++c) g[c] += inverse * h[k] * geometry.mean[k][c];
#pragma unroll
        for (int k = 3; k < 8; ++k) {
            const real x[3] = {X[0][k], X[1][k], X[2][k]};
            if (k != 4) h[k] -= dot(g, x, 0); // of the hourglasses, without the mean gradient
        }

#pragma unroll
        for (int c = 0; c < 6; ++c) D[c] = h[7] * h[7] * bilinear[c];
        add_own(weight, ratio, g, D);
        add_in_plane(planes[0], tangents[1], tangents[2], third, h[3], h[5], D);
        add_in_plane(planes[1], tangents[0], tangents[2], third, h[3], h[6], D);
        add_in_plane(planes[2], tangents[0], tangents[1], third, h[5], h[6], D);
        visit(m, node, D);
    }
}

#else

#include "common/gradient.cuh"

// Calls visit(m, weight, g) for the node at every position m and every Gauss point: weight g g^T is
// 512 times det J grad N grad N^T there. X: coefficients of the coordinates.
template <class Visit>
__device__ __forceinline__ void each_gradient(const unsigned node[8], const real X[3][8], Visit visit) {
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const real xi = q & 1 ? GAUSS : -GAUSS, eta = q & 2 ? GAUSS : -GAUSS, zeta = q & 4 ? GAUSS : -GAUSS;
        real J[3][3], C[3][3];
#pragma unroll
        for (int c = 0; c < 3; ++c) derivatives(X[c], xi, eta, zeta, J[c]);
        const real weight = reciprocal(cofactors(J, C));
        const real sides[3][2] = {SIDES(xi), SIDES(eta), SIDES(zeta)};
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            real g[3];
            gradient_of_node(node, m, sides, C, g);
            visit(m, weight, g);
        }
    }
}

// Adds the 3x3 blocks to D, times 512 / mu: the integral of (ratio + 1) g g^T + |g|^2 I, g = grad
// N_a; as planes in the order xx, yy, zz, xy, yz, zx
__device__ __forceinline__ void add_self_stiffness(
    const unsigned node[8], const real X[3][8], real ratio, real D[6][8]) {
    each_gradient(node, X, [&](int m, real weight, const real g[3]) {
        const real sum = weight * dot(g, g, 0), factor = weight * (ratio + 1);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            D[c][m] += sum + factor * g[c] * g[c];
            D[3 + c][m] += factor * g[c] * g[(c + 1) % 3];
        }
    });
}

#endif
