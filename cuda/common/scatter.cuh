// Nodal vectors as component planes [3][n_nodes], and the supports: bit i of held[node].

#pragma once

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
