// precision: f64
// ebe24: 24 threads an element, a row each.
//
// Source:        [Ratnakar2022, Alg. 5]
// Mapping:       thread r of an element takes row r; 21 elements a block of 504
// Layout:        stiffness [n_elements][24][24]. K_e is symmetric, so that row r is read as column r: the
//                threads of an element then read neighboring words at every step
// Cost:          an element: 576 values, modulus, 8 nodes, 4648 bytes; 1200 operations;
//                a node: 49 bytes
// Deterministic: no; contributions are added by atomics, in any order
// Requires:      y = x at held components, 0 elsewhere (held_part); 2 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/scatter.cuh"

#define BLOCK 504
#define ELEMENTS (BLOCK / 24)

extern "C" __global__ void __launch_bounds__(BLOCK) ebe24(
    VIEW(MeshView) mesh,
    const unsigned char* __restrict__ held, // [n_nodes]
    const double* __restrict__ stiffness,   // [n_elements][24][24]
    const double* __restrict__ moduli,      // [n_elements]
    const double* __restrict__ x,           // [3][n_nodes]
    double* y) {                            // [3][n_nodes]
    __shared__ unsigned nodes[8 * ELEMENTS], masks[8 * ELEMENTS]; // [8][element of the block]
    load_block<ELEMENTS>(mesh, held, nodes, masks);

    const unsigned slot = threadIdx.x / 24, row = threadIdx.x % 24;
    const unsigned e = blockIdx.x * ELEMENTS + slot;
    if (e >= mesh.n_elements) return;

    const double* column = stiffness + (size_t)e * 576 + row;
    double sum = 0.0;
#pragma unroll
    for (int b = 0; b < 8; ++b) {
        const unsigned node = nodes[b * ELEMENTS + slot], mask = masks[b * ELEMENTS + slot];
#pragma unroll
        for (int j = 0; j < 3; ++j)
            sum += column[24 * (3 * b + j)] * free_value(x, mesh.n_nodes, node, mask, j);
    }

    const unsigned own = row / 3 * ELEMENTS + slot;
    add_atomic(y, mesh.n_nodes, nodes[own], masks[own], row % 3, moduli[e] * sum);
}
