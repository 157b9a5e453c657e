// Groups of points, and the inverses of the diagonal blocks of a matrix that belong to them.

#pragma once

#include "common/views.cuh"

// Points in groups, and the inverses of their blocks
struct GroupsView {
    unsigned n_groups, n_points, unknowns, are_planes;
    const unsigned* starts;  // [n_groups + 1], first of a group in points
    const unsigned* points;  // [n_points]
    const unsigned* squares; // [n_groups], numbers of points squared before a group, added up
    const float* inverses;   // [unknowns^2 squares]
};

// A group as a warp works on it
struct Group {
    unsigned first, n;     // in points; unknowns
    const float* inverse;  // [n][n]
};

__device__ __forceinline__ Group group_of(const GroupsView& groups, unsigned group) {
    const unsigned first = groups.starts[group], unknowns = groups.unknowns;
    return {first, unknowns * (groups.starts[group + 1] - first),
            groups.inverses + (size_t)unknowns * unknowns * groups.squares[group]};
}

// Where unknown i of a group stands in vectors
__device__ __forceinline__ size_t place(const GroupsView& groups, unsigned first, unsigned i) {
    const unsigned point = groups.points[first + i / groups.unknowns], component = i % groups.unknowns;
    return groups.are_planes ? (size_t)component * groups.n_points + point
                             : (size_t)groups.unknowns * point + component;
}
