// Products of hexahedra in clusters, as mf_clusters.cu has them, for an isotropic material or another law. BLOCK is
// defined before.

#pragma once

#define LANES 32
#define LANE (threadIdx.x % LANES)
#define ROUNDS 3

#ifdef BY_MODES
#include "common/mode_forces.cuh"
#else
#include "common/forces.cuh"
#endif
#include "common/clusters.cuh"
#include "common/material.cuh"

// Three values at each corner of the lane's element, by position
__device__ __forceinline__ void at_corners(
    const Threes<ROUNDS * LANES>& all, EightBytes corner, real values[3][8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const int k = corner >> 8 * m & 255;
        const Pair xy = all.xy[k];
        values[0][m] = xy.a, values[1][m] = xy.b, values[2][m] = all.z[k];
    }
}

// The product of the lane's element, from what is staged, and x where that is not yet, to forces by
// place; its part of x . y, or 0
template <bool WITH_DOT, class Material>
__device__ __forceinline__ double element_product(
    EightBytes corner, const Nodes& nodes, unsigned n_nodes, const real* __restrict__ x, real modulus,
    Material material, Waiting& waiting, real F[3][8]) {
#ifdef BY_MODES
    real values[3][8], V[3][8];
    at_corners(waiting.in_turn.nodal, corner, values);
    to_coefficients(values, V);
    const Center center = store_geometry(V, waiting.in_turn.geometry);

    stage_x(nodes, n_nodes, x, waiting);
    __syncwarp();
    at_corners(waiting.in_turn.nodal, corner, values);
    to_coefficients(values, V);
    return mode_forces(waiting.in_turn.geometry, center, V, modulus, law_of(material), F);
#else
    real X[3][8], U[3][8];
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const Pair* values = waiting.nodal[corner >> 8 * m & 255];
        const Pair first = values[0], second = values[1], third = values[2];
        X[0][m] = first.a, X[1][m] = first.b, X[2][m] = second.a;
        U[0][m] = second.b, U[1][m] = third.a, U[2][m] = third.b;
    }

    __syncwarp(); // the slabs take their place
    Slabs &x_slabs = waiting.slabs.x, &u_slabs = waiting.slabs.u;
    real x_up[3][2][2], u_up[3][2][2], f_up[3][2][2] = {};
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        to_derivatives(X[c], c, x_slabs, x_up[c]);
        to_derivatives(U[c], c, u_slabs, u_up[c]);
    }

#pragma unroll
    for (int k = 0; k < 2; ++k) add_slab(k, u_slabs, x_up, u_up, modulus, law_of(material), x_slabs, f_up);

    const double sum = WITH_DOT ? work(u_slabs, u_up, x_slabs, f_up) : 0.0;
#pragma unroll
    for (int c = 0; c < 3; ++c) to_nodes(x_slabs, c, f_up[c], F[c]);

    return sum;
#endif
}

template <bool WITH_DOT, class Material>
__device__ __forceinline__ double add_product(
    ClustersView clusters, MeshView mesh, Material material,
    const real* __restrict__ moduli, // [n_elements]
    const real* __restrict__ x,      // [3][n_nodes]
    real* __restrict__ y) {          // [3][n_nodes]
    __shared__ Waiting all_waiting[BLOCK / LANES];
    __shared__ Nodes all_nodes[BLOCK / LANES];
    Waiting& waiting = all_waiting[threadIdx.x / LANES];
    Nodes& all = all_nodes[threadIdx.x / LANES];

    const unsigned cluster = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
    if (cluster >= clusters.n_clusters) return 0.0;

    const size_t first_slot = (size_t)cluster * (ROUNDS * LANES), lane = (size_t)cluster * LANES + LANE;
    const EightBytes corner = read_only(clusters.corners + lane);
#ifndef BY_MODES
    all.places[LANE] = read_only(clusters.places + lane);
#endif

    // Lanes past the last element repeat it with modulus 0, and no node has a place in them.
    const unsigned e = read_only(clusters.starts + cluster) + LANE;
    const bool is_there = e < read_only(clusters.starts + cluster + 1);
    const real modulus = is_there ? modulus_of(material) * moduli[e] : (real)0;

    stage(clusters, first_slot, mesh, x, waiting, all);
    __syncwarp();

    real F[3][8];
    const double sum = element_product<WITH_DOT>(
        corner, all, mesh.n_nodes, x, modulus, material, waiting, F);

#ifdef BY_MODES
    stage_places(clusters, first_slot, waiting);
#else
    __syncwarp(); // forces take their place
#endif
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        waiting.forces.xy[m * LANES + LANE] = {F[0][m], F[1][m]};
        waiting.forces.z[m * LANES + LANE] = F[2][m];
    }

    __syncwarp();
    add_sums(waiting, all, mesh.n_nodes, y);
    return sum;
}
