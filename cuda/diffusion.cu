// precision: f64 f32
// diffusion: (k L + c M) u with one unknown per node and nothing stored: conduction, and capacity
// lumped to the diagonal; geometry from the coordinates.
//
// Source:        L_ab = integral of grad N_a . grad N_b and M_aa = integral of N_a, by the 2x2x2 Gauss
//                rule on trilinear fields as common/trilinear.cuh holds them
// Mapping:       one thread per element, blocks of 128; diffusion_dot leaves what a block adds to x . y;
//                diffusion_to_slots, diffusion_to_slots_dot: with products in slots, to be gathered
//                (dbd.cu)
// Layout:        vectors [n_nodes], coefficients [n_elements], slots [8][n_elements] by position in the
//                element
// Cost:          1760 operations per element; connectivity (32 bytes) and two coefficients read per
//                element; coordinates (24 bytes) and x read and y written per node
// Deterministic: where no two elements of a launch share a node, as with one launch per color; in one
//                launch of all elements the order of additions at a node is not fixed; slots: yes
// Requires:      y = (1 - P) x beforehand (supports.cu), except for slots; for a dot product: x is zero
//                at held nodes
// Oracle:        crates/topopt-cuda/tests/device/diffusion.rs

#define BLOCK 128

#include "common/points.cuh"
#include "common/reduce.cuh"

// The transpose of derivatives(): adds the flux at a point to what is conjugate to the coefficients
__device__ __forceinline__ void add_flux(const real flux[3], const real at[3], real F[8]) {
    const real mixed = at[2] * flux[0] + at[0] * flux[2];
    F[1] += flux[0], F[2] += flux[1], F[4] += flux[2];
    F[3] += at[1] * flux[0] + at[0] * flux[1];
    F[5] += mixed;
    F[6] += at[2] * flux[1] + at[1] * flux[2];
    F[7] += at[1] * mixed + at[0] * at[2] * flux[1];
}

// The transpose of to_coefficients, in place: nodal values by position
__device__ __forceinline__ void to_nodes(real F[8]) {
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2)
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (!(m & bit)) {
                const real low = F[m], high = F[m | bit];
                F[m] = low - high;
                F[m | bit] = low + high;
            }
}

// Adds the product of the thread's element to y, or writes it to slots that y is then; with WITH_DOT
// returns its part of x . y, else 0
template <bool WITH_DOT, bool TO_SLOTS>
__device__ __forceinline__ double add_product(
    MeshView mesh, Part part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ y) {                   // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return 0.0;
    const bool is_at_support = at_supports[e / 32] >> e % 32 & 1;
    unsigned node[8];
    real X[3][8], values[8], U[8], F[8] = {}, shares[8] = {};
    load_element(mesh, e, node, X);
    load_values(node, x, values);
    if (is_at_support)
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (held[node[m]]) values[m] = 0;
    to_coefficients(values, U);

    // Not unrolled: that saves a third of the operations and takes 252 registers, not 168.
    const real conductivity = (real)(1.0 / 512) * conductivities[e];
    double sum = 0.0;
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
        real h[3], flux[3];
        gradient(p, U, h);
        const real scale = conductivity * reciprocal(p.det);
        // From gradients: what all nodes share does no work, and leaves no rounding behind.
        if (WITH_DOT) sum += (double)scale * (double)dot(h, h, 0);
#pragma unroll
        for (int k = 0; k < 3; ++k) flux[k] = scale * dot(h, p.C[k], 0);
        add_flux(flux, p.at, F);
#pragma unroll
        for (int m = 0; m < 8; ++m) shares[m] += p.det * shape(p, m);
    }
    to_nodes(F);

    const real capacity = (real)(1.0 / 4096) * capacities[e];
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const real stored = capacity * shares[m] * values[m];
        if (WITH_DOT) sum += (double)stored * (double)values[m];
        if (TO_SLOTS) {
            y[(size_t)m * mesh.n_elements + e] = F[m] + stored;
        } else {
            const bool is_held = is_at_support && held[node[m]];
            atomicAdd(y + node[m], is_held ? (real)0 : F[m] + stored);
        }
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ y) {                   // [n_nodes]
    add_product<false, false>(mesh, part, held, at_supports, conductivities, capacities, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ y,                     // [n_nodes]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_product<true, false>(mesh, part, held, at_supports, conductivities, capacities, x, y), partial);
}

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion_to_slots(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ slots) {               // [8][n_elements]
    add_product<false, true>(mesh, part, held, at_supports, conductivities, capacities, x, slots);
}

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion_to_slots_dot(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    const real* __restrict__ conductivities,  // [n_elements]
    const real* __restrict__ capacities,      // [n_elements]
    const real* __restrict__ x,               // [n_nodes]
    real* __restrict__ slots,                 // [8][n_elements]
    double* __restrict__ partial) {           // [blocks of the launch]
    block_sum(add_product<true, true>(mesh, part, held, at_supports, conductivities, capacities, x, slots),
              partial);
}
