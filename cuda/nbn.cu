// precision: f64
// nbn: node by node with stored K_e and the reverse connectivity; no conflicts.
//
// Source:        [Ratnakar2022, Alg. 3 and 3.1.2.1]
// Mapping:       one thread a node, blocks of 512
// Layout:        stiffness [n_elements][24][24]; reverse connectivity in compressed rows: elements
//                of a node, and its local number in each
// Cost:          an element: 576 values, modulus, 8 nodes, 8 entries of C_rev, 4688 bytes; 1200
//                operations; a node: 53 bytes
// Deterministic: yes; elements of a node in increasing order
// Requires:      stiffness aligned to 16 bytes: a thread reads its 576 bytes in pairs
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/scatter.cuh"

#define BLOCK 512

extern "C" __global__ void __launch_bounds__(BLOCK) nbn(
    VIEW(MeshView) mesh,
    const unsigned* __restrict__ offsets,     // [n_nodes + 1]
    const unsigned* __restrict__ elements,    // [8 n_elements]
    const unsigned char* __restrict__ locals, // [8 n_elements]
    const unsigned char* __restrict__ held,   // [n_nodes]
    const double* __restrict__ stiffness,     // [n_elements][24][24]
    const double* __restrict__ moduli,        // [n_elements]
    const double* __restrict__ x,             // [3][n_nodes]
    double* __restrict__ y) {                 // [3][n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= mesh.n_nodes) return;

    double total[3] = {0.0, 0.0, 0.0};
    for (unsigned k = offsets[node]; k < offsets[node + 1]; ++k) {
        const unsigned e = elements[k];

        double u[24];
#pragma unroll
        for (int b = 0; b < 8; ++b) {
            const unsigned other = local_node(mesh, b, e);
            const unsigned mask = held[other];
#pragma unroll
            for (int j = 0; j < 3; ++j) u[3 * b + j] = free_value(x, mesh.n_nodes, other, mask, j);
        }

        const double* rows = stiffness + (size_t)e * 576 + 72 * locals[k];
        const double2* pairs = reinterpret_cast<const double2*>(rows);

        double sum[3] = {0.0, 0.0, 0.0};
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int j = 0; j < 12; ++j) {
                const double2 pair = pairs[12 * i + j];
                sum[i] += pair.x * u[2 * j] + pair.y * u[2 * j + 1];
            }

#pragma unroll
        for (int i = 0; i < 3; ++i) total[i] += moduli[e] * sum[i];
    }

    const unsigned mask = held[node];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const size_t at = (size_t)i * mesh.n_nodes + node;
        y[at] = mask >> i & 1 ? x[at] : total[i];
    }
}
