// precision: f64 f32
// mf_clusters: K u with nothing stored, as mf.cu has it, for meshes whose consecutive elements share
// many nodes but no long rows of them: a warp meets each node of its elements once.
//
// Source:        the elements as in mf.cu; between them and the vectors the nodes of 32 elements, in
//                shared memory
// Mapping:       one warp a cluster of up to 32 consecutive elements and up to 192 distinct nodes: a
//                lane a node (several times), a lane an element, a lane a node; blocks of 32;
//                mf_clusters_dot leaves what a block adds to x . y
// Layout:        vectors as planes [3][n_nodes]; nodes in rounds of 32, the last one of a cluster
//                filled up with its last node and no places; places of a node in the elements as
//                position * 32 + lane, one byte each
// Cost:          1849 operations an element, 24 additions more for the sums; in a mesh of cut
//                tetrahedra, which has 2.3 nodes an element in a cluster, 14 bytes for nodes, 8 for
//                their numbers in the elements, 8 for the places and a modulus read an element;
//                coordinates and x read and y added to 2.3 times an element; shared memory as mf.cu
//                and 1408 bytes a warp
// Deterministic: no: the order of additions at a node of several clusters is not fixed
// Requires:      y = (1 - P) x beforehand (supports.cu); mf_clusters_dot: x is zero at held components
// Oracle:        crates/topopt-cuda/tests/operators.rs

#define BLOCK 32
#define MAX_NODES 192

#include "common/forces.cuh"
#include "common/reduce.cuh"

typedef unsigned long long EightBytes;

struct alignas(2 * sizeof(real)) Pair {
    real a, b;
};

#define PARAMETERS                                                                                 \
    unsigned n_nodes,                                                                              \
    const uint2* __restrict__ starts, /* [clusters + 1]: first element, first round of nodes */    \
    const unsigned* __restrict__ nodes, /* [rounds][32]: 29 bits, above them a bit a component held */ \
    const unsigned short* __restrict__ spans, /* [rounds][32]: first place, 256 times their number */  \
    const EightBytes* __restrict__ places,    /* [clusters][32] of eight places */                 \
    const EightBytes* __restrict__ corners,   /* [n_elements]: nodes in the cluster, by position */ \
    const double* __restrict__ coordinates,   /* [3][n_nodes] */                                   \
    double mu, double ratio,                  /* Lame's mu at modulus 1, lambda / mu */            \
    const real* __restrict__ moduli,          /* [n_elements] */                                   \
    const real* __restrict__ x,               /* [3][n_nodes] */                                   \
    real* __restrict__ y                      /* [3][n_nodes] */

// What waits in shared memory: nodal values, then the slabs of the elements, then their forces.
union Waiting {
    Pair nodal[MAX_NODES][3]; // coordinates, x: pairs are read in fewer passes than planes
    struct {
        Slabs x, u;
    } slabs;
    struct {
        Pair xy[8 * BLOCK];
        real z[8 * BLOCK];
    } forces;
};

// The nodes of the cluster, for the time when the sums are added
struct Nodes {
    EightBytes places[BLOCK];
    unsigned node[MAX_NODES];
    unsigned short span[MAX_NODES];
};

// Nodal values of the cluster. In single precision coordinates are from its first node on, so that
// they lose no more than differences of them would.
__device__ __forceinline__ void stage(
    uint2 rounds, unsigned n_nodes, const unsigned* __restrict__ nodes,
    const unsigned short* __restrict__ spans, const double* __restrict__ coordinates,
    const real* __restrict__ x, Waiting& waiting, Nodes& all) {
    double origin[3] = {};
    if (sizeof(real) == 4) {
        const unsigned first = nodes[rounds.x * BLOCK] & 0x1fffffff;
#pragma unroll
        for (int c = 0; c < 3; ++c) origin[c] = coordinates[(size_t)c * n_nodes + first];
    }
    for (unsigned round = rounds.x; round < rounds.y; ++round) {
        const unsigned slot = (round - rounds.x) * BLOCK + threadIdx.x;
        const unsigned entry = nodes[round * BLOCK + threadIdx.x], node = entry & 0x1fffffff;
        all.node[slot] = entry;
        all.span[slot] = spans[round * BLOCK + threadIdx.x];
        real X[3], U[3];
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            X[c] = (real)(coordinates[(size_t)c * n_nodes + node] - origin[c]);
            U[c] = x[(size_t)c * n_nodes + node];
        }
#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (entry >> (29 + c) & 1) U[c] = 0;
        waiting.nodal[slot][0] = {X[0], X[1]};
        waiting.nodal[slot][1] = {X[2], U[0]};
        waiting.nodal[slot][2] = {U[1], U[2]};
    }
}

