// precision: f64 f32
// front: what an eikonal front on patches needs beside eikonal.cu: sources, exchange between patches,
// the times of the vertices.
//
// Source:        [FuKirbyWhitaker2013]
// Mapping:       front_exchange: a block a patch, which leaves at once if nothing was lowered in it, a
//                thread a copy; front_give: a thread a copy of a source; front_collect: a thread a
//                vertex; front_clear: a thread a copy, a patch
// Layout:        as eikonal.cu
// Cost:          front_exchange: 4 bytes a patch; 1 byte a copy of a patch where any was lowered; a
//                number, 12 bytes and 4 more a copy of the vertex, an atomic minimum of a number for
//                each, for one that was lowered
// Deterministic: yes: a minimum does not depend on its order, and nothing else is read and written
// Requires:      as eikonal.cu
// Oracle:        crates/topopt-cuda/tests/device/eikonal.rs

#define BLOCK 256

#include "common/front.cuh"

// Lowers the other copies of the vertices that were lowered; these wait then
extern "C" __global__ void __launch_bounds__(BLOCK) front_exchange(
    VIEW(FrontView) view, unsigned round,
    real* values,                     // [n_copies]
    unsigned char* states,            // [n_copies]
    unsigned char* sends,             // [n_copies], back to 0
    unsigned* __restrict__ changed,   // [n_patches], back to 0
    real* earliest,                   // [n_patches]
    real* front) {                    // [3]
    __shared__ Bits first;
    const unsigned p = blockIdx.x, copy = view.first_copies[p] + threadIdx.x;
    const bool is_changed = changed[p];
    __syncthreads();
    if (!is_changed) return;
    if (threadIdx.x == 0) first = to_bits(NEVER), changed[p] = 0;
    __syncthreads();

    Bits* all = (Bits*)values;
    if (copy < view.first_copies[p + 1] && sends[copy]) {
        sends[copy] = 0;
        // Another copy may be lowering this one: both then bring the same minimum everywhere.
        const Bits value = all[copy];
        const unsigned vertex = view.vertices[copy];
        for (unsigned s = view.offsets[vertex]; s < view.offsets[vertex + 1]; ++s) {
            const unsigned slot = view.slots[s];
            if (slot == copy || !(value < atomicMin(all + slot, value))) continue;
            states[slot] = WAITS;
            atomicMin((Bits*)earliest + view.owners[slot], value);
            atomicMin(&first, value);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && first < to_bits(NEVER)) atomicMin((Bits*)front + (round + 1) % 3, first);
}

// Nothing has arrived
extern "C" __global__ void __launch_bounds__(BLOCK) front_clear(
    VIEW(FrontView) view,
    real* __restrict__ values,          // [n_copies]
    unsigned char* __restrict__ states, // [n_copies]
    real* __restrict__ earliest,        // [n_patches]
    unsigned* __restrict__ solves,      // [n_patches]
    real* __restrict__ front,           // [3]
    unsigned* __restrict__ rounds) {    // [1]
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < view.n_copies) values[i] = NEVER, states[i] = 0;
    if (i < view.n_patches) earliest[i] = NEVER, solves[i] = 0;
    if (i < 3) front[i] = NEVER;
    if (i == 0) *rounds = 0;
}

// The sources; each copy once
extern "C" __global__ void __launch_bounds__(BLOCK) front_give(
    VIEW(FrontView) view, unsigned n,
    const unsigned* __restrict__ copies, // [n]
    const real* __restrict__ given,      // [n], their values
    real* __restrict__ values,           // [n_copies]
    unsigned char* __restrict__ states,  // [n_copies]
    real* earliest,                      // [n_patches]
    real* front) {                       // [3]
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    values[copies[i]] = given[i];
    states[copies[i]] = WAITS | GIVEN;
    atomicMin((Bits*)earliest + view.owners[copies[i]], to_bits(given[i]));
    atomicMin((Bits*)front, to_bits(given[i]));
}

// times = the values of the vertices
extern "C" __global__ void __launch_bounds__(BLOCK) front_collect(
    VIEW(FrontView) view,
    const real* __restrict__ values, // [n_copies]
    real* __restrict__ times) {      // [n_vertices]
    const unsigned v = blockIdx.x * BLOCK + threadIdx.x;
    if (v >= view.n_vertices) return;
    // After an exchange all copies have the same value; a vertex without a tetrahedron has none.
    const unsigned first = view.offsets[v];
    times[v] = first < view.offsets[v + 1] ? values[view.slots[first]] : NEVER;
}
