// precision: f64 f32
// element: full modes
// atomic1, atomic3: the assembled matrix, every element adds to it by atomics.
//
// Source:        [CeckaLewDarve2011, 3.4], the direct way
// Mapping:       eight threads per element; 16 elements per block of 128
// Layout:        targets [n_elements][36], the block of each tile; values [n_blocks][N][N], zero
//                before
// Cost:          per element 36 N^2 numbers added, 36 targets read
// Deterministic: no: elements add to a number in any order
// Requires:      35 kB of shared memory; finish of assemble.cu afterwards
// Oracle:        crates/topopt-cuda/tests/device/assembly.rs

#define BLOCK 128

#include "common/tiles.cuh"

template <int N>
__device__ __forceinline__ void add_all(
    const MeshView& mesh, const Source& source, const unsigned* targets, real* values) {
    __shared__ Geometry slots[SLOTS];
    __shared__ real staged[BLOCK][N * N];
    const unsigned e = (blockIdx.x * BLOCK + threadIdx.x) / 8;
    each_number<N>(mesh, source, e, e < mesh.n_elements, slots, staged,
                   [&](unsigned owner, int p, int k, const real* tile) {
                       const unsigned target = targets[(size_t)owner * PAIRS + p];
                       atomicAdd(values + (size_t)PLACE(target) * (N * N) + k, oriented<N>(tile, k, target));
                   });
}

extern "C" __global__ void __launch_bounds__(BLOCK) atomic1(
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    const unsigned* __restrict__ targets, // [n_elements][36]
    real* __restrict__ values) {          // [n_blocks][1][1]
    add_all<1>(mesh, {routine, material, stored, moduli, capacities}, targets, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) atomic3(
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    const unsigned* __restrict__ targets, // [n_elements][36]
    real* __restrict__ values) {          // [n_blocks][3][3]
    add_all<3>(mesh, {routine, material, stored, moduli, capacities}, targets, values);
}
