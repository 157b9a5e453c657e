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

#define BLOCK 128

#include "common/element_work.cuh"

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
    energies[e] = work_of_modes(X, U, U, (real)(material.mu / MU_SCALE), (real)material.ratio);
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
    work[e] = element_work(mesh, e, (real)(material.mu / MU_SCALE), (real)material.ratio, v, u);
}
