// precision: f64
// element: full modes
// K_e of every element at Young's modulus 1, in the two layouts that strategies store.
//
// Source:        integral of B^T D B by the 2x2x2 Gauss rule, or its sum over strain modes; layouts
//                of [Ratnakar2022, 5.2]
// Mapping:       8 threads per element, 16 elements per block of 128; thread q first evaluates
//                Gauss point or mode q, then makes the rows of local node q
// Layout:        stiffness_rows: K [n][24][24], rows 3 a + i
//                stiffness_kappa: see ebeSym.cu
// Cost:          once a mesh: 576 or 300 values written per element, some 20,000 operations
// Deterministic: yes; K_e is symmetric to the last bit
// Requires:      28 kB of shared memory; det J > 0, which a checked mesh has
// Oracle:        crates/topopt-cuda/tests/device/operators.rs, and operators/ebe_sym.rs for the
//                layout

#include "common/element.cuh"
#include "common/kappa.cuh"

#define BLOCK 128
#define ELEMENTS (BLOCK / 8)

extern "C" __global__ void __launch_bounds__(BLOCK) stiffness_rows(
    VIEW(MeshView) mesh, VIEW(Lame) material,
    double* __restrict__ stiffness) { // [n_elements][24][24]
    __shared__ Gradients F[ELEMENTS];
    const unsigned n = mesh.n_elements;
    const int slot = threadIdx.x / 8, a = threadIdx.x % 8;
    const unsigned e = blockIdx.x * ELEMENTS + slot;
    if (e < n) point_gradients(a, e, mesh, F[slot]);
    __syncthreads();
    if (e >= n) return;

    double* rows = stiffness + (size_t)e * 576 + 72 * a;
    for (int b = 0; b < 8; ++b) {
        double K[3][3];
        stiffness_tile(F[slot], a, b, material, K);
#pragma unroll
        for (int i = 0; i < 3; ++i)
#pragma unroll
            for (int j = 0; j < 3; ++j) rows[24 * i + 3 * b + j] = K[i][j];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) stiffness_kappa(
    VIEW(MeshView) mesh, VIEW(Lame) material,
    double* __restrict__ kappa_d,     // [6][n][8]
    double* __restrict__ kappa_od) {  // [7] of ([3][n][4], [3][n][4][2])
    __shared__ Gradients F[ELEMENTS];
    const unsigned n = mesh.n_elements;
    const int slot = threadIdx.x / 8, a = threadIdx.x % 8;
    const unsigned e = blockIdx.x * ELEMENTS + slot;
    if (e < n) point_gradients(a, e, mesh, F[slot]);
    __syncthreads();
    if (e >= n) return;

    double K[3][3];
    stiffness_tile(F[slot], a, a, material, K);
    const double diagonal[6] = {K[0][0], K[1][1], K[2][2], K[0][1], K[0][2], K[1][2]};
#pragma unroll
    for (int entry = 0; entry < 6; ++entry) kappa_d[kappa_d_index(entry, n, e, a)] = diagonal[entry];

    for (int group = 1; group < 8; ++group) {
        const int b = a ^ group;
        // A pair's sub-matrix is made by its smaller node.
        if (a > b) continue;

        stiffness_tile(F[slot], a, b, material, K);
        const int k = sub_matrix(group, a);
        double* values = kappa_od + kappa_od_group(group, n);

#pragma unroll
        for (int i = 0; i < 3; ++i) {
            values[kappa_od_single(i, n, e, k)] = K[i][i];
            double2* pairs = reinterpret_cast<double2*>(values + kappa_od_pairs(n));
            pairs[kappa_od_single(i, n, e, k)] = make_double2(K[i][i == 0], K[i][i == 2 ? 1 : 2]);
        }
    }
}
