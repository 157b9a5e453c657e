// precision: f64
// corner_sum, corner_gradient and their transposes: sums of an element field around the corners of a
// mesh, and gradients of a corner field at the centers of the elements, as the subpixel projection needs
// them. vertex_sum and so on do the same for tetrahedra.
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

// The corners of an element, the cofactors of J at its center and det J; of hexahedra, whose corners
// stand by position, 64 and 512 times what they should be
template <int CORNERS>
struct Center {
    unsigned node[CORNERS];
    real C[3][3], determinant;
};

__device__ __forceinline__ void load(const MeshView& mesh, unsigned e, Center<8>& center) {
    double positions[3][8];
    real X[3][8], J[3][3];
    load_nodes(mesh, e, center.node);
    load_positions(mesh, center.node, positions);
    to_coefficients(positions, X);
#pragma unroll
    for (int r = 0; r < 3; ++r)
#pragma unroll
        for (int c = 0; c < 3; ++c) J[c][r] = X[c][1 << r];
    center.determinant = cofactors(J, center.C);
}

__device__ __forceinline__ void load(const MeshView& mesh, unsigned e, Center<4>& center) {
    real J[3][3];
#pragma unroll
    for (int a = 0; a < 4; ++a) center.node[a] = local_node(mesh, a, e);
#pragma unroll
    for (int r = 0; r < 3; ++r)
#pragma unroll
        for (int c = 0; c < 3; ++c)
            J[c][r] = coordinate(mesh, c, center.node[r + 1]) - coordinate(mesh, c, center.node[0]);
    center.determinant = cofactors(J, center.C);
}

// Derivatives of corner values by the reference coordinates; of hexahedra 8 times
__device__ __forceinline__ void derivatives(const real (&values)[8], real by[3]) {
    real Y[8];
    to_coefficients(values, Y);
#pragma unroll
    for (int r = 0; r < 3; ++r) by[r] = Y[1 << r];
}

__device__ __forceinline__ void derivatives(const real (&values)[4], real by[3]) {
#pragma unroll
    for (int r = 0; r < 3; ++r) by[r] = values[r + 1] - values[0];
}

// The transpose
__device__ __forceinline__ void add_derivatives(
    const unsigned (&node)[8], const real by[3], double* __restrict__ y) {
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real sum = 0;
#pragma unroll
        for (int r = 0; r < 3; ++r) sum += m >> r & 1 ? by[r] : -by[r];
        atomicAdd(y + node[m], sum);
    }
}

__device__ __forceinline__ void add_derivatives(
    const unsigned (&node)[4], const real by[3], double* __restrict__ y) {
    atomicAdd(y + node[0], -by[0] - by[1] - by[2]);
#pragma unroll
    for (int r = 0; r < 3; ++r) atomicAdd(y + node[r + 1], by[r]);
}

template <int CORNERS>
__device__ __forceinline__ void sum(const MeshView& mesh, const Part& part, const double* x, double* y) {
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;
    Center<CORNERS> center;
    load(mesh, e, center);
    const real value = center.determinant * x[e];
#pragma unroll
    for (int a = 0; a < CORNERS; ++a) atomicAdd(y + center.node[a], value);
}

template <int CORNERS>
__device__ __forceinline__ void sum_transpose(const MeshView& mesh, const double* y, double* x) {
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    Center<CORNERS> center;
    load(mesh, e, center);
    real sum = 0;
#pragma unroll
    for (int a = 0; a < CORNERS; ++a) sum += y[center.node[a]];
    x[e] = center.determinant * sum;
}

