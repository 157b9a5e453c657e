// precision: f64
// ebe8: 8 threads an element, each the three rows of one node.
//
// Source:        [Ratnakar2022, Alg. 4]
// Mapping:       thread t of an element takes rows 3 t .. 3 t + 2; 64 elements a block of 512
// Layout:        stiffness [n_elements][24][24]. K_e is symmetric, so that row r is read as column r: the
//                threads of an element then read neighboring words at every step
// Cost:          an element: 576 values, modulus, 8 nodes, 4648 bytes; 1200 operations;
//                a node: 49 bytes
// Deterministic: no; contributions are added by atomics, in any order
// Requires:      y = x at held components, 0 elsewhere (held_part); 4 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/scatter.cuh"

#define BLOCK 512

extern "C" __global__ void __launch_bounds__(BLOCK) ebe8(
    VIEW(MeshView) mesh,
    const unsigned char* __restrict__ held, // [n_nodes]
    const double* __restrict__ stiffness,   // [n_elements][24][24]
    const double* __restrict__ moduli,      // [n_elements]
    const double* __restrict__ x,           // [3][n_nodes]
    double* y) {                            // [3][n_nodes]
    __shared__ unsigned nodes[BLOCK], masks[BLOCK]; // [element of the block][8]
    const unsigned e = blockIdx.x * (BLOCK / 8) + threadIdx.x / 8;
    const unsigned a = threadIdx.x % 8, first = threadIdx.x - a;

    if (e < mesh.n_elements) {
        nodes[threadIdx.x] = local_node(mesh, a, e);
        masks[threadIdx.x] = held[nodes[threadIdx.x]];
    }
    __syncthreads();
    if (e >= mesh.n_elements) return;

    const double* rows = stiffness + (size_t)e * 576 + 3 * a;
    double sum[3] = {0.0, 0.0, 0.0};

#pragma unroll 4
    for (int b = 0; b < 8; ++b) {
        const unsigned node = nodes[first + b], mask = masks[first + b];
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            const double u = free_value(x, mesh.n_nodes, node, mask, j);
#pragma unroll
            for (int i = 0; i < 3; ++i) sum[i] += rows[24 * (3 * b + j) + i] * u;
        }
    }

    const double modulus = moduli[e];
#pragma unroll
    for (int i = 0; i < 3; ++i)
        add_atomic(y, mesh.n_nodes, nodes[threadIdx.x], masks[threadIdx.x], i, modulus * sum[i]);
}
