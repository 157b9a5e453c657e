// (k L + c M) u of one element per thread, which diffusion.cu and diffusion_stretched.cu compile: a
// branch for elements that are not stretched takes a tenth of their rate. STRETCHED is defined before.

#pragma once

#define BLOCK 128

#ifdef BY_MODES
#include "common/conduction_product.cuh"
#else
#include "common/conduction_slabs.cuh"
#endif
#include "common/reduce.cuh"

// Adds the product of the thread's element to y, or writes it to slots that y is then; with WITH_DOT
// returns its part of x . y, else 0
template <bool WITH_DOT, bool TO_SLOTS>
__device__ __forceinline__ double add_product(
    MeshView mesh, Part part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ stretches,       // [3][n_elements]; null where not STRETCHED
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ y) {                   // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return 0.0;
    const bool is_at_support = at_supports[e / 32] >> e % 32 & 1;
    unsigned node[8];
    real values[8], F[8];
    load_nodes(mesh, e, node);
    load_values(node, x, values);
    if (is_at_support)
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (held[node[m]]) values[m] = 0;

    const double sum = element_product<WITH_DOT>(
        mesh, e, node, stretches, conductivities[e], capacities[e], x, values, F);
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        if (TO_SLOTS) {
            y[(size_t)m * mesh.n_elements + e] = F[m];
        } else {
            const bool is_held = is_at_support && held[node[m]];
            atomicAdd(y + node[m], is_held ? (real)0 : F[m]);
        }
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) diffusion(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ stretches,       // [3][n_elements]; null where not STRETCHED
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ y) {                   // [n_nodes]
    add_product<false, false>(mesh, part, held, at_supports, stretches, conductivities, capacities, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) diffusion_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ stretches,       // [3][n_elements]; null where not STRETCHED
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ y,                     // [n_nodes]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_product<true, false>(mesh, part, held, at_supports, stretches, conductivities, capacities, x, y),
              partial);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) diffusion_to_slots(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ stretches,       // [3][n_elements]; null where not STRETCHED
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ slots) {               // [8][n_elements]
    add_product<false, true>(mesh, part, held, at_supports, stretches, conductivities, capacities, x, slots);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) diffusion_to_slots_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ stretches,       // [3][n_elements]; null where not STRETCHED
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ slots,                 // [8][n_elements]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_product<true, true>(mesh, part, held, at_supports, stretches, conductivities, capacities, x, slots),
              partial);
}