// Adds what the elements leave at every node of the cluster to y
__device__ __forceinline__ void add_sums(
    uint2 rounds, unsigned n_nodes, const Waiting& waiting, const Nodes& all, real* __restrict__ y) {
    const unsigned char* places = (const unsigned char*)all.places;
    for (unsigned round = rounds.x; round < rounds.y; ++round) {
        const unsigned slot = (round - rounds.x) * BLOCK + threadIdx.x;
        const unsigned entry = all.node[slot], span = all.span[slot];
        const unsigned first = span & 255, count = span >> 8;
        real sum[3] = {};
        for (unsigned begin = 0; begin < count; begin += 4)
#pragma unroll
            for (unsigned k = begin; k < begin + 4; ++k)
                if (k < count) {
                    const unsigned place = places[first + k];
                    const Pair xy = waiting.forces.xy[place];
                    sum[0] += xy.a, sum[1] += xy.b, sum[2] += waiting.forces.z[place];
                }
#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (count && !(entry >> (29 + c) & 1))
                atomicAdd(y + ((size_t)c * n_nodes + (entry & 0x1fffffff)), sum[c]);
    }
}

// The product of the lane's element, from nodal values to forces by place; its part of x . y, or 0
template <bool WITH_DOT>
__device__ __forceinline__ double element_product(
    EightBytes corner, real modulus, real ratio, Waiting& waiting, real F[3][8]) {
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
    for (int k = 0; k < 2; ++k) add_slab(k, u_slabs, x_up, u_up, modulus, ratio, x_slabs, f_up);
    const double sum = WITH_DOT ? work(u_slabs, u_up, x_slabs, f_up) : 0.0;
#pragma unroll
    for (int c = 0; c < 3; ++c) to_nodes(x_slabs, c, f_up[c], F[c]);
    return sum;
}

template <bool WITH_DOT>
__device__ __forceinline__ double add_product(PARAMETERS) {
    __shared__ Waiting waiting;
    __shared__ Nodes all;
    const uint2 begin = starts[blockIdx.x], end = starts[blockIdx.x + 1];
    const uint2 rounds = {begin.y, end.y};
    // Lanes past the last element repeat it with modulus 0, and no node has a place in them.
    const unsigned e = min(begin.x + threadIdx.x, end.x - 1);
    const EightBytes corner = corners[e];
    const real modulus = begin.x + threadIdx.x < end.x ? (real)(mu / 512) * moduli[e] : (real)0;
    all.places[threadIdx.x] = places[blockIdx.x * BLOCK + threadIdx.x];
    stage(rounds, n_nodes, nodes, spans, coordinates, x, waiting, all);
    __syncwarp();
    real F[3][8];
    const double sum = element_product<WITH_DOT>(corner, modulus, (real)ratio, waiting, F);
    __syncwarp(); // forces take the place of slabs
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        waiting.forces.xy[m * BLOCK + threadIdx.x] = {F[0][m], F[1][m]};
        waiting.forces.z[m * BLOCK + threadIdx.x] = F[2][m];
    }
    __syncwarp();
    add_sums(rounds, n_nodes, waiting, all, y);
    return sum;
}

#define ARGUMENTS \
    n_nodes, starts, nodes, spans, places, corners, coordinates, mu, ratio, moduli, x, y
#define RESIDENT_BLOCKS (sizeof(real) == 8 ? 12 : 16)

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_clusters(PARAMETERS) {
    add_product<false>(ARGUMENTS);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_clusters_dot(
    PARAMETERS, double* __restrict__ partial) { // [clusters]
    block_sum(add_product<true>(ARGUMENTS), partial);
}
