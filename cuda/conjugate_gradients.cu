// precision: f64 f32
// conjugate_gradients: the steps of conjugate gradients, with scalars that stay on the device.
//
// Source:        [Ratnakar2022, Alg. 1]
// Mapping:       one thread an entry, grid-stride; blocks of 512
// Layout:        plain arrays; a scalar is one double of `scalars`
// Cost:          cg_step moves 6 values an entry, cg_direction 3
// Deterministic: yes; sums by a fixed tree over blocks, then over the partial sums of blocks
// Requires:      cg_step: at most BLOCK blocks
// Oracle:        crates/topopt-cuda/tests/device/backend.rs

#include "common/entries.cuh"
#include "common/reduce.cuh"

// scalars[a] / scalars[b], 0 where that is not positive
__device__ __forceinline__ double quotient(const double* scalars, unsigned a, unsigned b) {
    return scalars[b] <= 0.0 ? 0.0 : scalars[a] / scalars[b];
}

// u += alpha d, r -= alpha q, total = sum of r r; alpha = scalars[a] / scalars[b]
extern "C" __global__ void __launch_bounds__(BLOCK) cg_step(
    long long n, const double* scalars, unsigned a, unsigned b,
    const real* __restrict__ d, const real* __restrict__ q, real* __restrict__ u,
    real* __restrict__ r, VIEW(TotalView) total) { // to an entry of `scalars`
    const double alpha = quotient(scalars, a, b);
    double sum = 0.0;
    EACH(i, n) {
        u[i] = (real)(u[i] + alpha * d[i]);
        const real residual = (real)(r[i] - alpha * q[i]);
        r[i] = residual;
        sum += (double)residual * (double)residual;
    }
    launch_sum(sum, total);
}

// d = z + sign beta d; beta = scalars[a] / scalars[b]
extern "C" __global__ void __launch_bounds__(BLOCK) cg_direction(
    long long n, double sign, const double* __restrict__ scalars, unsigned a, unsigned b,
    const real* __restrict__ z, real* __restrict__ d) {
    const double beta = sign * quotient(scalars, a, b);
    EACH(i, n) d[i] = (real)(z[i] + beta * d[i]);
}
