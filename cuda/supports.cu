// precision: f64 f32
// Supports: what every operator that adds up element contributions does before it does so.
//
// Source:        y = P K P x + (1 - P) x, P the projection on free components
// Mapping:       one thread a node, blocks of 512
// Layout:        vectors [3][n_nodes], of held_part1 [n_nodes]; held [n_nodes], bit i for component i
// Cost:          held_part: 1 byte read and 3 values written a node, of held_part1 one, and x read where
//                it is held
// Deterministic: yes
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#define BLOCK 512

// y = (1 - P) x: x at held components, 0 at free ones
template <int UNKNOWNS>
__device__ __forceinline__ void copy_held(
    unsigned n_nodes,
    const unsigned char* __restrict__ held, // [n_nodes]
    const real* __restrict__ x,             // [UNKNOWNS][n_nodes]
    real* __restrict__ y) {                 // [UNKNOWNS][n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= n_nodes) return;
    const unsigned mask = held[node];
    for (int i = 0; i < UNKNOWNS; ++i) {
        const size_t at = (size_t)i * n_nodes + node;
        y[at] = mask >> i & 1 ? x[at] : (real)0;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) held_part(
    unsigned n_nodes,
    const unsigned char* __restrict__ held, // [n_nodes]
    const real* __restrict__ x,             // [3][n_nodes]
    real* __restrict__ y) {                 // [3][n_nodes]
    copy_held<3>(n_nodes, held, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) held_part1(
    unsigned n_nodes,
    const unsigned char* __restrict__ held, // [n_nodes]
    const real* __restrict__ x,             // [n_nodes]
    real* __restrict__ y) {                 // [n_nodes]
    copy_held<1>(n_nodes, held, x, y);
}
