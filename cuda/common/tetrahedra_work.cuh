// v_e^T K_e u_e of one tetrahedron, straight or curved.

#pragma once

#include "common/tetrahedron.cuh"

// That of element e for a modulus mu / 24
template <class Material>
__device__ __forceinline__ real element_work(
    const MeshView& mesh, unsigned e, real mu, Material material,
    const real* __restrict__ v,    // [3][n_nodes]
    const real* __restrict__ u) {  // [3][n_nodes]
    unsigned node[TETRAHEDRON_NODES];
    load_tetrahedron(mesh, e, node);
    real X[3][TETRAHEDRON_NODES], U[3][TETRAHEDRON_NODES], V[3][TETRAHEDRON_NODES];
    load_positions<TETRAHEDRON_NODES>(mesh, node, X);
    load_free(node, u, mesh.n_nodes, 0, U);
    load_free(node, v, mesh.n_nodes, 0, V);
    from_first(U);
    from_first(V);

    real sum = 0;
#pragma unroll 1
    for (int q = 0; q < 4; ++q) {
        const TetrahedronPoint p = point_of(X, q);
        real strains[6], stresses[6];
        strain_at(p, V, strains);
        strain_at(p, U, stresses);
        stress(mu * reciprocal(p.det), material, stresses);
#pragma unroll
        for (int k = 0; k < 6; ++k) sum += strains[k] * stresses[k];
    }
    return sum;
}
