// Groups of points, and the inverses F^T F of the diagonal blocks of a matrix that belong to them.

#pragma once

#include "common/views.cuh"

// Most unknowns of a group of points
#define UNKNOWNS 36

// Points in groups, and the factors F of the inverses of their blocks
struct GroupsView {
    unsigned n_groups, n_points, unknowns, are_planes;
    const unsigned* starts;  // [n_groups + 1], first of a group in points
    const unsigned* points;  // [n_points]
    const unsigned* squares; // [n_groups], numbers of points squared before a group, added up
    const float* factors;    // rows of lower triangles, one group after the other
};

// A group as a warp works on it
struct Group {
    unsigned first, n;    // in points; unknowns
    size_t factor;        // begin of its triangle of n (n + 1) / 2 numbers in the factors
};

// Where row i of a lower triangle begins
__device__ __forceinline__ unsigned triangle(unsigned i) { return i * (i + 1) / 2; }

__device__ __forceinline__ Group group_of(const GroupsView& groups, unsigned group) {
    const unsigned first = groups.starts[group], unknowns = groups.unknowns;
    return {first, unknowns * (groups.starts[group + 1] - first),
            ((size_t)unknowns * unknowns * groups.squares[group] + unknowns * first) / 2};
}

// Where unknown i of a group stands in vectors
__device__ __forceinline__ size_t place(const GroupsView& groups, unsigned first, unsigned i) {
    const unsigned point = groups.points[first + i / groups.unknowns], component = i % groups.unknowns;
    return groups.are_planes ? (size_t)component * groups.n_points + point
                             : (size_t)groups.unknowns * point + component;
}
