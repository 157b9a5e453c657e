// precision: f64 f32
// consistent_capacity: a consistent capacity in place of the lumped one, added to a product that has the latter.
// consistent_work: v_e^T M_e u_e of every element with the consistent M.
//
// Source:        sums over the points of the 2x2x2 Gauss rule of N_a (u - u_a) det J, with u = sum_b N_b u_b
//                there: M u less the lumped share of each node, which leaves nothing of a constant; of v u det J
// Mapping:       one thread per element, blocks of 128
// Layout:        fields [n_nodes], coefficients and works [n_elements]
// Cost:          1400 and 1200 operations per element; connectivity (32 bytes) and a coefficient read per
//                element, or a work written; coordinates (24 bytes) and fields read, or y read and written,
//                per node
// Deterministic: works: yes; products: where no two elements of a launch share a node, as with one launch
//                per color
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/diffusion.rs

#define BLOCK 128

#include "common/points.cuh"

// y += c (M - L) x, without rows and columns of held nodes
extern "C" __global__ void __launch_bounds__(BLOCK) consistent_capacity(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held, // [n_nodes], 1 where the node is held
    const real* __restrict__ capacities,    // [n_elements]
    const real* __restrict__ x,             // [n_nodes]
    real* __restrict__ y) {                 // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;
    unsigned node[8];
    real X[3][8], U[8], F[8] = {};
    load_element(mesh, e, node, X);
#pragma unroll
    for (int m = 0; m < 8; ++m) U[m] = held[node[m]] ? (real)0 : x[node[m]];

#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
        real u = 0;
#pragma unroll
        for (int m = 0; m < 8; ++m) u += shape(p, m) * U[m];
#pragma unroll
        for (int m = 0; m < 8; ++m) F[m] += p.det * shape(p, m) * ((real)(1.0 / 8) * u - U[m]);
    }

    const real capacity = (real)(1.0 / 4096) * capacities[e];
#pragma unroll
    for (int m = 0; m < 8; ++m)
        if (!held[node[m]]) atomicAdd(y + node[m], capacity * F[m]);
}

extern "C" __global__ void __launch_bounds__(BLOCK) consistent_work(
    VIEW(MeshView) mesh,
    const real* __restrict__ v, // [n_nodes]
    const real* __restrict__ u, // [n_nodes]
    real* __restrict__ work) {  // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    unsigned node[8];
    real X[3][8], V[8], U[8], sum = 0;
    load_element(mesh, e, node, X);
    load_values(node, v, V);
    load_values(node, u, U);
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
        real of_v = 0, of_u = 0;
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            of_v += shape(p, m) * V[m];
            of_u += shape(p, m) * U[m];
        }
        sum += p.det * of_v * of_u;
    }
    work[e] = (real)(1.0 / 32768) * sum;
}
