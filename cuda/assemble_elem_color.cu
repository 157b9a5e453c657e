// precision: f64 f32
// element: full modes
// elem_color1, elem_color3: the assembled matrix, element by element, a launch per color.
//
// Source:        [CeckaLewDarve2011, 4.1, Alg. 2]
// Mapping:       eight threads per element; 16 elements of a color per block of 128
// Layout:        order [n_elements], the elements color by color; targets [n_elements][36], the
//                block of each tile, MARKED where a node stands twice in the element; values
//                [n_blocks][N][N], zero before
// Cost:          per element 36 N^2 numbers read and written, 36 targets and its number read
// Deterministic: yes: no two elements of a color share a node, and one that has a node twice is
//                added by one thread
// Requires:      35 kB of shared memory; finish of assemble.cu afterwards
// Oracle:        crates/topopt-cuda/tests/device/assembly.rs

#define BLOCK 128

#include "common/tiles.cuh"

template <int N>
__device__ __forceinline__ void add_color(
    const MeshView& mesh, const Part& part, const unsigned* order, const Source& source,
    const unsigned* targets, real* values) {
    __shared__ Geometry slots[SLOTS];
    __shared__ real staged[BLOCK][N * N];
    const unsigned in_launch = (blockIdx.x * BLOCK + threadIdx.x) / 8;
    const bool active = in_launch < part.count;
    const unsigned e = active ? order[part.first + in_launch] : 0;
    const auto add = [&](unsigned owner, int p, int k, const real* tile, unsigned target) {
        values[(size_t)PLACE(target) * (N * N) + k] += oriented<N>(tile, k, target);
    };

    each_step<N>(mesh, source, e, active, slots, staged, [&](int step, real(*tiles)[N * N]) {
        each_of_step<N>(e, active, step, tiles, [&](unsigned owner, int p, int k, const real* tile) {
            const unsigned target = targets[(size_t)owner * PAIRS + p];
            if (!(target & MARKED)) add(owner, p, k, tile, target);
        });

        // Tiles that may go to one block follow each other.
        const unsigned own = (unsigned)threadIdx.x % WARP;
        if (!active || own % 8 != 0 || !(targets[(size_t)e * PAIRS] & MARKED)) return;
        for (int p = 8 * step; p < 8 * step + 8 && p < PAIRS; ++p)
            for (int k = 0; k < N * N; ++k)
                add(e, p, k, tiles[own + p % 8], targets[(size_t)e * PAIRS + p]);
    });
}

extern "C" __global__ void __launch_bounds__(BLOCK) elem_color1(
    VIEW(Part) part,
    const unsigned* __restrict__ order,   // [n_elements]
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    const unsigned* __restrict__ targets, // [n_elements][36]
    real* values) {                       // [n_blocks][1][1]
    add_color<1>(mesh, part, order, {routine, material, stored, moduli, capacities}, targets, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) elem_color3(
    VIEW(Part) part,
    const unsigned* __restrict__ order,   // [n_elements]
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    const unsigned* __restrict__ targets, // [n_elements][36]
    real* values) {                       // [n_blocks][3][3]
    add_color<3>(mesh, part, order, {routine, material, stored, moduli, capacities}, targets, values);
}
