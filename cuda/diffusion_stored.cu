// precision: f64
// element: full modes
// diffusion_rows: L_e and the lumped M_e of every element, to be stored.
// diffusion_ebe, diffusion_nbn: (k L + c M) u with these, element by element and node by node.
// diffusion_assemble: the entries of the assembled matrix, for csr1 of scalar_levels.cu.
//
// Source:        [LoebEarls2019]; [Ratnakar2022, Alg. 2 and 3]; elements as in diffusion.cu
// Mapping:       diffusion_rows: a thread per row of an element; diffusion_ebe: a thread per element;
//                diffusion_nbn, diffusion_assemble: a thread per node; blocks of 128
// Layout:        rows [8][8][n_elements], row a in local numbering, and shares [8][n_elements]; entries off
//                the diagonal, by increasing columns; ground [n_nodes], what a row makes where all is 1
// Cost:          diffusion_ebe: 576 bytes and 144 operations per element; diffusion_nbn: 104 bytes and 18
//                operations per element of a node
// Deterministic: diffusion_ebe: where no two elements of a launch share a node; the others: yes
// Requires:      diffusion_ebe: y = (1 - P) x beforehand (supports.cu); diffusion_assemble: entries = 0 and
//                columns that ascend, without the row itself
// Oracle:        crates/topopt-cuda/tests/device/diffusion.rs

#define BLOCK 128

#include "common/conduction.cuh"
#include "common/rows.cuh"

// Row a of L_e in local numbering, and the entry a of the lumped M_e, for coefficients of 1
__device__ __forceinline__ double row_of_element(
    const MeshView& mesh, unsigned e, unsigned a, const double* __restrict__ stretches, double row[8]) {
    unsigned node[8];
    real X[3][8], U[8], share = 0;
    load_stretched(mesh, e, stretches, node, X);
    const int at = NODE(a); // its position: the map is its own inverse
    double values[8];
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        row[m] = 0;
        values[m] = m == at;
    }
    to_coefficients(values, U);

#ifdef BY_MODES
    conduct(conductor(X), U, 1.0 / 64, values);
#pragma unroll
    for (int m = 0; m < 8; ++m) row[NODE(m)] = values[m];
#endif
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
#ifndef BY_MODES
        real h[3];
        gradient(p, U, h);
        const real scale = (real)(1.0 / 512) * reciprocal(p.det);
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            real N[3], g = 0;
            reference_gradient(m, p.sides, N);
#pragma unroll
            for (int c = 0; c < 3; ++c) g += h[c] * (N[0] * p.C[0][c] + N[1] * p.C[1][c] + N[2] * p.C[2][c]);
            row[NODE(m)] += scale * g;
        }
