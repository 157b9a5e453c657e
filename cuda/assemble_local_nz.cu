// precision: f64 f32
// element: full modes
// local_nz1, local_nz3: the assembled matrix, non-zero by non-zero, each from the coordinates.
//
// Source:        [CeckaLewDarve2011, 4.4]
// Mapping:       a thread per block on and above the diagonal, which evaluates all of its elements
//                again; 128 per block
// Layout:        offsets [n_upper + 1], sources [36 n_elements], tile 36 e + p of each block;
//                values [n_blocks][N][N]
// Cost:          per element 36 evaluations at 8 points, some 90 operations each beside those of a
//                tile
// Deterministic: yes: every number is summed up by one thread, by increasing elements
// Requires:      det J > 0, which a checked mesh has
// Oracle:        crates/topopt-cuda/tests/device/assembly.rs

#define BLOCK 128

#include "common/tiles.cuh"

#ifdef BY_MODES
// K += modulus times the stiffness of positions a and b by strain modes, or what they conduct
template <int N>
__device__ __forceinline__ void add_modes(
    const real X[3][8], const Lame& material, real modulus, int a, int b, real K[N * N]) {
    const ModeGeometry geometry = mode_geometry(X);
    const real mu = (real)(N == 1 ? 1.0 / 512 : material.mu / 512) * modulus;
    const real ratio = N == 1 ? 0 : (real)(material.lambda / material.mu);
#pragma unroll 1
    for (int q = 0; q < STRAIN_MODES; ++q) {
        const StrainMode mode = strain_mode<N == 3>(X, geometry, q, ratio);
        real g[3], h[3];
        mode_gradient(mode, a, g);
        mode_gradient(mode, b, h);
        const real scale = mu * mode.weight, trace = dot(g, h, 0);
        if (N == 1) K[0] += scale * trace;
#pragma unroll
        for (int i = 0; i < (N == 3 ? 3 : 0); ++i)
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                const real within = trace * ((i == j) - mode.normal[i] * mode.normal[j]);
                K[(3 * i + j) % (N * N)] += scale * (mode.ratio * g[i] * h[j] + g[j] * h[i] + within);
            }
    }
}
#endif

// T += modulus times the integrals of element e for positions a and b, from its coordinates
template <int N>
__device__ __forceinline__ void add_element(
    const MeshView& mesh, const Source& source, unsigned e, int a, int b, real T[N * N]) {
    unsigned node[8];
    real X[3][8];
    load_element(mesh, e, node, X);
    if (source.routine == EMPTY) {
#pragma unroll
        for (int m = 1; m < 8; ++m) // X[0] is never made
#pragma unroll
            for (int k = 0; k < N * N; ++k) T[k] += X[k % 3][m];
        return;
    }

#ifdef BY_MODES
    add_modes<N>(X, source.material, source.moduli[e], a, b, T);
    const real capacity = (real)(1.0 / 4096) * (N == 1 ? source.capacities[e] : 0);
#pragma unroll 1
    for (int q = 0; q < (N == 1 && a == b ? 8 : 0); ++q) {
        const Point point_q = point(X, q);
        T[0] += capacity * point_q.det * shape_at(point_q, a);
    }
#else
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point point_q = point(X, q);
        real own[3], other[3], g[3], h[3];
        reference_gradient(a, point_q.sides, own);
        reference_gradient(b, point_q.sides, other);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            g[c] = own[0] * point_q.C[0][c] + own[1] * point_q.C[1][c] + own[2] * point_q.C[2][c];
            h[c] = other[0] * point_q.C[0][c] + other[1] * point_q.C[1][c] + other[2] * point_q.C[2][c];
        }
        const real scale = source.moduli[e] * reciprocal(512 * point_q.det);
        if (N == 1) {
            T[0] += scale * (g[0] * h[0] + g[1] * h[1] + g[2] * h[2]);
            if (a != b) continue;
            T[0] += (real)(1.0 / 4096) * source.capacities[e] * point_q.det * shape_at(point_q, a);
        } else {
#pragma unroll
            for (int k = 0; k < N * N; ++k) T[k] += scale * g[k / N] * h[k % N];
        }
    }
#endif
}

template <int N>
__device__ __forceinline__ void assemble(
    const UpperView& upper, const MeshView& mesh, const Source& source, const unsigned* offsets,
    const unsigned* sources, real* values) {
    const unsigned u = blockIdx.x * BLOCK + threadIdx.x;
    if (u >= upper.n_blocks) return;
    real K[N * N] = {};
    const unsigned end = offsets[u + 1];
    for (unsigned at = offsets[u]; at < end; ++at) {
        const unsigned from = sources[at], e = PLACE(from) / PAIRS, p = PLACE(from) % PAIRS;
        int a = p & 7, b = (p + (p >> 3)) & 7;
        for (int turn = 0; turn < (from & DOUBLED ? 2 : 1); ++turn) {
            const bool swapped = (from & TRANSPOSED) != 0 || turn == 1;
            add_element<N>(mesh, source, e, swapped ? b : a, swapped ? a : b, K);
        }
    }
    if (source.routine != EMPTY) to_stiffness<N>(source.material, K);
#pragma unroll
    for (int k = 0; k < N * N; ++k) write_number<N>(upper, u, k, K[k], values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) local_nz1(
    VIEW(UpperView) upper,
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    const unsigned* __restrict__ offsets, // [n_upper + 1]
    const unsigned* __restrict__ sources, // [36 n_elements]
    real* __restrict__ values) {          // [n_blocks][1][1]
    assemble<1>(upper, mesh, {routine, material, stored, moduli, capacities}, offsets, sources, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) local_nz3(
    VIEW(UpperView) upper,
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // [n_elements][STORED_NUMBERS]
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    const unsigned* __restrict__ offsets, // [n_upper + 1]
    const unsigned* __restrict__ sources, // [36 n_elements]
    real* __restrict__ values) {          // [n_blocks][3][3]
    assemble<3>(upper, mesh, {routine, material, stored, moduli, capacities}, offsets, sources, values);
}
