// The product of one tetrahedron with nothing stored, as tetrahedra.cu has it, for an isotropic material
// or another law. BLOCK is defined before.

#pragma once

#include "common/tetrahedron.cuh"

// What mu is to be divided by
#define MU_SCALE 24

#include "common/material.cuh"

__device__ __forceinline__ bool bit(const unsigned* __restrict__ bits, unsigned e) {
    return bits[e / 32] >> e % 32 & 1;
}

// Adds forces of component c to y, except where it is held
__device__ __forceinline__ void add_forces(
    const unsigned node[TETRAHEDRON_NODES], const real f[TETRAHEDRON_NODES], int c, unsigned n_nodes,
    const unsigned char* __restrict__ held, // [n_nodes], or null where none is
    real* __restrict__ y) {                 // [3][n_nodes]
    real* __restrict__ plane = y + (size_t)c * n_nodes;
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a)
        if (!held || !(held[node[a]] >> c & 1)) atomicAdd(plane + node[a], f[a]);
}

// Adds the product of the thread's element to y if it is straight; returns its part of x . y
template <class Material>
__device__ __forceinline__ double add_straight(
    MeshView mesh, Part part,
    const unsigned* __restrict__ elements,    // elements of a list, or null for all
    const unsigned* __restrict__ curved,      // a bit per element, or null if none is
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    Material material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, place = part.first + in_launch;
    if (in_launch >= part.count || curved && bit(curved, place)) return 0.0;
    const unsigned e = elements ? elements[place] : place;
    const unsigned char* own = bit(at_supports, e) ? held : 0;

    unsigned node[TETRAHEDRON_NODES];
    load_tetrahedron(mesh, e, node);
    __shared__ volatile unsigned waiting[TETRAHEDRON_NODES][BLOCK]; // the nodes, until forces are added
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a) waiting[a][threadIdx.x] = node[a];
    real X[3][TETRAHEDRON_NODES], U[3][TETRAHEDRON_NODES];
    load_positions<4>(mesh, node, X);
    real C[3][3];
    const real edges[3][3] = {
        {X[0][1], X[0][2], X[0][3]}, {X[1][1], X[1][2], X[1][3]}, {X[2][1], X[2][2], X[2][3]}};
    const real det = cofactors(edges, C);

    load_free(node, x, mesh.n_nodes, own, U);
    // A point has a 24th of det(J); strains of the field and of what forces work on carry det(J)
    // each.
    const real weight = modulus_of(material) * moduli[e] * reciprocal(det);
    real stresses[4][6];
    const double sum = straight_stresses(U, C, weight, law_of(material), stresses);

#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real f[TETRAHEDRON_NODES];
        straight_forces(stresses, C, c, f);
#pragma unroll
        for (int a = 0; a < TETRAHEDRON_NODES; ++a) node[a] = waiting[a][threadIdx.x];
        add_forces(node, f, c, mesh.n_nodes, own, y);
    }
    return sum;
}

// Adds the product of the thread's element, one of a list, to y; returns its part of x . y
template <class Material>
__device__ __forceinline__ double add_curved(
    MeshView mesh, Part part,
    const unsigned* __restrict__ elements,    // those of the list
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    Material material,
    const real* __restrict__ moduli,          // [n_elements]
    const real* __restrict__ x,               // [3][n_nodes]
    real* __restrict__ y) {                   // [3][n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x;
    if (in_launch >= part.count) return 0.0;
    const unsigned e = elements[part.first + in_launch];
    const unsigned char* own = bit(at_supports, e) ? held : 0;

    unsigned node[TETRAHEDRON_NODES];
    load_tetrahedron(mesh, e, node);
    real X[3][TETRAHEDRON_NODES], U[3][TETRAHEDRON_NODES], F[3][TETRAHEDRON_NODES] = {};
    load_positions<TETRAHEDRON_NODES>(mesh, node, X);
    load_free(node, x, mesh.n_nodes, own, U);
    from_first(U);

    const real modulus = modulus_of(material) * moduli[e];
    real sum = 0;
#pragma unroll 1
    for (int q = 0; q < 4; ++q) {
        const TetrahedronPoint p = point_of(X, q);
        real stresses[6], g[TETRAHEDRON_NODES][3];
        strain_at(p, U, stresses);
        sum += weighted_stress(modulus * reciprocal(p.det), law_of(material), stresses);

        shape_gradients(p, g);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            real row[3];
            row_of(stresses, c, row);
#pragma unroll
            for (int a = 0; a < TETRAHEDRON_NODES; ++a) F[c][a] = dot(row, g[a], F[c][a]);
        }
    }

#pragma unroll
    for (int c = 0; c < 3; ++c) add_forces(node, F[c], c, mesh.n_nodes, own, y);
    return sum;
}
