// precision: f64 f32
// element: full modes
// element_tiles1, element_tiles3: the matrices of all elements, to memory.
// global_nz1, global_nz3: the assembled matrix from these, non-zero by non-zero.
//
// Source:        [CeckaLewDarve2011, 4.2, Alg. 5]; lists lie in compressed rows and are not packed,
//                as neighboring threads take the numbers of one tile
// Mapping:       element_tiles: eight threads per element; global_nz: a thread per number on and
//                above the diagonal
// Layout:        tiles [n_elements][36][N][N], or stored matrices [n_elements][STORED_NUMBERS];
//                offsets [n_upper + 1], sources [36 n_elements], tile 36 e + p of each block;
//                values [n_blocks][N][N]
// Cost:          per element 36 N^2 numbers written, and read again with 36 sources
// Deterministic: yes: every number is summed up by one thread, by increasing elements
// Requires:      element_tiles: 35 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/assembly.rs

#define BLOCK 128

#include "common/tiles.cuh"

template <int N>
__device__ __forceinline__ void element_tiles(const MeshView& mesh, const Source& source, real* all) {
    __shared__ Geometry slots[SLOTS];
    __shared__ real staged[BLOCK][N * N];
    const unsigned e = (blockIdx.x * BLOCK + threadIdx.x) / 8;
    each_number<N>(mesh, source, e, e < mesh.n_elements, slots, staged,
                   [&](unsigned owner, int p, int k, const real* tile) {
                       all[((size_t)owner * PAIRS + p) * (N * N) + k] = tile[k];
                   });
}

template <int N>
__device__ __forceinline__ void reduce(
    const UpperView& upper, const Source& source, const unsigned* offsets, const unsigned* sources,
    const real* tiles, real* values) {
    const unsigned long long number = blockIdx.x * (unsigned long long)BLOCK + threadIdx.x;
    const unsigned u = (unsigned)(number / (N * N));
    const int k = (int)(number % (N * N));
    if (u >= upper.n_blocks) return;

    real sum = 0;
    const unsigned end = offsets[u + 1];
    for (unsigned at = offsets[u]; at < end; ++at) {
        const unsigned from = sources[at];
        if (source.routine == STORED) {
            const unsigned e = PLACE(from) / PAIRS, p = PLACE(from) % PAIRS;
            const real* own = source.stored + (size_t)e * STORED_NUMBERS(N);
            sum += source.moduli[e] * oriented<N>(own + N * N * p, k, from);
            if (N == 1 && p < 8) sum += source.capacities[e] * own[PAIRS + p];
        } else {
            sum += oriented<N>(tiles + (size_t)PLACE(from) * (N * N), k, from);
        }
    }
    write_number<N>(upper, u, k, sum, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) element_tiles1(
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    real* __restrict__ tiles) {           // [n_elements][36][1][1]
    element_tiles<1>(mesh, {routine, material, stored, moduli, capacities}, tiles);
}

extern "C" __global__ void __launch_bounds__(BLOCK) global_nz1(
    VIEW(UpperView) upper, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS], where the routine is STORED
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    const unsigned* __restrict__ offsets, // [n_upper + 1]
    const unsigned* __restrict__ sources, // [36 n_elements]
    const real* __restrict__ tiles,       // [n_elements][36][1][1], where it is not
    real* __restrict__ values) {          // [n_blocks][1][1]
    reduce<1>(upper, {routine, material, stored, moduli, capacities}, offsets, sources, tiles, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) element_tiles3(
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    real* __restrict__ tiles) {           // [n_elements][36][3][3]
    element_tiles<3>(mesh, {routine, material, stored, moduli, capacities}, tiles);
}

extern "C" __global__ void __launch_bounds__(BLOCK) global_nz3(
    VIEW(UpperView) upper, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS], where the routine is STORED
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    const unsigned* __restrict__ offsets, // [n_upper + 1]
    const unsigned* __restrict__ sources, // [36 n_elements]
    const real* __restrict__ tiles,       // [n_elements][36][3][3], where it is not
    real* __restrict__ values) {          // [n_blocks][3][3]
    reduce<3>(upper, {routine, material, stored, moduli, capacities}, offsets, sources, tiles, values);
}
