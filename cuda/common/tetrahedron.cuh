// The tetrahedron of ten nodes at the four points of the rule of degree 2, in registers. Nodes
// stand in VTK's order, as crates/topopt-mesh/src/tetrahedron.rs has it.
//
// By the barycentric coordinates L_a a field has the derivatives
//   d_a = (4 L_a - 1) v_a + 4 sum over the other vertices b of L_b v_ab,
// v_ab the value between vertices a and b. At point q L_q is OWN and the others are OTHER, so that
//   d_a = T_a + TO_POINT v_aq with T_a = VERTEX v_a + EDGES sum over b of v_ab and v_aa = v_a.
// Values are those from vertex 0 on, which has none then: what all nodes share leaves no rounding.

#pragma once

#include "common/trilinear.cuh"

#define TETRAHEDRON_NODES 10
#define OWN ((real)0.5854101966249685)
#define OTHER ((real)0.1381966011250105)
#define VERTEX (4 * OTHER - 1)
#define EDGES (4 * OTHER)
#define TO_POINT (4 * (OWN - OTHER))

// The node between two vertices, or the vertex
__device__ __forceinline__ constexpr int between(int a, int b) {
    constexpr int nodes[4][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3}};
    return nodes[a][b];
}

// The nodes of element e
__device__ __forceinline__ void load_tetrahedron(
    const MeshView& mesh, unsigned e, unsigned node[TETRAHEDRON_NODES]) {
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a) node[a] = local_node(mesh, a, e);
}

// Coordinates of the first nodes from vertex 0 on
template <int COUNT>
__device__ __forceinline__ void load_positions(
    const MeshView& mesh, const unsigned node[TETRAHEDRON_NODES], real X[3][TETRAHEDRON_NODES]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const double origin = coordinate(mesh, c, node[0]);
        X[c][0] = 0;
#pragma unroll
        for (int a = 1; a < COUNT; ++a) X[c][a] = (real)(coordinate(mesh, c, node[a]) - origin);
    }
}

// The components of a nodal vector, without those that are held
__device__ __forceinline__ void load_free(
    const unsigned node[TETRAHEDRON_NODES],
    const real* __restrict__ u,              // [3][n_nodes]
    unsigned n_nodes,
    const unsigned char* __restrict__ held,  // [n_nodes], or null where none is
    real U[3][TETRAHEDRON_NODES]) {
#pragma unroll
    for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int a = 0; a < TETRAHEDRON_NODES; ++a) U[c][a] = u[(size_t)c * n_nodes + node[a]];

    if (!held) return;
#pragma unroll
    for (int a = 0; a < TETRAHEDRON_NODES; ++a) {
        const unsigned mask = held[node[a]];
#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (mask >> c & 1) U[c][a] = 0;
    }
}

// Values from vertex 0 on
__device__ __forceinline__ void from_first(real U[3][TETRAHEDRON_NODES]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
#pragma unroll
        for (int a = 1; a < TETRAHEDRON_NODES; ++a) U[c][a] -= U[c][0];
        U[c][0] = 0;
    }
}

// T_a - T_0 of a component
__device__ __forceinline__ void shared_slopes(const real v[TETRAHEDRON_NODES], real T[3]) {
    const real first = EDGES * (v[4] + v[6] + v[7]);
#pragma unroll
    for (int a = 1; a < 4; ++a) {
        const int b = (a + 1) % 4, c = (a + 2) % 4, d = (a + 3) % 4;
        const real sum = v[between(a, b)] + v[between(a, c)] + v[between(a, d)];
        T[a - 1] = EDGES * sum + (VERTEX * v[a] - first);
    }
}

// d_a - d_0 of a component at point q
__device__ __forceinline__ void slopes_at(
    const real v[TETRAHEDRON_NODES], const real T[3], int q, real slopes[3]) {
#pragma unroll
    for (int a = 1; a < 4; ++a)
        slopes[a - 1] = TO_POINT * (v[between(a, q)] - v[between(0, q)]) + T[a - 1];
}

// Nodal forces of a component: h[q][a - 1] is the force on d_a - d_0 at point q
__device__ __forceinline__ void nodal_forces(const real h[4][3], real f[TETRAHEDRON_NODES]) {
    real own[4][4], sum[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        own[q][0] = -(h[q][0] + h[q][1] + h[q][2]);
#pragma unroll
        for (int a = 1; a < 4; ++a) own[q][a] = h[q][a - 1];
    }

#pragma unroll
    for (int a = 0; a < 4; ++a) {
        sum[a] = (own[0][a] + own[1][a]) + (own[2][a] + own[3][a]);
        f[a] = TO_POINT * own[a][a] + VERTEX * sum[a];
    }
#pragma unroll
    for (int a = 1; a < 4; ++a)
#pragma unroll
        for (int b = 0; b < a; ++b)
            f[between(a, b)] = EDGES * (sum[a] + sum[b]) + TO_POINT * (own[b][a] + own[a][b]);
}

// Row c of a symmetric tensor by VOIGT
__device__ __forceinline__ void row_of(const real s[6], int c, real row[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) row[i] = s[VOIGT(c, i)];
}

