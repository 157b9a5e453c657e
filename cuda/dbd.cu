// precision: f64 f32
// dbd: the second pass of `dbd`: each node sums up what its elements have left in slots.
//
// Source:        the DoF-by-DoF form of [LoebEarls2019]
// Mapping:       one thread per node, blocks of 256
// Layout:        vectors as planes [unknowns][n_nodes]; slots [unknowns][n_slots], a slot per element and
//                local node, n_slots = 8 n_elements; places of a node's slots by increasing element
// Cost:          a place (4 bytes) and a value per unknown read per slot; a vector written
// Deterministic: yes; slots in fixed order, no entry has two threads
// Requires:      all slots have been written
// Oracle:        crates/topopt-cuda/tests/device/operators.rs, crates/topopt-cuda/tests/device/diffusion.rs

#define BLOCK 256

template <int N>
__device__ __forceinline__ void gather_slots(
    unsigned n_nodes, unsigned n_slots, const unsigned* __restrict__ offsets,
    const unsigned* __restrict__ places, const unsigned char* __restrict__ held,
    const real* __restrict__ slots, const real* __restrict__ x, real* __restrict__ y) {
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= n_nodes) return;
    real sum[N] = {};
    for (unsigned k = offsets[node]; k < offsets[node + 1]; ++k) {
        const unsigned place = places[k];
#pragma unroll
        for (int i = 0; i < N; ++i) sum[i] += slots[(size_t)i * n_slots + place];
    }

    const unsigned mask = held[node];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const size_t at = (size_t)i * n_nodes + node;
        y[at] = mask >> i & 1 ? x[at] : sum[i];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) gather1(
    unsigned n_nodes, unsigned n_slots,
    const unsigned* __restrict__ offsets,   // [n_nodes + 1]
    const unsigned* __restrict__ places,    // [n_slots], of every node
    const unsigned char* __restrict__ held, // [n_nodes], 1 where the node is held
    const real* __restrict__ slots,         // [n_slots]
    const real* __restrict__ x,             // [n_nodes]
    real* __restrict__ y) {                 // [n_nodes]
    gather_slots<1>(n_nodes, n_slots, offsets, places, held, slots, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) gather3(
    unsigned n_nodes, unsigned n_slots,
    const unsigned* __restrict__ offsets,   // [n_nodes + 1]
    const unsigned* __restrict__ places,    // [n_slots], of every node
    const unsigned char* __restrict__ held, // [n_nodes], bit i for component i
    const real* __restrict__ slots,         // [3][n_slots]
    const real* __restrict__ x,             // [3][n_nodes]
    real* __restrict__ y) {                 // [3][n_nodes]
    gather_slots<3>(n_nodes, n_slots, offsets, places, held, slots, x, y);
}
