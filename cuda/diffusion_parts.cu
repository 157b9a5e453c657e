// precision: f64 f32
// element: full modes
// diffusion_diagonal: of k L + c M with one unknown per node, for Jacobi's preconditioner.
// lumped_capacities: the diagonal of c M, zero at held nodes.
// conduction_work, capacity_work: v_e^T L_e u_e and v_e^T M_e u_e of every element.
//
// Source:        sums over the points of the 2x2x2 Gauss rule of |grad N_a|^2 det J and N_a det J; of
//                grad v . grad u det J; of N_a v_a u_a det J. Conduction by modes of the gradient in
//                closed form (common/conduction_modes.cuh)
// Mapping:       one thread per element, blocks of 128
// Layout:        fields and the diagonal [n_nodes], coefficients and works [n_elements]
// Cost:          2670, 1060, 1480 and 1130 operations per element, by modes 2400 and 430 for those of
//                conduction; connectivity (32 bytes) and two coefficients read per element, or a work
//                written; coordinates (24 bytes) and fields read, or the diagonal written, per node
// Deterministic: works: yes; diagonals: where no two elements of a launch share a node, as with one
//                launch per color
// Requires:      out = 0 beforehand for the diagonals
// Oracle:        crates/topopt-cuda/tests/device/diffusion.rs

#define BLOCK 128

#include "common/conduction.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion_diagonal(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,  // [n_nodes], 1 where the node is held
    const real* __restrict__ stretches,      // [3][n_elements], or null
    const real* __restrict__ conductivities, // [n_elements]
    const real* __restrict__ capacities,     // [n_elements]
    real* __restrict__ out) {                // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;

    unsigned node[8];
    real X[3][8], D[8] = {};
    load_stretched(mesh, e, stretches, node, X);
    const real conductivity = conductivities[e], capacity = (real)(1.0 / 4096) * capacities[e];

#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
#ifdef BY_MODES
        const real weight = capacity * p.det;
#pragma unroll
        for (int m = 0; m < 8; ++m) D[m] += weight * shape(p, m);
#else
        const real conduction = (real)(1.0 / 512) * conductivity * reciprocal(p.det), weight = capacity * p.det;
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            real g[3];
            gradient_of_node(node, m, p.sides, p.C, g);
            D[m] += conduction * dot(g, g, 0) + weight * shape(p, m);
        }
#endif
    }
#ifdef BY_MODES
    const Conductor element = conductor(X);
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real U[8];
        shape_shares(mesh, e, m, U);
        D[m] += conductivity * conduction_along(element, U, U);
    }
#endif

#pragma unroll
    for (int m = 0; m < 8; ++m) {
        if (held[node[m]]) out[node[m]] = 1; // the same from every element
        else atomicAdd(out + node[m], D[m]);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) lumped_capacities(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held, // [n_nodes], 1 where the node is held
    const real* __restrict__ capacities,    // [n_elements]
    real* __restrict__ out) {               // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;
    unsigned node[8];
    real X[3][8], D[8] = {};
    load_element(mesh, e, node, X);

#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
#pragma unroll
        for (int m = 0; m < 8; ++m) D[m] += p.det * shape(p, m);
    }

    const real capacity = (real)(1.0 / 4096) * capacities[e];
#pragma unroll
    for (int m = 0; m < 8; ++m)
        if (!held[node[m]]) atomicAdd(out + node[m], capacity * D[m]);
}

extern "C" __global__ void __launch_bounds__(BLOCK) conduction_work(
    VIEW(MeshView) mesh,
    const real* __restrict__ stretches, // [3][n_elements], or null
    const real* __restrict__ v,         // [n_nodes]
    const real* __restrict__ u,         // [n_nodes]
    real* __restrict__ work) {          // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    unsigned node[8];
    real X[3][8], values[8], V[8], U[8];
    load_stretched(mesh, e, stretches, node, X);
    load_values(node, v, values);
    to_coefficients(values, V);
    load_values(node, u, values);
    to_coefficients(values, U);
    work[e] = conduction_of(X, V, U);
}

extern "C" __global__ void __launch_bounds__(BLOCK) capacity_work(
    VIEW(MeshView) mesh,
    const real* __restrict__ v, // [n_nodes]
    const real* __restrict__ u, // [n_nodes]
    real* __restrict__ work) {  // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;
    unsigned node[8];
    real X[3][8], V[8], U[8], sum = 0;
    load_element(mesh, e, node, X);
    load_values(node, v, V);
    load_values(node, u, U);
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
        real product = 0;
#pragma unroll
        for (int m = 0; m < 8; ++m) product += shape(p, m) * (V[m] * U[m]);
        sum += p.det * product;
    }
    work[e] = (real)(1.0 / 4096) * sum;
}
