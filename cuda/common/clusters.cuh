// The nodes of up to 32 consecutive elements in shared memory: what a warp reads for all of its
// elements at once, and adds to the nodes from all of them. LANES, LANE, ROUNDS, and Geometry or
// Slabs of the elements are defined before.

#pragma once

#include "common/threes.cuh"

typedef unsigned long long EightBytes;

// The clusters of a mesh
struct ClustersView {
    unsigned n_clusters;
    const unsigned* starts;            // [n_clusters + 1], first element
    const unsigned* nodes;             // [n_clusters][96], 29 bits, then one a component held
    const unsigned short* spans;       // [n_clusters][96], first place, 256 * their number
    const unsigned long long* places;  // [n_clusters][32] of eight places
    const unsigned long long* corners; // [n_clusters][32] of eight nodes in the cluster, by position
};

// Values at the corners of the lane's element, by position
__device__ __forceinline__ void get(const Threes<ROUNDS * LANES>& all, EightBytes corner, real V[3][8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        const unsigned four = m < 4 ? corner : corner >> 32;
        const Pair xy = all.xy[four >> 8 * (m & 3) & 255];
        V[0][m] = xy.a, V[1][m] = xy.b, V[2][m] = all.z[four >> 8 * (m & 3) & 255];
    }
}

// What waits in shared memory: nodal values, then the slabs of the elements, or beside them their
// geometry, then their forces
union Waiting {
#ifdef BY_MODES
    struct {
        Threes<ROUNDS * LANES> nodal; // coordinates, then x
        Geometry geometry;
    } in_turn;
#else
    struct {
        Threes<ROUNDS * LANES> coordinates, x;
    } nodal;
    struct {
        Slabs x, u;
    } slabs;
#endif
    Threes<8 * LANES> forces;
};

// The nodes of a cluster, for the time when the sums are added
struct Nodes {
    EightBytes places[LANES];
    unsigned node[ROUNDS * LANES];
    unsigned short span[ROUNDS * LANES];
};

__device__ __forceinline__ unsigned number(unsigned entry) { return entry & 0x1fffffff; }
__device__ __forceinline__ bool is_held(unsigned entry, int c) { return entry >> (29 + c) & 1; }

// Nodal values of the cluster, all in flight at a time: coordinates X and x of three nodes. In
// single precision coordinates are from its first node on, so that they lose no more than
// differences of them would.
__device__ __forceinline__ void load(
    const ClustersView& clusters, size_t first_slot, const MeshView& mesh, const real* __restrict__ x,
    Nodes& all, real X[ROUNDS][3], real U[ROUNDS][3]) {
    unsigned entry[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) entry[r] = read_only(clusters.nodes + (first_slot + r * LANES + LANE));

    double origin[3] = {};
    if (sizeof(real) == 4) {
        const unsigned first = number(read_only(clusters.nodes + first_slot));
#pragma unroll
        for (int c = 0; c < 3; ++c) origin[c] = coordinate(mesh, c, first);
    }

#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const int slot = r * LANES + LANE;
        all.node[slot] = entry[r];
        all.span[slot] = read_only(clusters.spans + (first_slot + slot));
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            X[r][c] = (real)(coordinate(mesh, c, number(entry[r])) - origin[c]);
            U[r][c] = x[(size_t)c * mesh.n_nodes + number(entry[r])];
        }
    }
}

// Puts what the lane has of three nodes where all lanes read it
__device__ __forceinline__ void put_all(Threes<ROUNDS * LANES>& all, const real values[ROUNDS][3]) {
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) put(all, r * LANES + LANE, values[r][0], values[r][1], values[r][2]);
}

// As put_all, held components as zero
__device__ __forceinline__ void put_free(
    Threes<ROUNDS * LANES>& all, const Nodes& nodes, real values[ROUNDS][3]) {
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r)
#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (is_held(nodes.node[r * LANES + LANE], c)) values[r][c] = 0;
    put_all(all, values);
}

__device__ __forceinline__ void add_place(unsigned place, const Waiting& waiting, real sum[3]) {
    const Pair xy = waiting.forces.xy[place];
    sum[0] += xy.a, sum[1] += xy.b, sum[2] += waiting.forces.z[place];
}

// Adds what the elements leave at every node of the cluster to y. The first four places of all
// rounds come without a branch between them, and few nodes have more.
__device__ __forceinline__ void add_sums(
    const Waiting& waiting, const Nodes& all, unsigned n_nodes, real* __restrict__ y) {
    const unsigned char* places = (const unsigned char*)all.places;

    real sum[ROUNDS][3] = {};
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const unsigned span = all.span[r * LANES + LANE];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            if (k < span >> 8) add_place(places[(span & 255) + k], waiting, sum[r]);
    }

#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const unsigned entry = all.node[r * LANES + LANE], span = all.span[r * LANES + LANE];
#pragma unroll 1
        for (unsigned k = 4; k < span >> 8; ++k)
            add_place(places[(span & 255) + k], waiting, sum[r]);

#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (span >> 8 && !is_held(entry, c))
                atomicAdd(y + ((size_t)c * n_nodes + number(entry)), sum[r][c]);
    }
}
