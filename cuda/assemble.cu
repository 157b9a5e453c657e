// precision: f64 f32
// element: full modes
// store_tiles1, store_tiles3: the matrices of elements for coefficients of 1, to be assembled again
// and again. finish1, finish3: what lies below the diagonal of a matrix that was summed up above
// it, and held rows.
//
// Source:        [CeckaLewDarve2011, 4.3.3], symmetric matrices
// Mapping:       store_tiles: eight threads per element, see common/tiles.cuh; finish: a thread per
//                number
// Layout:        stored [n_elements]: 36 tiles of [N][N], and 8 lumped capacities where N = 1;
//                values [n_blocks][N][N]
// Cost:          finish: reads and writes 8 bytes per number of a block above the diagonal
// Deterministic: yes
// Requires:      35 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/assembly.rs

#define BLOCK 128

#include "common/tiles.cuh"

template <int N>
__device__ __forceinline__ void store_tiles(const MeshView& mesh, const Lame& material, real* stored) {
    __shared__ Geometry slots[SLOTS];
    __shared__ real staged[BLOCK][N * N];
    const unsigned e = (blockIdx.x * BLOCK + threadIdx.x) / 8;
    const bool active = e < mesh.n_elements;
    const int q = threadIdx.x % 8, first = threadIdx.x / WARP * WARP;
    Geometry& geometry = slots[threadIdx.x / 8];
    if (active) evaluate<N>(mesh, COMPUTED, e, q, geometry);
    __syncwarp();
    if (N == 1 && active) stored[(size_t)e * STORED_NUMBERS(N) + PAIRS + q] = share(geometry, q);

#pragma unroll 1
    for (int step = 0; step < 5; ++step) {
        if (active)
            make_tile<N>(geometry, COMPUTED, q, (q + step) & 7, material, 1, 0, staged[threadIdx.x]);
        __syncwarp();
#pragma unroll 1
        for (int k = 0; k < N * N; ++k) {
            const int number = k * WARP + threadIdx.x % WARP, tile = number / (N * N), p = 8 * step + tile % 8;
            const unsigned owner = (blockIdx.x * BLOCK + first + tile) / 8;
            if (owner < mesh.n_elements && p < PAIRS)
                stored[(size_t)owner * STORED_NUMBERS(N) + N * N * p + number % (N * N)] =
                    staged[first + tile][number % (N * N)];
        }
        __syncwarp();
    }
}

template <int N>
__device__ __forceinline__ void finish(const UpperView& upper, real* values) {
    const unsigned long long number = blockIdx.x * (unsigned long long)BLOCK + threadIdx.x;
    const unsigned u = (unsigned)(number / (N * N));
    const int k = (int)(number % (N * N));
    if (u < upper.n_blocks)
        write_number<N>(upper, u, k, values[(size_t)upper.places[u] * (N * N) + k], values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) store_tiles1(
    VIEW(MeshView) mesh, VIEW(Lame) material,
    real* __restrict__ stored) { // [n_elements][STORED_NUMBERS]
    store_tiles<1>(mesh, material, stored);
}

extern "C" __global__ void __launch_bounds__(BLOCK) finish1(
    VIEW(UpperView) upper,
    real* __restrict__ values) { // [n_blocks][1][1]
    finish<1>(upper, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) store_tiles3(
    VIEW(MeshView) mesh, VIEW(Lame) material,
    real* __restrict__ stored) { // [n_elements][STORED_NUMBERS]
    store_tiles<3>(mesh, material, stored);
}

extern "C" __global__ void __launch_bounds__(BLOCK) finish3(
    VIEW(UpperView) upper,
    real* __restrict__ values) { // [n_blocks][3][3]
    finish<3>(upper, values);
}
