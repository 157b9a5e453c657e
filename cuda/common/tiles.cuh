// The matrices of elements in tiles of N x N numbers, a tile for each pair of local nodes: the
// element routine that every strategy of assembly calls. N = 3: elasticity; N = 1: conduction and
// capacity.
//
// Pair p < 36 couples the nodes at positions p & 7 and (p + (p >> 3)) & 7, each pair once. BLOCK is
// defined before; eight threads of a warp work on an element.

#pragma once

#include "common/upper.cuh"
#include "common/points.cuh"
#ifdef BY_MODES
#include "common/mode_tiles.cuh"
#endif
#include "common/warp.cuh"

#define PAIRS 36
#define SLOTS (BLOCK / 8) // elements that a block works on at a time

// What the numbers come from: the coordinates; stored matrices of coefficients 1; or no arithmetic,
// a routine that reads and writes as much
#define COMPUTED 0
#define STORED 1
#define EMPTY 2

// Numbers of a stored element: its tiles, and with one unknown the lumped capacity of every node
#define STORED_NUMBERS(N) ((N) == 1 ? 44 : 324)

// An element at the Gauss points: gradients of the shape functions by position, times sqrt(det J).
// Or its strain modes, as common/mode_tiles.cuh has them, for N = 1 without incompatible modes
struct Geometry {
    real gradients[8][3][8]; // [point][direction][position]
    real det[8];             // 512 det J
};

// What a routine is given beside the mesh
struct Source {
    unsigned routine;
    const Lame& material;
    const real* stored;     // [n_elements][STORED_NUMBERS]
    const real* moduli;     // [n_elements], or conductivities
    const real* capacities; // [n_elements], for N = 1
};

// Gauss point or mode q of element e; without arithmetic, the coordinates of its node q
template <int N>
__device__ __forceinline__ void evaluate(
    const MeshView& mesh, unsigned routine, unsigned e, int q, Geometry& out) {
    if (routine == EMPTY) {
        const unsigned node = local_node(mesh, NODE(q), e);
#pragma unroll
        for (int c = 0; c < 3; ++c) out.gradients[0][c][q] = (real)coordinate(mesh, c, node);
        return;
    }

    unsigned node[8];
    real X[3][8];
    load_element(mesh, e, node, X);
#ifdef BY_MODES
    write_mode<N == 3>(X, q, out.gradients, [](int m) { return m; });
    if (N == 1) out.det[q] = point(X, q).det;
#else
    const Point p = point(X, q);
    const real scale = 1 / sqrt(512 * p.det);
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real g[3];
        reference_gradient(m, p.sides, g);
#pragma unroll
        for (int c = 0; c < 3; ++c)
            out.gradients[q][c][m] = scale * (g[0] * p.C[0][c] + g[1] * p.C[1][c] + g[2] * p.C[2][c]);
    }
    out.det[q] = p.det;
#endif
}

// The lumped capacity of the node at position m, for a capacity of 1
__device__ __forceinline__ real share(const Geometry& geometry, int m) {
    real sum = 0;
#pragma unroll
    for (int q = 0; q < 8; ++q) {
        real weight = geometry.det[q];
#pragma unroll
        for (int c = 0; c < 3; ++c) weight *= (q >> c & 1) == (m >> c & 1) ? 1 + GAUSS : 1 - GAUSS;
        sum += weight;
    }
    return (real)(1.0 / 4096) * sum;
}

// T += scale times the integrals of dN_a/dx_i dN_b/dx_j; of their trace alone for N = 1. By strain
// modes it is the stiffness already for N = 3.
template <int N>
__device__ __forceinline__ void add_products(
    const Geometry& geometry, int a, int b, const Lame& material, real scale, real T[N * N]) {
    real own[N * N] = {};
#ifdef BY_MODES
    if (N == 3) add_mode_tile(geometry.gradients, a, b, material, scale, T);
    const int n_points = N == 3 ? 0 : STRAIN_MODES;
#else
    const int n_points = 8;
#endif
#pragma unroll
    for (int q = 0; q < n_points; ++q)
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int j = 0; j < (N == 1 ? 1 : 3); ++j)
                own[N == 1 ? 0 : 3 * i + j] +=
                    geometry.gradients[q][i][a] * geometry.gradients[q][N == 1 ? i : j][b];
#pragma unroll
    for (int k = 0; k < N * N; ++k) T[k] += scale * own[k];
}