// Stress from det(J) times the strain at a point, in place, of the weight; returns the part of x .
// y. A material is that of an overload of stress().
template <class Material>
__device__ __forceinline__ real weighted_stress(real weight, Material material, real strains[6]) {
    real before[6], sum = 0;
#pragma unroll
    for (int p = 0; p < 6; ++p) before[p] = strains[p];
    stress(weight, material, strains);
#pragma unroll
    for (int p = 0; p < 6; ++p) sum += before[p] * strains[p];
    return sum;
}

// Stress at the four points of a straight tetrahedron of a field U, which then is that from vertex
// 0 on; C are the cofactors of its edges. Returns the part of x . y.
template <class Material>
__device__ __forceinline__ real straight_stresses(
    real U[3][TETRAHEDRON_NODES], const real C[3][3], real weight, Material material, real stresses[4][6]) {
    from_first(U);
    real shared[3][3], sum = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) shared_slopes(U[c], shared[c]);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        real slopes[3][3];
#pragma unroll
        for (int c = 0; c < 3; ++c) slopes_at(U[c], shared[c], q, slopes[c]);
        strain(slopes, C, stresses[q]);
        sum += weighted_stress(weight, material, stresses[q]);
    }
    return sum;
}

// Nodal forces of component c of these
__device__ __forceinline__ void straight_forces(
    const real stresses[4][6], const real C[3][3], int c, real f[TETRAHEDRON_NODES]) {
    real h[4][3];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        real row[3];
        row_of(stresses[q], c, row);
#pragma unroll
        for (int a = 0; a < 3; ++a) h[q][a] = dot(row, C[a], 0);
    }
    nodal_forces(h, f);
}

// A point of a curved tetrahedron: its barycentric coordinates, and det(J) times their gradients
struct TetrahedronPoint {
    real L[4];
    real C[4][3];
    real det;
};

// d_a of a component at any barycentric coordinates
__device__ __forceinline__ void derivatives_at(const real v[TETRAHEDRON_NODES], const real L[4], real d[4]) {
#pragma unroll
    for (int a = 0; a < 4; ++a) {
        d[a] = (4 * L[a] - 1) * v[a];
#pragma unroll
        for (int b = 0; b < 4; ++b)
            if (b != a) d[a] += 4 * L[b] * v[between(a, b)];
    }
}

// d_a - d_0 of all components there
__device__ __forceinline__ void slopes_of(
    const real v[3][TETRAHEDRON_NODES], const real L[4], real slopes[3][3]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        real d[4];
        derivatives_at(v[c], L, d);
#pragma unroll
        for (int a = 1; a < 4; ++a) slopes[c][a - 1] = d[a] - d[0];
    }
}

// Point q of the tetrahedron with nodes at X
__device__ __forceinline__ TetrahedronPoint point_of(const real X[3][TETRAHEDRON_NODES], int q) {
    TetrahedronPoint p;
#pragma unroll
    for (int a = 0; a < 4; ++a) p.L[a] = a == q ? OWN : OTHER;

    real J[3][3], C[3][3];
    slopes_of(X, p.L, J);
    p.det = cofactors(J, C);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
        for (int a = 1; a < 4; ++a) p.C[a][i] = C[a - 1][i];
        p.C[0][i] = -(C[0][i] + C[1][i] + C[2][i]);
    }
    return p;
}

// det(J) times the strain, shear twice, of a field
__device__ __forceinline__ void strain_at(
    const TetrahedronPoint& p, const real U[3][TETRAHEDRON_NODES], real strains[6]) {
    real slopes[3][3];
    slopes_of(U, p.L, slopes);
    strain(slopes, &p.C[1], strains);
}

// det(J) times the gradients of the ten shape functions
__device__ __forceinline__ void shape_gradients(const TetrahedronPoint& p, real g[TETRAHEDRON_NODES][3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
        for (int a = 0; a < 4; ++a) g[a][i] = (4 * p.L[a] - 1) * p.C[a][i];
#pragma unroll
        for (int a = 1; a < 4; ++a)
#pragma unroll
            for (int b = 0; b < a; ++b) g[between(a, b)][i] = 4 * (p.L[b] * p.C[a][i] + p.L[a] * p.C[b][i]);
    }
}

// Calls add(node, weight, g) for every node of the thread's element at every point, g det(J) times
// the gradient of its shape function
template <class Add>
__device__ __forceinline__ void each_gradient(
    const MeshView& mesh, const unsigned node[TETRAHEDRON_NODES], Add add) {
    real X[3][TETRAHEDRON_NODES];
    load_positions<TETRAHEDRON_NODES>(mesh, node, X);
#pragma unroll 1
    for (int q = 0; q < 4; ++q) {
        const TetrahedronPoint p = point_of(X, q);
        const real weight = reciprocal(p.det);
        real g[TETRAHEDRON_NODES][3];
        shape_gradients(p, g);
#pragma unroll
        for (int a = 0; a < TETRAHEDRON_NODES; ++a) add(a, weight, g[a]);
    }
}
