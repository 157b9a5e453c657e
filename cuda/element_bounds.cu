// precision: f64
// element: full modes
// element_bounds: about the largest eigenvalue of D_e^-1 K_e of every element, D_e the 3x3 blocks
// on the diagonal of its stiffness K_e: what scales the smoother of the finest level of multigrid.
//
// Source:        the power method from the dilation, u <- D^-1 K u; the eigenvalue is the root of
//                what the last step makes of u^T D u. With modes from dilation and shears of equal
//                sizes; the eigenvalue is that of the Rayleigh quotients among two steps
// Mapping:       one thread per element, blocks of 32
// Layout:        a number per element
// Cost:          5 products (mf.cu) and the blocks (block_diagonal.cu), 14000 operations per
//                element; once a run; 672 bytes of shared memory per thread
// Deterministic: yes
// Oracle:        crates/topopt-cuda/tests/device/element_bounds.rs

#define BLOCK 32
// Steps of the power method, as crates/topopt-fem/src/elasticity/bounds.rs takes
#define STEPS 5
#define SHEAR 0.4
#define ROUNDING 1e-9

#ifdef BY_MODES
#include "common/mode_forces.cuh"
#else
#include "common/forces.cuh"
#endif
#include "common/self_stiffness.cuh"

// [component][position][thread], components xx, yy, zz, xy, yz, zx
typedef volatile real Blocks[6][8][BLOCK];

// The inverse of the block D at position m; zero where a node stands again
__device__ __forceinline__ void invert_block(const real D[6], int m, Blocks& inverse) {
    const real xx = D[0], yy = D[1], zz = D[2], xy = D[3], yz = D[4], zx = D[5];
    const real first = yy * zz - yz * yz, second = zx * yz - xy * zz, third = xy * yz - zx * yy;
    const real det = xx * first + (xy * second + zx * third);
    const real scale = det > 0 ? reciprocal(det) : (real)0;
    inverse[0][m][LANE] = scale * first;
    inverse[1][m][LANE] = scale * (xx * zz - zx * zx);
    inverse[2][m][LANE] = scale * (xx * yy - xy * xy);
    inverse[3][m][LANE] = scale * second;
    inverse[4][m][LANE] = scale * (xy * zx - xx * yz);
    inverse[5][m][LANE] = scale * third;
}

// Adds up what is at all places of a node, in the first of them; zero in the others
__device__ __forceinline__ void join(const unsigned node[8], real f[3][8]) {
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2)
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (!(m & bit) && node[m] == node[m | bit])
#pragma unroll
                for (int c = 0; c < 3; ++c) {
                    f[c][m] += f[c][m | bit];
                    f[c][m | bit] = 0;
                }
}

// Gives all places of a node what is at the first
__device__ __forceinline__ void copy(const unsigned node[8], real u[3][8]) {
#pragma unroll
    for (int bit = 4; bit > 0; bit /= 2)
#pragma unroll
        for (int m = 0; m < 8; ++m)
            if (!(m & bit) && node[m] == node[m | bit])
#pragma unroll
                for (int c = 0; c < 3; ++c) u[c][m | bit] = u[c][m];
}

// K u in place of u, at mu = 512. Coordinates are read again, or they would take registers that
// there are not.
#ifdef BY_MODES
__device__ __forceinline__ void forces(
    const MeshView& mesh, const unsigned node[8], real ratio, Geometry& geometry, real u[3][8]) {
    double X[3][8];
    real coefficients[3][8];
    load_positions(mesh, node, X);
    to_coefficients(X, coefficients);
    const Center center = store_geometry(coefficients, geometry);
    to_coefficients(u, coefficients);
    mode_forces(geometry, center, coefficients, 512 / MU_SCALE, ratio, u);
}
#else
__device__ __forceinline__ void forces(
    const MeshView& mesh, const unsigned node[8], real ratio, Slabs& x_slabs, Slabs& u_slabs, real u[3][8]) {
    double X[3][8];
    load_positions(mesh, node, X);
    real x_up[3][2][2], u_up[3][2][2], f_up[3][2][2] = {};
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        to_derivatives(X[c], c, x_slabs, x_up[c]);
        to_derivatives(u[c], c, u_slabs, u_up[c]);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) add_slab(k, u_slabs, x_up, u_up, 1, ratio, x_slabs, f_up);
#pragma unroll
    for (int c = 0; c < 3; ++c) to_nodes(x_slabs, c, f_up[c], u[c]);
}
#endif