template <int CORNERS>
__device__ __forceinline__ void gradient(
    const MeshView& mesh, const double* y, double* gx, double* gy, double* gz) {
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    Center<CORNERS> center;
    load(mesh, e, center);
    real values[CORNERS], by[3];
#pragma unroll
    for (int a = 0; a < CORNERS; ++a) values[a] = y[center.node[a]];
    derivatives(values, by);
    const real(&C)[3][3] = center.C;
    const real scale = 1 / center.determinant;
    double* const g[3] = {gx, gy, gz};
#pragma unroll
    for (int c = 0; c < 3; ++c) g[c][e] = scale * (by[0] * C[0][c] + by[1] * C[1][c] + by[2] * C[2][c]);
}

template <int CORNERS>
__device__ __forceinline__ void gradient_transpose(
    const MeshView& mesh, const Part& part, const double* gx, const double* gy, const double* gz,
    double* y) {
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;
    Center<CORNERS> center;
    load(mesh, e, center);
    real by[3];
    const real(&C)[3][3] = center.C;
    const real scale = 1 / center.determinant, g[3] = {gx[e], gy[e], gz[e]};
#pragma unroll
    for (int r = 0; r < 3; ++r) by[r] = scale * (C[r][0] * g[0] + C[r][1] * g[1] + C[r][2] * g[2]);
    add_derivatives(center.node, by, y);
}

// y_a += 512 det J x_e
extern "C" __global__ void __launch_bounds__(BLOCK) corner_sum(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const double* __restrict__ x, // [n_elements]
    double* __restrict__ y) {     // [n_nodes]
    sum<8>(mesh, part, x, y);
}

// x_e = 512 det J times the sum of y_a over its corners
extern "C" __global__ void __launch_bounds__(BLOCK) corner_sum_transpose(
    VIEW(MeshView) mesh,
    const double* __restrict__ y, // [n_nodes]
    double* __restrict__ x) {     // [n_elements]
    sum_transpose<8>(mesh, y, x);
}

// g = J^-T times the derivatives of y by the reference coordinates
extern "C" __global__ void __launch_bounds__(BLOCK) corner_gradient(
    VIEW(MeshView) mesh,
    const double* __restrict__ y,                                                       // [n_nodes]
    double* __restrict__ gx, double* __restrict__ gy, double* __restrict__ gz) { // [n_elements] each
    gradient<8>(mesh, y, gx, gy, gz);
}

// y_a += the derivatives of N_a by the reference coordinates, times J^-1 g
extern "C" __global__ void __launch_bounds__(BLOCK) corner_gradient_transpose(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const double* __restrict__ gx, const double* __restrict__ gy, const double* __restrict__ gz,
    double* __restrict__ y) { // [n_nodes]
    gradient_transpose<8>(mesh, part, gx, gy, gz, y);
}

// y_a += det J x_e
extern "C" __global__ void __launch_bounds__(BLOCK) vertex_sum(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const double* __restrict__ x, // [n_elements]
    double* __restrict__ y) {     // [n_nodes]
    sum<4>(mesh, part, x, y);
}

// x_e = det J times the sum of y_a over its corners
extern "C" __global__ void __launch_bounds__(BLOCK) vertex_sum_transpose(
    VIEW(MeshView) mesh,
    const double* __restrict__ y, // [n_nodes]
    double* __restrict__ x) {     // [n_elements]
    sum_transpose<4>(mesh, y, x);
}

// g = J^-T times the derivatives of y by the reference coordinates
extern "C" __global__ void __launch_bounds__(BLOCK) vertex_gradient(
    VIEW(MeshView) mesh,
    const double* __restrict__ y,                                                       // [n_nodes]
    double* __restrict__ gx, double* __restrict__ gy, double* __restrict__ gz) { // [n_elements] each
    gradient<4>(mesh, y, gx, gy, gz);
}

// y_a += the derivatives of N_a by the reference coordinates, times J^-1 g
extern "C" __global__ void __launch_bounds__(BLOCK) vertex_gradient_transpose(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const double* __restrict__ gx, const double* __restrict__ gy, const double* __restrict__ gz,
    double* __restrict__ y) { // [n_nodes]
    gradient_transpose<4>(mesh, part, gx, gy, gz, y);
}
