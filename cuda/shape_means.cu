// precision: f64
// spread, average: between fields of elements and of nodes by the means of the shape functions over the
// elements, as the Helmholtz filter goes to its equation and back; the transposes of each other.
//
// Source:        [LazarovSigmund2011]; T_ea / v_e, T_ea the integral of N_a over element e by the 2x2x2
//                Gauss rule, v_e its volume
// Mapping:       one thread per element, blocks of 128
// Layout:        nodal fields [n_nodes], element fields [n_elements]
// Cost:          1170 operations per element; connectivity (32 bytes) and a value read or written per
//                element; coordinates (24 bytes) and a value read or written per node
// Deterministic: average: yes; spread: where no two elements of a launch share a node, as with one launch
//                per color
// Requires:      source = 0 beforehand for spread
// Oracle:        crates/topopt-cuda/tests/device/diffusion.rs

#define BLOCK 128

#include "common/points.cuh"

// The integrals of the shape functions over element e, times 4096, and its nodes; returns their sum
__device__ __forceinline__ real integrals(const MeshView& mesh, unsigned e, unsigned node[8], real T[8]) {
    real X[3][8], volume = 0;
    load_element(mesh, e, node, X);
#pragma unroll
    for (int m = 0; m < 8; ++m) T[m] = 0;
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
#pragma unroll
        for (int m = 0; m < 8; ++m) T[m] += p.det * shape(p, m);
    }
#pragma unroll
    for (int m = 0; m < 8; ++m) volume += T[m];
    return volume;
}

// source_a += sum over elements of T_ea x_e / v_e
extern "C" __global__ void __launch_bounds__(BLOCK) spread(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const double* __restrict__ x, // [n_elements]
    double* __restrict__ source) { // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;
    unsigned node[8];
    real T[8];
    const real value = x[e] / integrals(mesh, e, node, T);
#pragma unroll
    for (int m = 0; m < 8; ++m) atomicAdd(source + node[m], value * T[m]);
}

// y_e = sum over nodes of T_ea field_a / v_e
extern "C" __global__ void __launch_bounds__(BLOCK) average(
    VIEW(MeshView) mesh,
    const double* __restrict__ field, // [n_nodes]
    double* __restrict__ y) {         // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    unsigned node[8];
    real T[8], sum = 0;
    const real volume = integrals(mesh, e, node, T);
#pragma unroll
    for (int m = 0; m < 8; ++m) sum += T[m] * field[node[m]];
    y[e] = sum / volume;
}
