// Gradients of the shape functions at a point of an element; needs trilinear.cuh.

#pragma once

// 1 - x and 1 + x
#define SIDES(x) {(real)1 - (x), (real)1 + (x)}

// 8 dN_m/dxi
__device__ __forceinline__ void reference_gradient(int m, const real sides[3][2], real N[3]) {
    // By choice and not by index: m may be known only when it runs.
    const real x = m & 1 ? sides[0][1] : sides[0][0], y = m & 2 ? sides[1][1] : sides[1][0];
    const real z = m & 4 ? sides[2][1] : sides[2][0];
    N[0] = m & 1 ? y * z : -y * z;
    N[1] = m & 2 ? x * z : -x * z;
    N[2] = m & 4 ? x * y : -x * y;
}

// det J times the gradient of the shape function of the node at position m, from the cofactors of J.
// A node that stands twice, as in a wedge, or four times, as at the apex of a pyramid, has the sum of
// all at the first position and 0 at the others.
__device__ __forceinline__ void gradient_of_node(
    const unsigned node[8], int m, const real sides[3][2], const real C[3][3], real g[3]) {
    real N[3];
    reference_gradient(m, sides, N);
    // The directions in which the edge from here joins the node with itself.
    int joined = 0;
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2) joined |= node[m ^ bit] == node[m] ? bit : 0;
    for (int other = joined; other > 0; other = (other - 1) & joined) {
        real twin[3];
        reference_gradient(m ^ other, sides, twin);
#pragma unroll
        for (int i = 0; i < 3; ++i) N[i] = m & joined ? (real)0 : N[i] + twin[i];
    }
#pragma unroll
    for (int c = 0; c < 3; ++c) g[c] = N[0] * C[0][c] + N[1] * C[1][c] + N[2] * C[2][c];
}
