// precision: f64 f32
// element: full modes
// energies: u_e^T K_e u_e at unit modulus for every element, whatever strategy computes K u.
// work: v_e^T K_e u_e of two fields, as the derivative of a response by the moduli needs it.
//
// Source:        [Ratnakar2022, Eq. 2.4]; stress times strain at the points of the 2x2x2 Gauss
//                rule, or of strain modes (common/mode_forces.cuh)
// Mapping:       one thread per element, blocks of 128
// Layout:        u as planes [3][n_nodes]
// Cost:          1896 operations per element, by modes some 1000; connectivity (32 bytes) read and
//                an energy written per element; coordinates (24 bytes) and u read per node; work:
//                2238 operations, by modes some 1200, and v besides
// Deterministic: yes
// Requires:      u is zero at held components
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/trilinear.cuh"

#define BLOCK 128

#ifdef BY_MODES

#include "common/mode_forces.cuh"

// v_e^T K_e u_e
__device__ __forceinline__ real work_of_modes(
    const real X[3][8], const real V[3][8], const real U[3][8], const Lame& material) {
    __shared__ Geometry geometry;
    const Center center = store_geometry(X, geometry);
    real G[3][3], H[4][3], S[3][3], P[4][3];
    strains(geometry, center.det, U, G, H);
    stresses(center, G, H, (real)(material.mu / MU_SCALE), (real)material.ratio, S, P);
    if (V != U) strains(geometry, center.det, V, G, H);
    return work_along(center, S, P, G, H);
}

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

extern "C" __global__ void __launch_bounds__(BLOCK) energies(
    VIEW(MeshView) mesh, VIEW(Lame) material,
    const real* __restrict__ u,    // [3][n_nodes]
    real* __restrict__ energies) { // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;

    // The coordinates' coefficients before the displacements are read: with both read first a
    // thread takes 92 registers in place of 72 (sm_86, single precision).
    unsigned node[8];
    load_nodes(mesh, e, node);
    double positions[3][8];
    real values[3][8], X[3][8], U[3][8];
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);
    load_field(node, u, mesh.n_nodes, values);
    to_coefficients(values, U);

#ifdef BY_MODES
    energies[e] = work_of_modes(X, U, U, material);
#else
    real energy = 0;
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        real at[3], C[3][3], strains[6], stresses[6];
        const real det = gauss_strain(X, U, q, at, C, strains);
#pragma unroll
        for (int p = 0; p < 6; ++p) stresses[p] = strains[p];

        stress((real)(material.mu / 512) * reciprocal(det), (real)material.ratio, stresses);
#pragma unroll
        for (int p = 0; p < 6; ++p) energy += stresses[p] * strains[p];
    }

    energies[e] = energy;
#endif
}

extern "C" __global__ void __launch_bounds__(BLOCK) work(
    VIEW(MeshView) mesh, VIEW(Lame) material,
    const real* __restrict__ v,  // [3][n_nodes]
    const real* __restrict__ u,  // [3][n_nodes]
    real* __restrict__ work) {   // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;

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
    work[e] = work_of_modes(X, V, U, material);
#else
    real sum = 0;
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        real at[3], G[3][3], C[3][3], strains[6], stresses[6];
        const real det = gauss_strain(X, U, q, at, C, stresses);
        stress((real)(material.mu / 512) * reciprocal(det), (real)material.ratio, stresses);

#pragma unroll
        for (int c = 0; c < 3; ++c) derivatives(V[c], at[0], at[1], at[2], G[c]);
        strain(G, C, strains);

#pragma unroll
        for (int p = 0; p < 6; ++p) sum += stresses[p] * strains[p];
    }

    work[e] = sum;
#endif
}
