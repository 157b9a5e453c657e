// precision: f64 f32
// halo: values at points that ranks share, between the vectors of a rank and those of its part.
//
// Source:        -
// Mapping:       one thread an entry, grid-stride; blocks of 512
// Layout:        vectors [unknowns][points], own points first in a part; messages [points][unknowns]
// Cost:          each entry read and written once, and 4 bytes per point of a message
// Deterministic: yes
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/ranks.rs

#include "common/entries.cuh"

// The first n_rows points of x, [unknowns][n_x], become those of y, [unknowns][n_y]; n = n_rows unknowns
extern "C" __global__ void __launch_bounds__(BLOCK) copy_rows(
    long long n, unsigned n_rows, unsigned n_x, unsigned n_y, const real* __restrict__ x, real* __restrict__ y) {
    EACH(i, n) {
        const long long c = i / n_rows, row = i - c * n_rows;
        y[c * n_y + row] = x[c * n_x + row];
    }
}

// message = x at points, [n_points]
extern "C" __global__ void __launch_bounds__(BLOCK) pack(
    long long n, unsigned unknowns, unsigned n_x, const unsigned* __restrict__ points,
    const real* __restrict__ x, real* __restrict__ message) {
    EACH(i, n) {
        const long long k = i / unknowns, c = i - k * unknowns;
        message[i] = x[c * n_x + points[k]];
    }
}

// x at points = message, [n_points]
extern "C" __global__ void __launch_bounds__(BLOCK) unpack(
    long long n, unsigned unknowns, unsigned n_x, const unsigned* __restrict__ points,
    const real* __restrict__ message, real* __restrict__ x) {
    EACH(i, n) {
        const long long k = i / unknowns, c = i - k * unknowns;
        x[c * n_x + points[k]] = message[i];
    }
}
