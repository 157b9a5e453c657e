// precision: f64 f32
// element: full modes
// shared_nz1, shared_nz3: the assembled matrix, non-zero by non-zero, from elements in shared
// memory.
//
// Source:        [CeckaLewDarve2011, 4.3]; shared memory holds the gradients of an element, which
//                are 200 numbers, in place of its matrix of 324, and a patch of many elements takes
//                several passes
// Mapping:       a block of 128 per patch: eight threads evaluate an element, then each thread sums
//                up one of at most 128 blocks on and above the diagonal
// Layout:        first_blocks, first_elements [n_patches + 1]; blocks [n_upper] and elements, patch
//                by patch; offsets [n_upper + 1]; sources [64 e + 8 a + b], e the place in a pass
//                of 28 elements, and 2048 times the pass; values [n_blocks][N][N]
// Cost:          elements on the boundary of a patch are evaluated again for every patch; per
//                element 36 sources of 2 bytes
// Deterministic: yes: every number is summed up by one thread in the order of its list
// Requires:      45 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/assembly.rs

#define BLOCK 128
#define PASS 28 // elements in shared memory
#define OF_A_PASS 2048

#include "common/tiles.cuh"

struct PatchesView {
    unsigned n_patches;
    const unsigned* first_blocks;   // [n_patches + 1]
    const unsigned* first_elements; // [n_patches + 1]
    const unsigned* blocks;         // [n_upper]
    const unsigned* elements;       // of each patch
    const unsigned* offsets;        // [n_upper + 1]
    const unsigned short* sources;
};

template <int N>
__device__ __forceinline__ void assemble_patch(
    const PatchesView& patches, const UpperView& upper, const MeshView& mesh, const Source& source,
    real* values) {
    // First the elements of a pass; at the end what the threads have summed up.
    __shared__ Geometry geometry[PASS];
    static_assert(sizeof(geometry) >= BLOCK * 9 * sizeof(real), "sums have no room");
    const unsigned first = patches.first_blocks[blockIdx.x];
    const unsigned count = patches.first_blocks[blockIdx.x + 1] - first;
    const unsigned begin = patches.first_elements[blockIdx.x], end = patches.first_elements[blockIdx.x + 1];
    const bool sums = threadIdx.x < count;
    unsigned at = sums ? patches.offsets[first + threadIdx.x] : 0;
    const unsigned last = sums ? patches.offsets[first + threadIdx.x + 1] : 0;

    real K[N * N] = {};
    for (unsigned pass = 0; begin + pass * PASS < end; ++pass) {
        const unsigned* elements = patches.elements + begin + pass * PASS;
        for (unsigned slot = threadIdx.x / 8; slot < PASS && begin + pass * PASS + slot < end; slot += SLOTS)
            evaluate<N>(mesh, source.routine, elements[slot], threadIdx.x % 8, geometry[slot]);
        __syncthreads();
        for (; at < last && patches.sources[at] / OF_A_PASS == pass; ++at) {
            const unsigned from = patches.sources[at], slot = from % OF_A_PASS / 64, e = elements[slot];
            const int a = from / 8 % 8, b = from % 8;
            if (source.routine == EMPTY) {
                for (int k = 0; k < N * N; ++k) K[k] += geometry[slot].gradients[0][k % 3][a];
                continue;
            }
            add_products<N>(geometry[slot], a, b, source.material, source.moduli[e], K);
            if (N == 1 && a == b) K[0] += source.capacities[e] * share(geometry[slot], a);
        }
        __syncthreads();
    }
    if (source.routine != EMPTY) to_stiffness<N>(source.material, K);

    real* all = (real*)geometry; // neighboring threads write neighboring numbers
#pragma unroll
    for (int k = 0; k < N * N; ++k) all[N * N * threadIdx.x + k] = K[k];
    __syncthreads();
    for (unsigned number = threadIdx.x; number < count * (N * N); number += BLOCK)
        write_number<N>(upper, patches.blocks[first + number / (N * N)], number % (N * N), all[number], values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) shared_nz1(
    VIEW(PatchesView) patches, VIEW(UpperView) upper,
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    real* __restrict__ values) {          // [n_blocks][1][1]
    assemble_patch<1>(patches, upper, mesh, {routine, material, stored, moduli, capacities}, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) shared_nz3(
    VIEW(PatchesView) patches, VIEW(UpperView) upper,
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    real* __restrict__ values) {          // [n_blocks][3][3]
    assemble_patch<3>(patches, upper, mesh, {routine, material, stored, moduli, capacities}, values);
}
