// The product of one element with nothing stored, as mf.cu has it, for the material of all elements or for
// laws by element. BLOCK is defined before.

#pragma once

#ifdef BY_MODES
#include "common/mode_forces.cuh"
#else
#include "common/forces.cuh"
#endif
#include "common/material.cuh"
#include "common/warp.cuh"

// Sets held components of the nodal values of an element to zero
__device__ __forceinline__ void clear_held(
    const unsigned node[8], const unsigned char* __restrict__ held, real v[3][8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const unsigned mask = held[node[m]];
#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (mask >> c & 1) v[c][m] = 0;
    }
}

#ifdef BY_MODES
// Adds the forces of an element at its face xi = 1 to those at the face xi = -1 of the next lane's
// element where it has the same nodes there; returns bit p for position 2 p + 1 that is handed over
// so.
__device__ __forceinline__ unsigned hand_over(unsigned active, const unsigned node[8], real F[3][8]) {
    const unsigned lane = threadIdx.x % WARP;
    const bool has_next = lane < WARP - 1 && active >> lane + 1 & 1;
    unsigned sent = 0;
#pragma unroll
    for (int p = 0; p < 4; ++p) {
        const unsigned next = __shfl_down_sync(active, node[2 * p], 1);
        if (has_next && next == node[2 * p + 1]) sent |= 1u << p;
    }

    const unsigned from_before = __shfl_up_sync(active, sent, 1), got = lane > 0 ? from_before : 0;
#pragma unroll
    for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            const real force = __shfl_up_sync(active, F[c][2 * p + 1], 1);
            if (got >> p & 1) F[c][2 * p] += force;
        }
    return sent;
}
#endif

// Adds the product of the thread's element to y, or writes it to slots that y is then; with
// WITH_DOT returns its part of x . y, else 0
template <bool WITH_DOT, bool TO_SLOTS, class Material>
__device__ __forceinline__ double add_product(
    MeshView mesh, Part part,
    const unsigned* __restrict__ elements,    // elements of a list, or null for all
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    Material material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, place = part.first + in_launch;
#ifdef BY_MODES
    const unsigned active = __ballot_sync(WHOLE_WARP, in_launch < part.count);
#endif
    if (in_launch >= part.count) return 0.0;
    const unsigned e = elements ? elements[place] : place;
    const bool is_at_support = at_supports[e / 32] >> e % 32 & 1;

    unsigned node[8];
    load_nodes(mesh, e, node);
    double X[3][8];
    real U[3][8], F[3][8];
    load_positions(mesh, node, X);
#ifdef BY_MODES
    __shared__ Geometry geometry;
    real coefficients[3][8];
    to_coefficients(X, coefficients);
    const Center center = store_geometry(coefficients, geometry);

    load_field(node, x, mesh.n_nodes, U);
    if (is_at_support) clear_held(node, held, U);
    to_coefficients(U, coefficients);

    const real modulus = modulus_of(material) * moduli[e];
    const double sum = mode_forces(geometry, center, coefficients, modulus, law_of(material), F);
#else
    load_field(node, x, mesh.n_nodes, U);
    if (is_at_support) clear_held(node, held, U);

    __shared__ Slabs x_slabs, u_slabs;
    real x_up[3][2][2], u_up[3][2][2], f_up[3][2][2] = {};
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        to_derivatives(X[c], c, x_slabs, x_up[c]);
        to_derivatives(U[c], c, u_slabs, u_up[c]);
    }

    const real modulus = modulus_of(material) * moduli[e];
#pragma unroll
    for (int k = 0; k < 2; ++k) add_slab(k, u_slabs, x_up, u_up, modulus, law_of(material), x_slabs, f_up);

    const double sum = WITH_DOT ? work(u_slabs, u_up, x_slabs, f_up) : 0.0;
#pragma unroll
    for (int c = 0; c < 3; ++c) to_nodes(x_slabs, c, f_up[c], F[c]);
#endif

    if (TO_SLOTS) {
#pragma unroll
        for (int c = 0; c < 3; ++c)
#pragma unroll
            for (int m = 0; m < 8; ++m) y[(size_t)(8 * c + m) * mesh.n_elements + e] = F[c][m];
        return sum;
    }
    if (is_at_support) clear_held(node, held, F);
#ifdef BY_MODES
    const unsigned sent = hand_over(active, node, F);
#else
    const unsigned sent = 0;
#endif
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real* __restrict__ plane = y + (size_t)c * mesh.n_nodes;
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (!(m & 1) || !(sent >> m / 2 & 1)) atomicAdd(plane + node[m], F[c][m]);
    }
    return sum;
}
