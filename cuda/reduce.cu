// precision: f64 f32
// reduce: sums and maxima over vectors.
//
// Source:        -
// Mapping:       one thread an entry, grid-stride; blocks of 512
// Layout:        plain arrays; a scalar is one double of `scalars`
// Cost:          each array read or written once
// Deterministic: yes; sums by a fixed tree over blocks, then over the partial sums of blocks
// Requires:      at most BLOCK blocks
// Oracle:        crates/topopt-cuda/tests/device/backend.rs

#include "common/entries.cuh"
#include "common/reduce.cuh"

// total = sum of x y
extern "C" __global__ void __launch_bounds__(BLOCK) dot(
    long long n, const real* __restrict__ x, const real* __restrict__ y, VIEW(TotalView) total) {
    double sum = 0.0;
    EACH(i, n) sum += (double)x[i] * (double)y[i];
    launch_sum(sum, total);
}

// total = sum of x
extern "C" __global__ void __launch_bounds__(BLOCK) sum(
    long long n, const double* __restrict__ x, VIEW(TotalView) total) {
    double sum = 0.0;
    EACH(i, n) sum += x[i];
    launch_sum(sum, total);
}

// z = x y, total = sum of y z
extern "C" __global__ void __launch_bounds__(BLOCK) multiply_dot(
    long long n, const real* __restrict__ x, const real* __restrict__ y, real* __restrict__ z,
    VIEW(TotalView) total) {
    double sum = 0.0;
    EACH(i, n) {
        const real product = x[i] * y[i];
        z[i] = product;
        sum += (double)y[i] * (double)product;
    }
    launch_sum(sum, total);
}

// total = max of |x - y|
extern "C" __global__ void __launch_bounds__(BLOCK) max_difference(
    long long n, const real* __restrict__ x, const real* __restrict__ y, VIEW(TotalView) total) {
    double largest = 0.0;
    EACH(i, n) largest = fmax(largest, fabs((double)x[i] - (double)y[i]));
    launch_max(largest, total);
}
