// The Gauss points of an element one after the other, for one unknown per node.

#pragma once

#include "common/gradient.cuh"
#include "common/trilinear.cuh"

// What the geometry is at a point; derivatives are scaled as in trilinear.cuh
struct Point {
    real at[3];       // xi, eta, zeta
    real sides[3][2]; // 1 - these, 1 + these
    real C[3][3];     // cofactors of J
    real det;         // det J
};

// Point q of the element whose coordinates have the coefficients X
__device__ __forceinline__ Point point(const real X[3][8], int q) {
    Point p;
    real J[3][3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        p.at[c] = q >> c & 1 ? GAUSS : -GAUSS;
        p.sides[c][0] = 1 - p.at[c], p.sides[c][1] = 1 + p.at[c];
    }
#pragma unroll
    for (int c = 0; c < 3; ++c) derivatives(X[c], p.at[0], p.at[1], p.at[2], J[c]);
    p.det = cofactors(J, p.C);
    return p;
}

// det J grad u at a point, of the field with coefficients U
__device__ __forceinline__ void gradient(const Point& p, const real U[8], real h[3]) {
    real d[3];
    derivatives(U, p.at[0], p.at[1], p.at[2], d);
#pragma unroll
    for (int c = 0; c < 3; ++c) h[c] = d[0] * p.C[0][c] + d[1] * p.C[1][c] + d[2] * p.C[2][c];
}

// 8 N of the node at position m, at a point
__device__ __forceinline__ real shape(const Point& p, int m) {
    return p.sides[0][m & 1] * (p.sides[1][m >> 1 & 1] * p.sides[2][m >> 2]);
}

// As shape, by choice and not by index: m may be known only when it runs.
__device__ __forceinline__ real shape_at(const Point& p, int m) {
    const real x = m & 1 ? p.sides[0][1] : p.sides[0][0], y = m & 2 ? p.sides[1][1] : p.sides[1][0];
    return x * y * (m & 4 ? p.sides[2][1] : p.sides[2][0]);
}

// The nodes of an element, by position, and the coefficients of their coordinates
__device__ __forceinline__ void load_element(const MeshView& mesh, unsigned e, unsigned node[8], real X[3][8]) {
    double positions[3][8];
    load_nodes(mesh, e, node);
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);
}

// A coordinate with the coefficients X, times a factor
__device__ __forceinline__ void stretch(real factor, real X[8]) {
#pragma unroll
    for (int m = 1; m < 8; ++m) X[m] *= factor; // X[0] is never made
}

// As load_element, stretched along x, y and z where there are factors for that: orthotropic conduction is
// the isotropic one in such an element, crates/topopt-fem/src/orthotropy.rs
__device__ __forceinline__ void load_stretched(
    const MeshView& mesh, unsigned e,
    const real* __restrict__ stretches, // [3][n_elements], or null
    unsigned node[8], real X[3][8]) {
    load_element(mesh, e, node, X);
    if (!stretches) return;
#pragma unroll
    for (int c = 0; c < 3; ++c) stretch(stretches[(size_t)c * mesh.n_elements + e], X[c]);
}

// Values at these nodes
__device__ __forceinline__ void load_values(
    const unsigned node[8],
    const real* __restrict__ u, // [n_nodes]
    real values[8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m) values[m] = u[node[m]];
}
