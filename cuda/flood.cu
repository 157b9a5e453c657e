// precision: f64 f32
// flood: densities at which elements are open to the outside, and their derivatives.
//
// Source:        [Barnes2014], by steps from the ways of the last design on; see `Openings` in
//                crates/topopt-design/src/openings.rs
// Mapping:       one thread an element; blocks of 512
// Layout:        neighbors as planes [6][n]; densities as whole numbers of 1e-9; a way leads from element
//                to element to one that is open
// Cost:          24 bytes an element and a gather of six numbers a step, 16 and two a round of the ways
// Deterministic: yes: neither levels nor rims depend on the order of steps, and integers add up in any
// Requires:      elements with themselves as neighbors behind closed faces
// Oracle:        crates/topopt-cuda/tests/device/flood.rs

#include "common/entries.cuh"

#define NONE 0xffffffffu // behind a free face; no way yet
#define UNITS 1e9        // of a density of 1

__device__ __forceinline__ unsigned height(real x) { return (unsigned)rint(fmin(fmax((double)x, 0.0), 4.0) * UNITS); }

// Highest element on the ways of the last design, from their first steps on
extern "C" __global__ void __launch_bounds__(BLOCK) flood_begin(
    long long n, const unsigned* __restrict__ neighbors, const real* __restrict__ x,
    unsigned* __restrict__ ways, unsigned* __restrict__ heights, unsigned* __restrict__ levels,
    unsigned* __restrict__ ends) {
    EACH(i, n) {
        bool is_open = false;
        for (int face = 0; face < 6; ++face) is_open |= neighbors[face * n + i] == NONE;
        const unsigned to = is_open ? (unsigned)i : ways[i];
        ways[i] = to;
        heights[i] = height(x[i]);
        ends[i] = to == NONE ? (unsigned)i : to;
        levels[i] = to == NONE ? NONE : height(x[i]);
    }
}

// A round of ways twice as long, with the levels along them; `moved` becomes 1 if one is longer
extern "C" __global__ void __launch_bounds__(BLOCK) flood_follow(
    long long n, const unsigned* __restrict__ levels, const unsigned* __restrict__ ends,
    unsigned* __restrict__ new_levels, unsigned* __restrict__ new_ends, unsigned* moved) {
    EACH(i, n) {
        const unsigned to = ends[i], farther = ends[to];
        if (farther != to) *moved = 1;
        new_ends[i] = farther;
        new_levels[i] = max(levels[i], levels[to]);
    }
}

// A step: elements take lower ways by their neighbors, whose levels may be of this step or the last
extern "C" __global__ void __launch_bounds__(BLOCK) flood_step(
    long long n, const unsigned* __restrict__ neighbors, const unsigned* __restrict__ heights,
    unsigned* levels, unsigned* __restrict__ ways, unsigned* moved) {
    EACH(i, n) {
        const unsigned own = heights[i];
        unsigned least = levels[i], to = NONE;
        if (least == own) continue;
        for (int face = 0; face < 6; ++face) {
            const unsigned other = neighbors[face * n + i];
            const unsigned behind = max(own, ((volatile const unsigned*)levels)[other]);
            if (behind < least) {
                least = behind;
                to = other;
            }
        }
        if (to == NONE) continue;
        levels[i] = least;
        ways[i] = to;
        *moved = 1;
    }
}

// First steps to the rims: elements as high as their level, or that no way comes to, are rims
extern "C" __global__ void __launch_bounds__(BLOCK) flood_rims(
    long long n, const unsigned* __restrict__ heights, const unsigned* __restrict__ levels,
    const unsigned* __restrict__ ways, unsigned* __restrict__ ends) {
    EACH(i, n) {
        const bool is_rim = levels[i] == NONE || levels[i] <= heights[i];
        ends[i] = is_rim ? (unsigned)i : ways[i];
    }
}

// A step: connected elements of one level below it take the first of their rims
extern "C" __global__ void __launch_bounds__(BLOCK) flood_join(
    long long n, const unsigned* __restrict__ neighbors, const unsigned* __restrict__ levels,
    unsigned* ends, unsigned* moved) {
    EACH(i, n) {
        const unsigned old = ends[i], level = levels[i];
        if (old == i) continue;
        unsigned first = old;
        for (int face = 0; face < 6; ++face) {
            const unsigned other = neighbors[face * n + i];
            if (levels[other] == level) first = min(first, ((volatile const unsigned*)ends)[other]);
        }
        if (first == old) continue;
        ends[i] = first;
        *moved = 1;
    }
}

// p: the density of the rim
extern "C" __global__ void __launch_bounds__(BLOCK) flood_end(
    long long n, const real* __restrict__ x, const unsigned* __restrict__ ends, real* __restrict__ p) {
    EACH(i, n) p[i] = x[ends[i]];
}

// Derivatives of elements below their rims, in whole units
extern "C" __global__ void __launch_bounds__(BLOCK) flood_receive(
    long long n, double unit, const unsigned* __restrict__ ends, const real* __restrict__ dp,
    unsigned long long* received) { // [n], 0 before
    EACH(i, n) {
        const unsigned to = ends[i];
        if (to != i) atomicAdd(received + to, (unsigned long long)(long long)rint(dp[i] / unit));
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) flood_backward(
    long long n, double unit, const unsigned* __restrict__ ends, const real* __restrict__ dp,
    const unsigned long long* __restrict__ received, real* __restrict__ dx) {
    EACH(i, n) {
        const double own = ends[i] == i ? (double)dp[i] : 0.0;
        dx[i] = (real)(own + unit * (double)(long long)received[i]);
    }
}
