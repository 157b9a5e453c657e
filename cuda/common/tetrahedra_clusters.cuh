// Products of tetrahedra in clusters, as tetrahedra_clusters.cu has them, for an isotropic material or another
// law. BLOCK is
// defined before.

#pragma once

#define LANES 32
#define LANE (threadIdx.x % LANES)
// Rounds of nodes: one of vertices, then those of middles
#define ROUNDS 4
#define SLOTS (ROUNDS * LANES)
// Nodes of the elements, a byte each
#define PLACES (10 * LANES)

#include "common/tetrahedra_product.cuh"

// The clusters of a mesh of tetrahedra
struct TetrahedraClustersView {
    unsigned n_clusters;
    const unsigned* starts;            // [n_clusters + 1], first element
    const unsigned* nodes;             // [n_clusters][128], 29 bits, then one a component held
    const unsigned short* spans;       // [n_clusters][128], first place, 512 * their number
    const unsigned* places;            // [n_clusters][80] of four places
    const unsigned* vertices;          // [n_clusters][32] of four slots
    const unsigned long long* middles; // [n_clusters][32] of six slots, two bytes unused
};

// What waits in shared memory: nodal values, then the forces of the elements by place
union Waiting {
    struct {
        real positions[3][LANES];
        real field[3][SLOTS];
    } nodal;
    real forces[3][TETRAHEDRON_NODES * LANES];
};

// The nodes of a cluster, for the time when the sums are added
struct Nodes {
    unsigned places[PLACES / 4];
    unsigned node[SLOTS];
    unsigned short span[SLOTS];
};

__device__ __forceinline__ unsigned number(unsigned entry) { return entry & 0x1fffffff; }
__device__ __forceinline__ bool is_held(unsigned entry, int c) { return entry >> (29 + c) & 1; }

// Nodal values of the cluster, all in flight at a time; coordinates from its first vertex on, so
// that in single precision they lose no more than differences of them would
__device__ __forceinline__ void stage(
    const TetrahedraClustersView& clusters, size_t first_slot, const MeshView& mesh,
    const real* __restrict__ x, Waiting& waiting, Nodes& all) {
    const unsigned lane = LANE;
    unsigned entry[ROUNDS];
    real X[3], U[ROUNDS][3];
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) entry[r] = read_only(clusters.nodes + (first_slot + r * LANES + lane));

    const unsigned first = sizeof(real) == 4 ? number(read_only(clusters.nodes + first_slot)) : 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const double origin = sizeof(real) == 4 ? coordinate(mesh, c, first) : 0.0;
        X[c] = (real)(coordinate(mesh, c, number(entry[0])) - origin);
#pragma unroll
        for (int r = 0; r < ROUNDS; ++r) U[r][c] = x[(size_t)c * mesh.n_nodes + number(entry[r])];
    }

#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const int slot = r * LANES + lane;
        all.node[slot] = entry[r];
        all.span[slot] = read_only(clusters.spans + (first_slot + slot));
#pragma unroll
        for (int c = 0; c < 3; ++c) waiting.nodal.field[c][slot] = is_held(entry[r], c) ? (real)0 : U[r][c];
    }
#pragma unroll
    for (int c = 0; c < 3; ++c) waiting.nodal.positions[c][lane] = X[c];
}

// Adds what the elements leave at every node of the cluster to y. The first four places come
// without a branch between them, and few nodes have more.
__device__ __forceinline__ void add_sums(
    const Waiting& waiting, const Nodes& all, unsigned n_nodes, real* __restrict__ y) {
    const unsigned char* places = (const unsigned char*)all.places;
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const int before = r == 0 ? 0 : 4 * LANES;
        const unsigned slot = r * LANES + LANE;
        const unsigned span = all.span[slot], count = span >> 9, first = span & 511, entry = all.node[slot];
        real sum[3] = {};
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            if (k < count)
#pragma unroll
                for (int c = 0; c < 3; ++c) sum[c] += waiting.forces[c][before + places[first + k]];
#pragma unroll 1
        for (unsigned k = 4; k < count; ++k)
#pragma unroll
            for (int c = 0; c < 3; ++c) sum[c] += waiting.forces[c][before + places[first + k]];

#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (count && !is_held(entry, c)) atomicAdd(y + ((size_t)c * n_nodes + number(entry)), sum[c]);
    }
}

// Adds the products of a cluster to y; returns the part of x . y of the lane's element
template <class Material>
__device__ __forceinline__ double add_product(
    TetrahedraClustersView clusters, MeshView mesh,
    const unsigned* __restrict__ curved, // a bit per element, or null if none is
    Material material,
    const real* __restrict__ moduli,     // [n_elements]
    const real* __restrict__ x,          // [3][n_nodes]
    real* __restrict__ y) {              // [3][n_nodes]
    __shared__ Waiting all_waiting[BLOCK / LANES];
    __shared__ Nodes all_nodes[BLOCK / LANES];
    Waiting& waiting = all_waiting[threadIdx.x / LANES];
    Nodes& all = all_nodes[threadIdx.x / LANES];
    const unsigned lane = LANE, cluster = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
    if (cluster >= clusters.n_clusters) return 0.0;

    const size_t own = (size_t)cluster * LANES + lane, first_places = (size_t)cluster * (PLACES / 4);
    const unsigned vertices = read_only(clusters.vertices + own);
    const unsigned long long middles = read_only(clusters.middles + own);
#pragma unroll
    for (int k = 0; k < PLACES / 4; k += LANES)
        if (k + lane < PLACES / 4) all.places[k + lane] = read_only(clusters.places + (first_places + k + lane));

    // Lanes past the last element repeat it with modulus 0, and no node has a place in them; curved
    // elements are computed elsewhere.
    const unsigned e = read_only(clusters.starts + cluster) + lane;
    bool is_there = e < read_only(clusters.starts + cluster + 1);
    if (is_there && curved) is_there = !(curved[e / 32] >> e % 32 & 1);
    const real modulus = is_there ? modulus_of(material) * moduli[e] : (real)0;

    stage(clusters, (size_t)cluster * SLOTS, mesh, x, waiting, all);
    __syncwarp();

    real C[3][3], U[3][TETRAHEDRON_NODES];
    real weight;
    {
        real edges[3][3];
#pragma unroll
        for (int c = 0; c < 3; ++c)
#pragma unroll
            for (int a = 1; a < 4; ++a)
                edges[c][a - 1] = waiting.nodal.positions[c][vertices >> 8 * a & 255]
                                - waiting.nodal.positions[c][vertices & 255];
        weight = modulus * reciprocal(cofactors(edges, C));
    }
#pragma unroll
    for (int c = 0; c < 3; ++c) {
#pragma unroll
        for (int a = 0; a < 4; ++a) U[c][a] = waiting.nodal.field[c][vertices >> 8 * a & 255];
#pragma unroll
        for (int a = 0; a < 6; ++a) U[c][4 + a] = waiting.nodal.field[c][(unsigned)(middles >> 8 * a) & 255];
    }
    __syncwarp(); // forces take their place

    real stresses[4][6];
    const double sum = straight_stresses(U, C, weight, law_of(material), stresses);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real f[TETRAHEDRON_NODES];
        straight_forces(stresses, C, c, f);
#pragma unroll
        for (int a = 0; a < TETRAHEDRON_NODES; ++a) waiting.forces[c][a * LANES + lane] = f[a];
    }

    __syncwarp();
    add_sums(waiting, all, mesh.n_nodes, y);
    return sum;
}
