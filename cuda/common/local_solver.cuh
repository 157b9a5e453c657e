// The earliest arrival at a corner of a tetrahedron from its opposite face, as
// crates/topopt-distance/src/local_solver.rs has it: the minimum of lambda . phi + |x(lambda)|, a convex
// function of the points of the face. The corner is the origin, and lengths are times of travel.

#pragma once

#include "common/front.cuh"

// Products of the edges from the corner to the vertices of the face
struct Gram {
    real g00, g11, g22, g12, g02, g01;
};

// From a point between the ends of an edge with finite values; infinity if only one of them counts, or
// if the triangle is flat
__device__ __forceinline__ real through_edge(real phi0, real phi1, real g00, real g11, real g01) {
    const real delta = phi1 - phi0;
    const real s0 = g11 - g01, s1 = g00 - g01, square = s0 + s1;
    const real discriminant = (g00 * g11 - g01 * g01) * (square - delta * delta);
    if (!(discriminant > 0 && square > 0)) return NEVER;

    const real later = (s1 * delta + sqrt(discriminant)) / square;
    const bool inside = later * s1 >= g00 * delta && later * s0 >= -g01 * delta;
    return inside ? phi0 + later : NEVER;
}

// From the whole face; a vertex with an infinite value counts as absent
__device__ __forceinline__ real through_face(real phi0, real phi1, real phi2, const Gram& g) {
    const real d1 = phi1 - phi0, d2 = phi2 - phi0;

    // The adjugate of g, and its products with (1, 1, 1) and the differences of the values
    const real c00 = g.g11 * g.g22 - g.g12 * g.g12, c12 = g.g02 * g.g01 - g.g00 * g.g12;
    const real c11 = g.g00 * g.g22 - g.g02 * g.g02, c02 = g.g01 * g.g12 - g.g02 * g.g11;
    const real c22 = g.g00 * g.g11 - g.g01 * g.g01, c01 = g.g12 * g.g02 - g.g01 * g.g22;
    const real determinant = g.g00 * c00 + g.g01 * c01 + g.g02 * c02;
    const real s0 = c00 + c01 + c02, s1 = c01 + c11 + c12, s2 = c02 + c12 + c22;
    const real y0 = c01 * d1 + c02 * d2, y1 = c11 * d1 + c12 * d2, y2 = c12 * d1 + c22 * d2;

    const real square = s0 + s1 + s2, linear = y0 + y1 + y2;
    const real discriminant = linear * linear - square * (d1 * y1 + d2 * y2 - determinant);
    bool needs0 = false, needs1 = false, needs2 = false; // whether lambda is positive
    if (discriminant >= 0 && square > 0) {
        const real later = (linear + sqrt(discriminant)) / square;
        needs0 = later * s0 >= y0, needs1 = later * s1 >= y1, needs2 = later * s2 >= y2;
        if (needs0 && needs1 && needs2) return phi0 + later;
    }

    // On an edge where lambda would be negative beyond, or at a corner. The values of absent vertices
    // make everything above infinite or NaN, and no edge with them counts.
    real best = fmin(phi0 + sqrt(g.g00), fmin(phi1 + sqrt(g.g11), phi2 + sqrt(g.g22)));
    if (!needs2) best = fmin(best, through_edge(phi0, phi1, g.g00, g.g11, g.g01));
    if (!needs1) best = fmin(best, through_edge(phi0, phi2, g.g00, g.g22, g.g02));
    if (!needs0) best = fmin(best, through_edge(phi1, phi2, g.g11, g.g22, g.g12));
    return best;
}