// u = D^-1 f in place of f; returns u^T D u
__device__ __forceinline__ real divide(const Blocks& inverse, real f[3][8]) {
    real work = 0;
#pragma unroll
    for (int m = 0; m < 8; ++m) {
        real u[3], before[3];
#pragma unroll
        for (int i = 0; i < 3; ++i) before[i] = f[i][m];
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3; // plane 3 + i couples i and j, 3 + k k and i
            u[i] = inverse[i][m][LANE] * before[i] + inverse[3 + i][m][LANE] * before[j]
                 + inverse[3 + k][m][LANE] * before[k];
            f[i][m] = u[i];
        }
        work = dot(u, before, work);
    }
    return work;
}

#ifdef BY_MODES
// Opposite faces move apart along the unit edge vector between them, and by SHEAR along the others
__device__ __forceinline__ void start_sheared(const MeshView& mesh, const unsigned node[8], real u[3][8]) {
    double X[3][8];
    real coefficients[3][8], edge[3][3];
    load_positions(mesh, node, X);
    to_coefficients(X, coefficients);
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const real v[3] = {coefficients[0][1 << d], coefficients[1][1 << d], coefficients[2][1 << d]};
        const real scale = 1 / sqrt(dot(v, v, 0));
#pragma unroll
        for (int c = 0; c < 3; ++c) edge[d][c] = scale * v[c];
    }
#pragma unroll
    for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            u[c][m] = 0;
#pragma unroll
            for (int d = 0; d < 3; ++d) {
                const real apart = edge[d][c] + (real)SHEAR * (edge[(d + 1) % 3][c] + edge[(d + 2) % 3][c]);
                u[c][m] += m >> d & 1 ? apart : -apart;
            }
        }
}

// The square of the largest eigenvalue by the norms of four steps
__device__ __forceinline__ real largest(const real norms[4]) {
    const real ratio = norms[1] / norms[0];
    const real second = norms[2] / (norms[0] * ratio * ratio);
    const real third = norms[3] / (norms[0] * ratio * ratio * ratio);
    const real a = second - 1, b = third - second, c = third - second * second;
    if (!(a > (real)ROUNDING)) return norms[3] / norms[2];
    return ratio * (b + sqrt(fmax(b * b - 4 * a * c, (real)0))) / (2 * a);
}
#else
// The dilation, about the center: translations cost accuracy, and no force
__device__ __forceinline__ void start_dilated(const MeshView& mesh, const unsigned node[8], real u[3][8]) {
    load_positions(mesh, node, u);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real center = 0;
#pragma unroll
        for (int m = 0; m < 8; ++m) center += u[c][m] / 8;
#pragma unroll
        for (int m = 0; m < 8; ++m) u[c][m] -= center;
    }
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK) element_bounds(
    VIEW(MeshView) mesh,
    double ratio, double margin,
    double* __restrict__ out) { // [n_elements]
    const unsigned e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= mesh.n_elements) return;

#ifdef BY_MODES
    __shared__ Geometry geometry;
#else
    __shared__ Slabs x_slabs, u_slabs;
#endif
    __shared__ Blocks inverse;
    unsigned node[8];
    real u[3][8];
    load_nodes(mesh, e, node);
    {
        double X[3][8];
        real coefficients[3][8];
        load_positions(mesh, node, X);
        to_coefficients(X, coefficients);
#ifdef BY_MODES
        each_own_block(
            mesh, e, coefficients, ratio, [&](int m, unsigned, const real D[6]) { invert_block(D, m, inverse); });
#else
        real D[6][8] = {};
        add_self_stiffness(node, coefficients, ratio, D);
#pragma unroll
        for (int m = 0; m < 8; ++m) {
            const real block[6] = {D[0][m], D[1][m], D[2][m], D[3][m], D[4][m], D[5][m]};
            invert_block(block, m, inverse);
        }
#endif
    }

#ifdef BY_MODES
    start_sheared(mesh, node, u);
    join(node, u); // the sum, whichever place of a node is its first
    copy(node, u);
#else
    start_dilated(mesh, node, u);
#endif

    real norms[4] = {1, 1, 1, 1};
#pragma unroll 1
    for (int step = 0; step < STEPS; ++step) {
#ifdef BY_MODES
        forces(mesh, node, ratio, geometry, u);
#else
        forces(mesh, node, ratio, x_slabs, u_slabs, u);
#endif
        join(node, u);
#pragma unroll
        for (int i = 0; i < 3; ++i) norms[i] = norms[i + 1];
        norms[3] = divide(inverse, u);
        copy(node, u);
    }
#ifdef BY_MODES
    const real square = largest(norms);
#else
    const real square = norms[3] / norms[2];
#endif
    out[e] = (float)(margin * sqrt(square)); // as the host keeps it
}
