// precision: f64 f32
// element: full modes
// patch1, patch3: the assembled matrix, elements of a patch add to its rows in shared memory.
// patch_boundary1, patch_boundary3: what elements of other patches have added to these rows.
//
// Source:        [Fu2013, 5.4]; places in shared memory are made beforehand and not searched
// Mapping:       patch: a block of 64 per patch, eight threads per element; patch_boundary: a
//                thread per number
// Layout:        first_blocks, first_elements [n_patches + 1]; blocks [n_upper] and elements
//                [n_elements], patch by patch; targets [n_elements][36], the block in the patch
//                where MARKED, otherwise in boundary [n_boundary][N][N]; values [n_blocks][N][N]
// Cost:          per element 36 targets read, 36 N^2 numbers added in shared memory or, across
//                patches, to memory
// Deterministic: no: elements add to a number in any order
// Requires:      48 kB of shared memory; boundary zero before, finish of assemble.cu afterwards
// Oracle:        crates/topopt-cuda/tests/device/assembly.rs

#define BLOCK 64
#define NUMBERS 3456 // of the rows of a patch

#include "common/tiles.cuh"

struct RowPatchesView {
    unsigned n_patches;
    const unsigned* first_blocks;   // [n_patches + 1]
    const unsigned* first_elements; // [n_patches + 1]
    const unsigned* blocks;         // [n_upper]
    const unsigned* elements;       // [n_elements]
    const unsigned* targets;        // [n_elements][36]
};

template <int N>
__device__ __forceinline__ void assemble_rows(
    const RowPatchesView& patches, const UpperView& upper, const MeshView& mesh, const Source& source,
    real* values, real* boundary) {
    __shared__ Geometry slots[SLOTS];
    __shared__ real staged[BLOCK][N * N];
    __shared__ real rows[NUMBERS];
    const unsigned first = patches.first_blocks[blockIdx.x];
    const unsigned count = (patches.first_blocks[blockIdx.x + 1] - first) * (N * N);
    for (unsigned k = threadIdx.x; k < count; k += BLOCK) rows[k] = 0;
    __syncthreads();

    const unsigned end = patches.first_elements[blockIdx.x + 1];
    for (unsigned at = patches.first_elements[blockIdx.x]; at < end; at += SLOTS) {
        const unsigned own = at + threadIdx.x / 8;
        each_number<N>(mesh, source, own < end ? patches.elements[own] : 0, own < end, slots, staged,
                       [&](unsigned owner, int p, int k, const real* tile) {
                           const unsigned target = patches.targets[(size_t)owner * PAIRS + p];
                           const real value = oriented<N>(tile, k, target);
                           const size_t number = (size_t)PLACE(target) * (N * N) + k;
                           if (target & MARKED) atomicAdd(rows + number, value);
                           else atomicAdd(boundary + number, value);
                       });
    }
    __syncthreads();

    for (unsigned k = threadIdx.x; k < count; k += BLOCK) {
        const unsigned u = patches.blocks[first + k / (N * N)];
        values[(size_t)upper.places[u] * (N * N) + k % (N * N)] = rows[k];
    }
}

template <int N>
__device__ __forceinline__ void add_boundary(
    const UpperView& upper, unsigned n_boundary, const unsigned* blocks, const real* boundary, real* values) {
    const unsigned long long number = blockIdx.x * (unsigned long long)BLOCK + threadIdx.x;
    const unsigned at = (unsigned)(number / (N * N));
    if (at < n_boundary) values[(size_t)upper.places[blocks[at]] * (N * N) + number % (N * N)] += boundary[number];
}

extern "C" __global__ void __launch_bounds__(BLOCK) patch1(
    VIEW(RowPatchesView) patches, VIEW(UpperView) upper,
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    real* __restrict__ values,            // [n_blocks][1][1]
    real* __restrict__ boundary) {        // [n_boundary][1][1]
    assemble_rows<1>(patches, upper, mesh, {routine, material, stored, moduli, capacities}, values, boundary);
}

extern "C" __global__ void __launch_bounds__(BLOCK) patch_boundary1(
    VIEW(UpperView) upper, unsigned n_boundary,
    const unsigned* __restrict__ blocks, // [n_boundary], among upper ones
    const real* __restrict__ boundary,   // [n_boundary][1][1]
    real* values) {                      // [n_blocks][1][1]
    add_boundary<1>(upper, n_boundary, blocks, boundary, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) patch3(
    VIEW(RowPatchesView) patches, VIEW(UpperView) upper,
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    real* __restrict__ values,            // [n_blocks][3][3]
    real* __restrict__ boundary) {        // [n_boundary][3][3]
    assemble_rows<3>(patches, upper, mesh, {routine, material, stored, moduli, capacities}, values, boundary);
}

extern "C" __global__ void __launch_bounds__(BLOCK) patch_boundary3(
    VIEW(UpperView) upper, unsigned n_boundary,
    const unsigned* __restrict__ blocks, // [n_boundary], among upper ones
    const real* __restrict__ boundary,   // [n_boundary][3][3]
    real* values) {                      // [n_blocks][3][3]
    add_boundary<3>(upper, n_boundary, blocks, boundary, values);
}
