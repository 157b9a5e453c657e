// precision: f64
// ebe: element by element with stored K_e.
//
// Source:        [Ratnakar2022, Alg. 2]
// Mapping:       one thread an element, blocks of 512; the connectivity is kept in registers
// Layout:        stiffness [n_elements][24][24]: neighboring threads read 4608 bytes apart
// Cost:          an element: 576 values, modulus, 8 nodes, 4648 bytes; 1200 operations;
//                a node: 49 bytes
// Deterministic: no; contributions are added by atomics, in any order
// Requires:      y = x at held components, 0 elsewhere (held_part)
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/scatter.cuh"

#define BLOCK 512

extern "C" __global__ void __launch_bounds__(BLOCK) ebe(
    VIEW(MeshView) mesh,
    const unsigned char* __restrict__ held, // [n_nodes]
    const double* __restrict__ stiffness,   // [n_elements][24][24]
    const double* __restrict__ moduli,      // [n_elements]
    const double* __restrict__ x,           // [3][n_nodes]
    double* y) {                            // [3][n_nodes]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;

    unsigned node[8], masks = 0; // 3 bits of masks a node
    double u[24];
#pragma unroll
    for (int b = 0; b < 8; ++b) {
        node[b] = local_node(mesh, b, e);
        const unsigned mask = held[node[b]];
        masks |= mask << 3 * b;
#pragma unroll
        for (int j = 0; j < 3; ++j) u[3 * b + j] = free_value(x, mesh.n_nodes, node[b], mask, j);
    }

    const double modulus = moduli[e];
    const double2* rows = reinterpret_cast<const double2*>(stiffness + (size_t)e * 576);

#pragma unroll
    for (int a = 0; a < 8; ++a) {
#pragma unroll 1
        for (int i = 0; i < 3; ++i) {
            double value = 0.0;
#pragma unroll
            for (int c = 0; c < 12; ++c) {
                const double2 k = rows[12 * (3 * a + i) + c];
                value += k.x * u[2 * c] + k.y * u[2 * c + 1];
            }
            add_atomic(y, mesh.n_nodes, node[a], masks >> 3 * a, i, modulus * value);
        }
    }
}
