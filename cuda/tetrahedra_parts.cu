// precision: f64 f32
// What solvers and sensitivities need of tetrahedra of ten nodes beside K u, straight or curved:
// tetrahedra_diagonal, the diagonal of K; tetrahedra_work, v_e^T K_e u_e at unit modulus.
//
// Source:        K_aa = sum over the points of the rule of four points of
//                ((lambda + mu) g g^T + mu |g|^2 I) det J, g = grad N_a (common/tetrahedron.cuh)
// Mapping:       one thread per element, blocks of 128
// Layout:        vectors as planes [3][n_nodes]; mesh.connectivity is [10][n_elements]
// Cost:          tetrahedra_diagonal 1900, tetrahedra_work 1800 operations per element; connectivity
//                (40 bytes) and a modulus read per element, coordinates (24 bytes) per node
// Deterministic: tetrahedra_work: yes; tetrahedra_diagonal where no two elements of a launch share a
//                node, as with one launch per color; else the order of additions at a node is not fixed
// Requires:      tetrahedra_diagonal: out = 0 beforehand; tetrahedra_work: u and v are zero at held
//                components
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra.rs

#define BLOCK 128

#include "common/tetrahedra_work.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) tetrahedra_diagonal(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    VIEW(Lame) material,
    const real* __restrict__ moduli,        // [n_elements]
    real* __restrict__ out) {               // [3][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;

    unsigned node[TETRAHEDRON_NODES];
    load_tetrahedron(mesh, e, node);
    real D[3][TETRAHEDRON_NODES] = {};
    const real ratio = (real)material.ratio;
    each_gradient(mesh, node, [&](int a, real weight, const real g[3]) {
        const real sum = dot(g, g, 0);
#pragma unroll
        for (int c = 0; c < 3; ++c) D[c][a] += weight * (sum + (ratio + 1) * g[c] * g[c]);
    });

    const real scale = (real)(material.mu / 24) * moduli[e];
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a) {
        const unsigned mask = held[node[a]];
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            real* at = out + ((size_t)c * mesh.n_nodes + node[a]);
            if (mask >> c & 1) *at = 1; // the same from every element
            else atomicAdd(at, scale * D[c][a]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) tetrahedra_work(
    VIEW(MeshView) mesh, VIEW(Lame) material,
    const real* __restrict__ v,  // [3][n_nodes]
    const real* __restrict__ u,  // [3][n_nodes]
    real* __restrict__ work) {   // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    work[e] = element_work(mesh, e, (real)(material.mu / 24), (real)material.ratio, v, u);
}
