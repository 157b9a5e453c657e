// precision: f64
// ebeSym: the 300 distinct entries of K_e, by 8 threads an element, one launch a color.
// ebeSymAtomic: the same with atomic additions, in one launch.
//
// Source:        [Ratnakar2022, Alg. 7 and 5.2]
// Mapping:       thread a of an element makes the three rows of node a; of every off-diagonal
//                group the two threads of a pair read the same sub-matrix, one of them takes its
//                transpose; 16 elements a block of 128
// Layout:        see common/kappa.cuh; elements (connectivity, moduli, kappa) in the order of
//                their colors, for ebeSymAtomic in that of the mesh
// Cost:          an element: 300 values, modulus, 8 nodes, firsts, 2441 bytes; 1200 operations; a node:
//                49 bytes if the cache keeps it from one color to the next, every other of which runs backwards
// Deterministic: ebeSym yes, no two elements of a launch share a node; ebeSymAtomic no
// Requires:      ebeSym: a coloring, and no node twice in an element; ebeSymAtomic: y = x at held
//                components, 0 elsewhere (held_part); 3 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#include "common/kappa.cuh"
#include "common/scatter.cuh"

#define BLOCK 128

// sum += K u with K in the notation of kappa.cuh, or its transpose
__device__ __forceinline__ void multiply_add(
    const double diagonal[3], double2 de, double2 fg, double2 hi, bool transposed,
    const double u[3], double sum[3]) {
    const double d = transposed ? fg.x : de.x, f = transposed ? de.x : fg.x;
    const double e = transposed ? hi.x : de.y, h = transposed ? de.y : hi.x;
    const double g = transposed ? hi.y : fg.y, i = transposed ? fg.y : hi.y;
    sum[0] += diagonal[0] * u[0] + d * u[1] + e * u[2];
    sum[1] += f * u[0] + diagonal[1] * u[1] + g * u[2];
    sum[2] += h * u[0] + i * u[1] + diagonal[2] * u[2];
}

// sum[3] = rows of node a of K_e u_e, for element e of n; s_u[i][thread] has u_e
__device__ __forceinline__ void rows_of_node(
    unsigned n, unsigned e, int a,
    const double* __restrict__ kappa_d, const double* __restrict__ kappa_od,
    const double s_u[3][BLOCK], double sum[3]) {
    const unsigned t = threadIdx.x;
    const double u[3] = {s_u[0][t], s_u[1][t], s_u[2][t]};

    double x[6];
#pragma unroll
    for (int entry = 0; entry < 6; ++entry) x[entry] = __ldcs(kappa_d + kappa_d_index(entry, n, e, a));

    multiply_add(x, make_double2(x[3], x[4]), make_double2(x[3], x[5]), make_double2(x[4], x[5]),
                 false, u, sum);

#pragma unroll
    for (int group = 1; group < 8; ++group) {
        const bool transposed = a >> group_bit(group) & 1;
        const int k = sub_matrix(group, transposed ? a ^ group : a);
        const double* values = kappa_od + kappa_od_group(group, n);
        const double2* pairs = reinterpret_cast<const double2*>(values + kappa_od_pairs(n));

        double diagonal[3], v[3];
        double2 pair[3];
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            diagonal[i] = __ldcs(values + kappa_od_single(i, n, e, k));
            pair[i] = __ldcs(pairs + kappa_od_single(i, n, e, k));
            v[i] = s_u[i][t ^ group];
        }

        multiply_add(diagonal, pair[0], pair[1], pair[2], transposed, v, sum);
    }
}

template <bool ATOMIC>
__device__ __forceinline__ void product(
    unsigned first, unsigned count, unsigned n, unsigned n_nodes,
    const unsigned* __restrict__ connectivity, const unsigned char* __restrict__ firsts,
    const unsigned char* __restrict__ held,
    const double* __restrict__ kappa_d, const double* __restrict__ kappa_od,
    const double* __restrict__ moduli, const double* __restrict__ x, double* y) {
    __shared__ double s_u[3][BLOCK];
    const unsigned in_color = blockIdx.x * (BLOCK / 8) + threadIdx.x / 8;
    const unsigned e = first + in_color, a = threadIdx.x % 8;

    unsigned node = 0, mask = 0;
    bool is_first = false; // to write to the node
    if (in_color < count) {
        is_first = !ATOMIC && firsts[e] >> a & 1;
        node = __ldcs(connectivity + ((size_t)a * n + e));
        mask = held[node];
#pragma unroll
        for (int i = 0; i < 3; ++i) s_u[i][threadIdx.x] = free_value(x, n_nodes, node, mask, i);
    }

    double before[3] = {0.0, 0.0, 0.0}; // read early: nothing else of this launch adds to it
    if (!ATOMIC && !is_first)
#pragma unroll
        for (int i = 0; i < 3; ++i) before[i] = y[(size_t)i * n_nodes + node];
    __syncwarp(); // the eight threads of an element are in one warp
    if (in_color >= count) return;

    double sum[3] = {0.0, 0.0, 0.0};
    rows_of_node(n, e, a, kappa_d, kappa_od, s_u, sum);
    const double modulus = __ldcs(moduli + e);

#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const size_t at = (size_t)i * n_nodes + node;
        if (ATOMIC) add_atomic(y, n_nodes, node, mask, i, modulus * sum[i]);
        else if (!(mask >> i & 1)) y[at] = before[i] + modulus * sum[i];
        else if (is_first) y[at] = x[at];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 8) ebeSym(
    unsigned first, unsigned count, // elements of the color
    unsigned n, unsigned n_nodes,
    const unsigned* __restrict__ connectivity, // [8][n], color by color
    const unsigned char* __restrict__ firsts,  // [n], bit a: the first with node a
    const unsigned char* __restrict__ held,    // [n_nodes]
    const double* __restrict__ kappa_d,        // [6][n][8]
    const double* __restrict__ kappa_od,       // [7] of ([3][n][4], [3][n][4][2])
    const double* __restrict__ moduli,         // [n], color by color
    const double* __restrict__ x,              // [3][n_nodes]
    double* y) {                               // [3][n_nodes]
    product<false>(first, count, n, n_nodes, connectivity, firsts, held, kappa_d, kappa_od, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) ebeSymAtomic(
    unsigned n, unsigned n_nodes,
    const unsigned* __restrict__ connectivity, // [8][n]
    const unsigned char* __restrict__ held,    // [n_nodes]
    const double* __restrict__ kappa_d,        // [6][n][8]
    const double* __restrict__ kappa_od,       // [7] of ([3][n][4], [3][n][4][2])
    const double* __restrict__ moduli,         // [n]
    const double* __restrict__ x,              // [3][n_nodes]
    double* y) {                               // [3][n_nodes]
    product<true>(0, n, n, n_nodes, connectivity, nullptr, held, kappa_d, kappa_od, moduli, x, y);
}

// out[k] = values[order[k]]: moduli from the order of the mesh to that of the colors
extern "C" __global__ void __launch_bounds__(BLOCK) by_color(
    unsigned n,
    const unsigned* __restrict__ order, // [n]
    const double* __restrict__ values,  // [n]
    double* __restrict__ out) {         // [n]
    const unsigned k = blockIdx.x * BLOCK + threadIdx.x;
    if (k < n) out[k] = values[order[k]];
}
