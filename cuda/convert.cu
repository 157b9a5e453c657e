// precision: f64 f32
// convert: between double precision and that of a preconditioner.
//
// Source:        -
// Mapping:       one thread an entry, blocks of 512
// Layout:        plain arrays
// Cost:          each array read or written once
// Deterministic: yes
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/device/multigrid.rs

#define BLOCK 512

// y = x, rounded
extern "C" __global__ void __launch_bounds__(BLOCK) narrow(
    long long n, const double* __restrict__ x, real* __restrict__ y) {
    const long long i = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (i < n) y[i] = (real)x[i];
}

// y = x
extern "C" __global__ void __launch_bounds__(BLOCK) widen(
    long long n, const real* __restrict__ x, double* __restrict__ y) {
    const long long i = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (i < n) y[i] = x[i];
}
