// The nodes of up to 32 consecutive elements in shared memory: what a warp reads for all of its
// elements at once, and adds to the nodes from all of them. LANES, LANE, ROUNDS, and Geometry or
// Slabs of the elements are defined before.

#pragma once

typedef unsigned long long EightBytes;

struct alignas(2 * sizeof(real)) Pair {
    real a, b;
};

// The clusters of a mesh
struct ClustersView {
    unsigned n_clusters;
    const unsigned* starts;            // [n_clusters + 1], first element
    const unsigned* nodes;             // [n_clusters][96], 29 bits, then one a component held
    const unsigned short* spans;       // [n_clusters][96], first place, 256 * their number
    const unsigned long long* places;  // [n_clusters][32] of eight places
    const unsigned long long* corners; // [n_clusters][32] of eight nodes in the cluster, by position
};

// Three components of N things: pairs are read in fewer passes than planes
template <int N>
struct Threes {
    Pair xy[N];
    real z[N];
};

template <int N>
__device__ __forceinline__ void put(Threes<N>& all, unsigned k, real x, real y, real z) {
    all.xy[k] = {x, y};
    all.z[k] = z;
}

#ifdef BY_MODES
// The nodes of a cluster
struct Nodes {
    unsigned node[ROUNDS * LANES];
};

// Places at the nodes, for the time when the sums are added
struct Places {
    EightBytes places[LANES];
    unsigned short span[ROUNDS * LANES];
};

// What waits in shared memory: nodal values beside the geometry of the elements, then their forces
// and the places of these. Each is read as late as can be: of the memory that stays free, the cache
// has more, and fewer registers are taken.
union Waiting {
    struct {
        Threes<ROUNDS * LANES> nodal; // coordinates, then x
        Geometry geometry;
    } in_turn;
    struct {
        Threes<8 * LANES> forces; // those below
        Places places;
    } at_end;
    Threes<8 * LANES> forces;
};

__device__ __forceinline__ const Places& places_at(const Waiting& waiting, const Nodes& all) {
    return waiting.at_end.places;
}
#else
// The nodes of a cluster, and places at them, for the time when the sums are added
struct Nodes {
    EightBytes places[LANES];
    unsigned node[ROUNDS * LANES];
    unsigned short span[ROUNDS * LANES];
};

// What waits in shared memory: nodal values, then the slabs of the elements, then their forces
union Waiting {
    Pair nodal[ROUNDS * LANES][3]; // coordinates, x
    struct {
        Slabs x, u;
    } slabs;
    Threes<8 * LANES> forces;
};

__device__ __forceinline__ const Nodes& places_at(const Waiting& waiting, const Nodes& all) {
    return all;
}
#endif

__device__ __forceinline__ unsigned number(unsigned entry) { return entry & 0x1fffffff; }
__device__ __forceinline__ bool is_held(unsigned entry, int c) { return entry >> (29 + c) & 1; }

__device__ __forceinline__ void clear_held(unsigned entry, real u[3]) {
#pragma unroll
    for (int c = 0; c < 3; ++c)
        if (is_held(entry, c)) u[c] = 0;
}

// Nodal values of the cluster, all in flight at a time; by modes the coordinates alone. In single
// precision these are from its first node on, so that they lose no more than differences of them
// would.
__device__ __forceinline__ void stage(
    const ClustersView& clusters, size_t first_slot, const MeshView& mesh, const real* __restrict__ x,
    Waiting& waiting, Nodes& all) {
    unsigned entry[ROUNDS];
    real X[ROUNDS][3];
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) entry[r] = read_only(clusters.nodes + (first_slot + r * LANES + LANE));

    double origin[3] = {};
    if (sizeof(real) == 4) {
        const unsigned first = number(read_only(clusters.nodes + first_slot));
#pragma unroll
        for (int c = 0; c < 3; ++c) origin[c] = coordinate(mesh, c, first);
    }

#ifndef BY_MODES
    real U[ROUNDS][3];
#endif
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r)
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            X[r][c] = (real)(coordinate(mesh, c, number(entry[r])) - origin[c]);
#ifndef BY_MODES
            U[r][c] = x[(size_t)c * mesh.n_nodes + number(entry[r])];
#endif
        }

#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const int slot = r * LANES + LANE;
        all.node[slot] = entry[r];
#ifdef BY_MODES
        put(waiting.in_turn.nodal, slot, X[r][0], X[r][1], X[r][2]);
#else
        all.span[slot] = read_only(clusters.spans + (first_slot + slot));
        clear_held(entry[r], U[r]);
        waiting.nodal[slot][0] = {X[r][0], X[r][1]};
        waiting.nodal[slot][1] = {X[r][2], U[r][0]};
        waiting.nodal[slot][2] = {U[r][1], U[r][2]};
#endif
    }
}

#ifdef BY_MODES
// Puts x in the place of coordinates
__device__ __forceinline__ void stage_x(
    const Nodes& all, unsigned n_nodes, const real* __restrict__ x, Waiting& waiting) {
    real U[ROUNDS][3];
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const unsigned entry = all.node[r * LANES + LANE];
#pragma unroll
        for (int c = 0; c < 3; ++c) U[r][c] = x[(size_t)c * n_nodes + number(entry)];
        clear_held(entry, U[r]);
    }

    __syncwarp(); // coordinates have been read
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r)
        put(waiting.in_turn.nodal, r * LANES + LANE, U[r][0], U[r][1], U[r][2]);
}

// Puts the places in that of geometry, when all lanes have read it
__device__ __forceinline__ void stage_places(
    const ClustersView& clusters, size_t first_slot, Waiting& waiting) {
    const EightBytes places = read_only(clusters.places + (first_slot / ROUNDS + LANE));
    unsigned short span[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) span[r] = read_only(clusters.spans + (first_slot + r * LANES + LANE));

    __syncwarp();
    waiting.at_end.places.places[LANE] = places;
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) waiting.at_end.places.span[r * LANES + LANE] = span[r];
}
#endif

__device__ __forceinline__ void add_place(unsigned place, const Waiting& waiting, real sum[3]) {
    const Pair xy = waiting.forces.xy[place];
    sum[0] += xy.a, sum[1] += xy.b, sum[2] += waiting.forces.z[place];
}

// Adds what the elements leave at every node of the cluster to y. The first four places of all
// rounds come without a branch between them, and few nodes have more.
__device__ __forceinline__ void add_sums(
    const Waiting& waiting, const Nodes& all, unsigned n_nodes, real* __restrict__ y) {
    const auto& at = places_at(waiting, all);
    const unsigned char* places = (const unsigned char*)at.places;

    real sum[ROUNDS][3] = {};
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const unsigned span = at.span[r * LANES + LANE];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            if (k < span >> 8) add_place(places[(span & 255) + k], waiting, sum[r]);
    }

#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const unsigned entry = all.node[r * LANES + LANE], span = at.span[r * LANES + LANE];
#pragma unroll 1
        for (unsigned k = 4; k < span >> 8; ++k)
            add_place(places[(span & 255) + k], waiting, sum[r]);

#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (span >> 8 && !is_held(entry, c))
                atomicAdd(y + ((size_t)c * n_nodes + number(entry)), sum[r][c]);
    }
}
