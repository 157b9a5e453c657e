// precision: f64
// tetrahedra_blocks: the 3x3 blocks on the diagonal of K of tetrahedra of ten nodes, straight or curved.
//
// Source:        K_aa = sum over the points of the rule of four points of
//                ((lambda + mu) g g^T + mu |g|^2 I) det J, g = grad N_a (common/tetrahedron.cuh)
// Mapping:       one thread per element, blocks of 128
// Layout:        blocks as planes [6][n_nodes] in the order xx, yy, zz, xy, yz, zx; mesh.connectivity
//                is [10][n_elements]
// Cost:          2200 operations per element; connectivity (40 bytes) and a modulus read per element,
//                coordinates (24 bytes) per node
// Deterministic: where no two elements of a launch share a node, as with one launch per color; else
//                the order of additions at a node is not fixed
// Requires:      out = 0, or springs, beforehand
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra.rs

#define BLOCK 128

#include "common/tetrahedron.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) tetrahedra_blocks(
    VIEW(MeshView) mesh, VIEW(Part) part,
    VIEW(Lame) material,
    const double* __restrict__ moduli, // [n_elements]
    double* __restrict__ out) {        // [6][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;

    unsigned node[TETRAHEDRON_NODES];
    load_tetrahedron(mesh, e, node);
    const real ratio = (real)material.ratio, scale = (real)(material.mu / 24) * moduli[e];
    real D[6][TETRAHEDRON_NODES] = {};
    each_gradient(mesh, node, [&](int a, real weight, const real g[3]) {
        const real sum = dot(g, g, 0), mixed = weight * (ratio + 1);
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            D[i][a] += weight * sum + mixed * g[i] * g[i];
            D[3 + i][a] += mixed * g[i] * g[(i + 1) % 3];
        }
    });
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a)
#pragma unroll
        for (int c = 0; c < 6; ++c) atomicAdd(out + ((size_t)c * mesh.n_nodes + node[a]), scale * D[c][a]);
}
