// precision: f64 f32
// reduce: sums and maxima over vectors.
//
// Source:        -
// Mapping:       one thread an entry, grid-stride; blocks of 512
// Layout:        plain arrays; a scalar is one double of `scalars`
// Cost:          each array read or written once
// Deterministic: yes; sums by a fixed tree over blocks, then over the partial sums of blocks
// Requires:      at most BLOCK blocks; what one block leaves is the sum already
// Oracle:        crates/topopt-cuda/tests/device/backend.rs

#include "common/entries.cuh"
#include "common/reduce.cuh"

// partial[block] = sum over the block of x y
extern "C" __global__ void __launch_bounds__(BLOCK) dot(
    long long n, const real* __restrict__ x, const real* __restrict__ y,
    double* __restrict__ partial) {
    double sum = 0.0;
    EACH(i, n) sum += (double)x[i] * (double)y[i];
    block_sum(sum, partial);
}

// partial[block] = sum over the block of x
extern "C" __global__ void __launch_bounds__(BLOCK) sum(long long n, const double* __restrict__ x, double* __restrict__ partial) {
    double total = 0.0;
    EACH(i, n) total += x[i];
    block_sum(total, partial);
}

// z = x y, partial[block] = sum over the block of y z
extern "C" __global__ void __launch_bounds__(BLOCK) multiply_dot(
    long long n, const real* __restrict__ x, const real* __restrict__ y, real* __restrict__ z,
    double* __restrict__ partial) {
    double sum = 0.0;
    EACH(i, n) {
        const real product = x[i] * y[i];
        z[i] = product;
        sum += (double)y[i] * (double)product;
    }
    block_sum(sum, partial);
}

// partial[block] = max over the block of |x - y|
extern "C" __global__ void __launch_bounds__(BLOCK) max_difference(
    long long n, const real* __restrict__ x, const real* __restrict__ y,
    double* __restrict__ partial) {
    double largest = 0.0;
    EACH(i, n) largest = fmax(largest, fabs((double)x[i] - (double)y[i]));
    block_max(largest, partial);
}

// scalars[out] = sum of partial[0..n), one block
extern "C" __global__ void __launch_bounds__(BLOCK) finish_sum(
    unsigned n, const double* __restrict__ partial, double* __restrict__ scalars, unsigned out) {
    block_sum(threadIdx.x < n ? partial[threadIdx.x] : 0.0, scalars + out);
}

// scalars[out] = max of partial[0..n), one block
extern "C" __global__ void __launch_bounds__(BLOCK) finish_max(
    unsigned n, const double* __restrict__ partial, double* __restrict__ scalars, unsigned out) {
    block_max(threadIdx.x < n ? partial[threadIdx.x] : 0.0, scalars + out);
}