#endif
        share += p.det * shape_at(p, at);
    }
    return (1.0 / 4096) * share;
}

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion_rows(
    VIEW(MeshView) mesh,
    const double* __restrict__ stretches, // [3][n_elements], or null
    double* __restrict__ rows,            // [8][8][n_elements]
    double* __restrict__ shares) {        // [8][n_elements]
    const unsigned thread = blockIdx.x * BLOCK + threadIdx.x, a = thread / mesh.n_elements;
    if (a >= 8) return;
    const unsigned e = thread % mesh.n_elements;
    double row[8];
    shares[(size_t)a * mesh.n_elements + e] = row_of_element(mesh, e, a, stretches, row);
#pragma unroll
    for (int b = 0; b < 8; ++b) rows[(size_t)(8 * a + b) * mesh.n_elements + e] = row[b];
}

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion_ebe(
    VIEW(MeshView) mesh, VIEW(Part) part,
    const unsigned char* __restrict__ held,  // [n_nodes], 1 where the node is held
    const double* __restrict__ rows,           // [8][8][n_elements]
    const double* __restrict__ shares,         // [8][n_elements]
    const double* __restrict__ conductivities, // [n_elements]
    const double* __restrict__ capacities,     // [n_elements]
    const double* __restrict__ x,              // [n_nodes]
    double* __restrict__ y) {                  // [n_nodes]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x, e = part.first + in_launch;
    if (in_launch >= part.count) return;
    unsigned node[8];
    real u[8];
#pragma unroll
    for (int b = 0; b < 8; ++b) {
        node[b] = local_node(mesh, b, e);
        u[b] = held[node[b]] ? 0 : x[node[b]];
    }

    const real k = conductivities[e], c = capacities[e];
#pragma unroll
    for (int a = 0; a < 8; ++a) {
        real sum = 0;
#pragma unroll
        for (int b = 0; b < 8; ++b) sum += rows[(size_t)(8 * a + b) * mesh.n_elements + e] * u[b];
        const real value = k * sum + c * shares[(size_t)a * mesh.n_elements + e] * u[a];
        if (!held[node[a]]) atomicAdd(y + node[a], value);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion_nbn(
    VIEW(MeshView) mesh,
    const unsigned* __restrict__ offsets,     // [n_nodes + 1]
    const unsigned* __restrict__ elements,    // [8 n_elements], of each node
    const unsigned char* __restrict__ locals, // [8 n_elements], of the node in each
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const double* __restrict__ rows,            // [8][8][n_elements]
    const double* __restrict__ shares,          // [8][n_elements]
    const double* __restrict__ conductivities,  // [n_elements]
    const double* __restrict__ capacities,      // [n_elements]
    const double* __restrict__ x,               // [n_nodes]
    double* __restrict__ y) {                   // [n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= mesh.n_nodes) return;
    const real own = x[node];
    if (held[node]) {
        y[node] = own;
        return;
    }

    real total = 0;
    for (unsigned k = offsets[node]; k < offsets[node + 1]; ++k) {
        const unsigned e = elements[k], a = locals[k];
        real sum = 0;
#pragma unroll
        for (int b = 0; b < 8; ++b) {
            const unsigned other = local_node(mesh, b, e);
            if (!held[other]) sum += rows[(size_t)(8 * a + b) * mesh.n_elements + e] * x[other];
        }
        total += conductivities[e] * sum + capacities[e] * shares[(size_t)a * mesh.n_elements + e] * own;
    }
    y[node] = total;
}

extern "C" __global__ void __launch_bounds__(BLOCK) diffusion_assemble(
    VIEW(MeshView) mesh,
    const unsigned* __restrict__ offsets,     // [n_nodes + 1]
    const unsigned* __restrict__ elements,    // [8 n_elements], of each node
    const unsigned char* __restrict__ locals, // [8 n_elements], of the node in each
    const unsigned char* __restrict__ held,   // [n_nodes], 1 where the node is held
    const double* __restrict__ stretches,       // [3][n_elements], or null
    const double* __restrict__ conductivities,  // [n_elements]
    const double* __restrict__ capacities,      // [n_elements]
    const unsigned* __restrict__ row_offsets, // [n_nodes + 1]
    const unsigned* __restrict__ columns,     // [n_entries], without the node itself
    double* entries,                            // [n_entries]
    double* __restrict__ ground) {              // [n_nodes]
    const unsigned node = blockIdx.x * BLOCK + threadIdx.x;
    if (node >= mesh.n_nodes) return;
    if (held[node]) {
        ground[node] = 1;
        return;
    }

    real to_ground = 0;
    for (unsigned k = offsets[node]; k < offsets[node + 1]; ++k) {
        const unsigned e = elements[k];
        double row[8];
        to_ground += capacities[e] * row_of_element(mesh, e, locals[k], stretches, row);
#pragma unroll
        for (int b = 0; b < 8; ++b) {
            const unsigned other = local_node(mesh, b, e);
            const real conducted = conductivities[e] * row[b];
            if (other == node) continue; // the rest of the row, as a constant has no flux
            if (held[other]) to_ground -= conducted;
            else entries[find(columns, row_offsets[node], row_offsets[node + 1], other)] += conducted;
        }
    }
    ground[node] = to_ground;
}
