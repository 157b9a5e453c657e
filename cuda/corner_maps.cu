// precision: f64
// corner_sum, corner_gradient and their transposes: sums of an element field around the corners of a
// mesh, and gradients of a corner field at the centers of the elements, as the subpixel projection needs
// them.
//
// Source:        -
// Mapping:       one thread per element, blocks of 128
// Layout:        nodal fields [n_nodes], element fields [n_elements]
// Cost:          200 operations per element; connectivity (32 bytes) and one to three values read or
//                written per element; coordinates (24 bytes) and a value read or written per node
// Deterministic: fields of elements: yes; of nodes: where no two elements of a launch share a node, as
//                with one launch per color
// Requires:      y = 0 beforehand for corner_sum and corner_gradient_transpose
// Oracle:        crates/topopt-cuda/tests/device/corner_maps.rs

#define BLOCK 128

#include "common/trilinear.cuh"

// The nodes of element e by position, the cofactors of J at its center, 64 times what they should be;
// returns det J, 512 times
__device__ __forceinline__ real center(const MeshView& mesh, unsigned e, unsigned node[8], real C[3][3]) {
    double positions[3][8];
    real X[3][8], J[3][3];
    load_nodes(mesh, e, node);
    load_positions(mesh, node, positions);
    to_coefficients(positions, X);
#pragma unroll
    for (int r = 0; r < 3; ++r)
#pragma unroll
        for (int c = 0; c < 3; ++c) J[r][c] = X[c][1 << r];
    return cofactors(J, C);
}

// y_a += 512 det J x_e
extern "C" __global__ void __launch_bounds__(BLOCK) corner_sum(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const double* __restrict__ x, // [n_elements]
    double* __restrict__ y) {     // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;
    unsigned node[8];
    real C[3][3];
    const real value = center(mesh, e, node, C) * x[e];
#pragma unroll
    for (int m = 0; m < 8; ++m) atomicAdd(y + node[m], value);
}

// x_e = 512 det J times the sum of y_a over its corners
extern "C" __global__ void __launch_bounds__(BLOCK) corner_sum_transpose(
    VIEW(MeshView) mesh,
    const double* __restrict__ y, // [n_nodes]
    double* __restrict__ x) {     // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    unsigned node[8];
    real C[3][3], sum = 0;
    const real volume = center(mesh, e, node, C);
#pragma unroll
    for (int m = 0; m < 8; ++m) sum += y[node[m]];
    x[e] = volume * sum;
}

// g = J^-T times the derivatives of y by xi, eta and zeta
extern "C" __global__ void __launch_bounds__(BLOCK) corner_gradient(
    VIEW(MeshView) mesh,
    const double* __restrict__ y,                                                       // [n_nodes]
    double* __restrict__ gx, double* __restrict__ gy, double* __restrict__ gz) { // [n_elements] each
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    unsigned node[8];
    real C[3][3], values[8], Y[8];
    const real scale = 1 / center(mesh, e, node, C);
#pragma unroll
    for (int m = 0; m < 8; ++m) values[m] = y[node[m]];
    to_coefficients(values, Y);
    double* const g[3] = {gx, gy, gz};
#pragma unroll
    for (int c = 0; c < 3; ++c) g[c][e] = scale * (Y[1] * C[0][c] + Y[2] * C[1][c] + Y[4] * C[2][c]);
}

// y_a += the derivatives of N_a by xi, eta and zeta, times J^-1 g
extern "C" __global__ void __launch_bounds__(BLOCK) corner_gradient_transpose(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const double* __restrict__ gx, const double* __restrict__ gy, const double* __restrict__ gz,
    double* __restrict__ y) { // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;
    unsigned node[8];
    real C[3][3], by[3];
    const real scale = 1 / center(mesh, e, node, C);
    const real g[3] = {gx[e], gy[e], gz[e]};
#pragma unroll
    for (int r = 0; r < 3; ++r) by[r] = scale * (C[r][0] * g[0] + C[r][1] * g[1] + C[r][2] * g[2]);
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real sum = 0;
#pragma unroll
        for (int r = 0; r < 3; ++r) sum += m >> r & 1 ? by[r] : -by[r];
        atomicAdd(y + node[m], sum);
    }
}
