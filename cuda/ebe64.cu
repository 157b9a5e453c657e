// precision: f64
// ebe64: 64 threads an element, a 3x3 tile each.
//
// Source:        [Ratnakar2022, Alg. 6]
// Mapping:       thread 8 a + b of an element takes the tile of nodes a and b; 8 elements a block
//                of 512
// Layout:        stiffness [n_elements][24][24]
// Cost:          an element: 576 values, modulus, 8 nodes, 4648 bytes; 1536 operations, and 192
//                atomic additions where the others have 24; a node: 49 bytes
// Deterministic: no; contributions are added by atomics, in any order
// Requires:      y = x at held components, 0 elsewhere (held_part); 1 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/scatter.cuh"

#define BLOCK 512
#define ELEMENTS (BLOCK / 64)

extern "C" __global__ void __launch_bounds__(BLOCK) ebe64(
    VIEW(MeshView) mesh,
    const unsigned char* __restrict__ held, // [n_nodes]
    const double* __restrict__ stiffness,   // [n_elements][24][24]
    const double* __restrict__ moduli,      // [n_elements]
    const double* __restrict__ x,           // [3][n_nodes]
    double* y) {                            // [3][n_nodes]
    __shared__ unsigned nodes[8 * ELEMENTS], masks[8 * ELEMENTS]; // [8][element of the block]
    load_block<ELEMENTS>(mesh, held, nodes, masks);

    const unsigned slot = threadIdx.x / 64, a = threadIdx.x / 8 % 8, b = threadIdx.x % 8;
    const unsigned e = blockIdx.x * ELEMENTS + slot;
    if (e >= mesh.n_elements) return;
    const unsigned column = b * ELEMENTS + slot, row = a * ELEMENTS + slot;

    double u[3];
#pragma unroll
    for (int j = 0; j < 3; ++j) u[j] = free_value(x, mesh.n_nodes, nodes[column], masks[column], j);

    const double* tile = stiffness + (size_t)e * 576 + 72 * a + 3 * b;
    const double modulus = moduli[e];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const double value = tile[24 * i] * u[0] + tile[24 * i + 1] * u[1] + tile[24 * i + 2] * u[2];
        add_atomic(y, mesh.n_nodes, nodes[row], masks[row], i, modulus * value);
    }
}