// The stiffness of the integrals T, in place; conduction is its own
template <int N>
__device__ __forceinline__ void to_stiffness(const Lame& material, real T[N * N]) {
#ifndef BY_MODES
    if (N == 1) return;
    const real lambda = (real)material.lambda, mu = (real)material.mu, trace = T[0] + T[N + 1] + T[N * N - 1];
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = i; j < N; ++j) {
            const real above = T[N * i + j], below = T[N * j + i];
            T[N * i + j] = lambda * above + mu * below + (i == j ? mu * trace : 0);
            if (i != j) T[N * j + i] = lambda * below + mu * above;
        }
#endif
}

// The tile of positions a and b
template <int N>
__device__ __forceinline__ void make_tile(
    const Geometry& geometry, unsigned routine, int a, int b, const Lame& material, real modulus,
    real capacity, real K[N * N]) {
    if (routine == EMPTY) {
#pragma unroll
        for (int k = 0; k < N * N; ++k) K[k] = geometry.gradients[0][k % 3][a];
        return;
    }
#pragma unroll
    for (int k = 0; k < N * N; ++k) K[k] = 0;
    add_products<N>(geometry, a, b, material, modulus, K);
    to_stiffness<N>(material, K);
    if (N == 1 && a == b) K[0] += capacity * share(geometry, a);
}

// Number k of a stored tile, times its coefficients
template <int N>
__device__ __forceinline__ real stored_number(const Source& source, unsigned e, int p, int k) {
    const real* own = source.stored + (size_t)e * STORED_NUMBERS(N);
    real value = source.moduli[e] * own[N * N * p + k];
    if (N == 1 && p < 8) value += source.capacities[e] * own[PAIRS + p];
    return value;
}

// Calls sink(e, p, k, tile) for number k of tile p of every element of the warp in a step,
// neighboring lanes with neighboring numbers
template <int N, class Sink>
__device__ __forceinline__ void each_of_step(unsigned e, bool active, int step, real (*tiles)[N * N], Sink sink) {
#pragma unroll
    for (int k = 0; k < N * N; ++k) {
        const int number = k * WARP + threadIdx.x % WARP, tile = number / (N * N), p = 8 * step + tile % 8;
        const unsigned owner = __shfl_sync(WHOLE_WARP, active ? e : NOWHERE, tile);
        if (owner != NOWHERE && p < PAIRS) sink(owner, p, number % (N * N), tiles[tile]);
    }
}

// Calls sink(step, tiles) with the tiles of a warp's four elements, eight of each in a step,
// [WARP][N][N]; `e` is the element of the lane, if it is `active`. All lanes of the warp call it.
template <int N, class Sink>
__device__ __forceinline__ void each_step(
    const MeshView& mesh, const Source& source, unsigned e, bool active, Geometry slots[SLOTS],
    real staged[BLOCK][N * N], Sink sink) {
    const int q = threadIdx.x % 8, first = threadIdx.x / WARP * WARP;
    Geometry& geometry = slots[threadIdx.x / 8];
    const bool computes = active && source.routine != STORED;
    if (computes) evaluate<N>(mesh, source.routine, e, q, geometry);
    const real modulus = active ? source.moduli[e] : 0, capacity = N == 1 && active ? source.capacities[e] : 0;
    __syncwarp();

#pragma unroll 1
    for (int step = 0; step < 5; ++step) {
        real(*tiles)[N * N] = staged + first;
        if (computes && (step < 4 || q < 4))
            make_tile<N>(geometry, source.routine, q, (q + step) & 7, source.material, modulus, capacity, tiles[threadIdx.x % WARP]);
        if (source.routine == STORED)
            each_of_step<N>(e, active, step, tiles, [&](unsigned owner, int p, int k, real* tile) {
                tile[k] = stored_number<N>(source, owner, p, k);
            });
        __syncwarp();
        sink(step, tiles);
        __syncwarp();
    }
}

// each_of_step for all steps
template <int N, class Sink>
__device__ __forceinline__ void each_number(
    const MeshView& mesh, const Source& source, unsigned e, bool active, Geometry slots[SLOTS],
    real staged[BLOCK][N * N], Sink sink) {
    each_step<N>(mesh, source, e, active, slots, staged, [&](int step, real(*tiles)[N * N]) {
        each_of_step<N>(e, active, step, tiles, sink);
    });
}
