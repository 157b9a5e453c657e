// Nodal vectors as component planes [3][n_nodes], and the supports: bit i of held[node].

#pragma once

#include "common/views.cuh"

// x at component i of `node`, 0 where it is held
__device__ __forceinline__ double free_value(
    const double* __restrict__ x, unsigned n_nodes, unsigned node, unsigned held, int i) {
    return held >> i & 1 ? 0.0 : x[(size_t)i * n_nodes + node];
}

// y += value at component i of `node` unless it is held
__device__ __forceinline__ void add_atomic(
    double* y, unsigned n_nodes, unsigned node, unsigned held, int i, double value) {
    if (!(held >> i & 1)) atomicAdd(y + ((size_t)i * n_nodes + node), value);
}

// The nodes of the elements of a block, and what is held of them, [8][ELEMENTS]; all threads call it
template <unsigned ELEMENTS>
__device__ __forceinline__ void load_block(
    const MeshView& mesh, const unsigned char* __restrict__ held, unsigned nodes[8 * ELEMENTS],
    unsigned masks[8 * ELEMENTS]) {
    if (threadIdx.x < 8 * ELEMENTS) {
        const unsigned element = blockIdx.x * ELEMENTS + threadIdx.x % ELEMENTS;
        if (element < mesh.n_elements) {
            nodes[threadIdx.x] = local_node(mesh, threadIdx.x / ELEMENTS, element);
            masks[threadIdx.x] = held[nodes[threadIdx.x]];
        }
    }
    __syncthreads();
}
