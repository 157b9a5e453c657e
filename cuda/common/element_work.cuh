// v_e^T K_e u_e of one element, by stress times strain at the points of the 2x2x2 Gauss rule, or of strain
// modes. BLOCK is defined before.

#pragma once

#include "common/trilinear.cuh"

#ifdef BY_MODES

#include "common/mode_forces.cuh"

// v_e^T K_e u_e
template <class Material>
__device__ __forceinline__ real work_of_modes(
    const real X[3][8], const real V[3][8], const real U[3][8], real mu, Material material) {
    __shared__ Geometry geometry;
    const Center center = store_geometry(X, geometry);
    real G[3][3], H[4][3], S[3][3], P[4][3];
    strains(geometry, center.det, U, G, H);
    stresses(center, G, H, mu, material, S, P);
    if (V != U) strains(geometry, center.det, V, G, H);
    return work_along(center, S, P, G, H);
}

#else

// What mu is to be divided by
#ifndef MU_SCALE
#define MU_SCALE 512
#endif

#endif

// Gauss point q of the element whose coordinates have the coefficients X: where it is, the
// cofactors, and det(J) times the strain, shear twice, of the field with the coefficients U;
// returns det(J)
__device__ __forceinline__ real gauss_strain(
    const real X[3][8], const real U[3][8], int q, real at[3], real C[3][3], real strains[6]) {
    at[0] = q & 1 ? GAUSS : -GAUSS, at[1] = q & 2 ? GAUSS : -GAUSS;
    at[2] = q & 4 ? GAUSS : -GAUSS;

    real J[3][3], G[3][3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        derivatives(X[c], at[0], at[1], at[2], J[c]);
        derivatives(U[c], at[0], at[1], at[2], G[c]);
    }

    const real det = cofactors(J, C);
    strain(G, C, strains);
    return det;
}

// v_e^T K_e u_e of element e for a modulus mu / MU_SCALE
template <class Material>
__device__ __forceinline__ real element_work(
    const MeshView& mesh, unsigned e, real mu, Material material,
    const real* __restrict__ v,    // [3][n_nodes]
    const real* __restrict__ u) {  // [3][n_nodes]
    unsigned node[8];
    load_nodes(mesh, e, node);
    double positions[3][8];
    real values[3][8], X[3][8], U[3][8], V[3][8];
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);
    load_field(node, u, mesh.n_nodes, values);
    to_coefficients(values, U);
    load_field(node, v, mesh.n_nodes, values);
    to_coefficients(values, V);

#ifdef BY_MODES
    return work_of_modes(X, V, U, mu, material);
#else
    real sum = 0;
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        real at[3], G[3][3], C[3][3], strains[6], stresses[6];
        const real det = gauss_strain(X, U, q, at, C, stresses);
        stress(mu * reciprocal(det), material, stresses);

#pragma unroll
        for (int c = 0; c < 3; ++c) derivatives(V[c], at[0], at[1], at[2], G[c]);
        strain(G, C, strains);

#pragma unroll
        for (int p = 0; p < 6; ++p) sum += stresses[p] * strains[p];
    }

    return sum;
#endif
}
