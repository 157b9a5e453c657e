// precision: f64 f32
// vector: linear algebra on single entries.
//
// Source:        -
// Mapping:       one thread an entry, grid-stride; blocks of 512
// Layout:        plain arrays; a scalar is one double of `scalars`
// Cost:          each array read or written once
// Deterministic: yes
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/backend.rs

#include "common/entries.cuh"

// x[i] = value
extern "C" __global__ void __launch_bounds__(BLOCK) fill(long long n, double value, real* __restrict__ x) {
    EACH(i, n) x[i] = (real)value;
}

// y = a x + b y
extern "C" __global__ void __launch_bounds__(BLOCK) axpby(
    long long n, double a, const real* __restrict__ x, double b, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)(a * x[i] + b * y[i]);
}

// z = x y
extern "C" __global__ void __launch_bounds__(BLOCK) multiply(
    long long n, const real* __restrict__ x, const real* __restrict__ y, real* __restrict__ z) {
    EACH(i, n) z[i] = x[i] * y[i];
}

// z = x / y
extern "C" __global__ void __launch_bounds__(BLOCK) divide(
    long long n, const real* __restrict__ x, const real* __restrict__ y, real* __restrict__ z) {
    EACH(i, n) z[i] = x[i] / y[i];
}
