// precision: f64 f32
// Vector operations of the backend, and the scalars of conjugate gradients.
//
// Source:        [Ratnakar2022, Alg. 1] for cg_step and cg_direction
// Mapping:       one thread an entry, grid-stride
// Layout:        plain arrays; a scalar is one double of `scalars`
// Cost:          each array read or written once; dot moves 2 and cg_step 6 values an entry
// Deterministic: yes; sums by a fixed tree over blocks, then over the partial sums of blocks
// Requires:      block of BLOCK threads, at most BLOCK blocks for sums; what one block leaves is the
//                sum already
// Oracle:        crates/topopt-cuda/tests/backend.rs

#include "common/reduce.cuh"

#define EACH(i, n) \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (n); i += (long long)gridDim.x * blockDim.x)

// x[i] = value
extern "C" __global__ void fill(long long n, double value, real* __restrict__ x) {
    EACH(i, n) x[i] = (real)value;
}

// y = a x + b y
extern "C" __global__ void axpby(
    long long n, double a, const real* __restrict__ x, double b, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)(a * x[i] + b * y[i]);
}

// z = x y
extern "C" __global__ void multiply(
    long long n, const real* __restrict__ x, const real* __restrict__ y, real* __restrict__ z) {
    EACH(i, n) z[i] = x[i] * y[i];
}

// z = x / y
extern "C" __global__ void divide(
    long long n, const real* __restrict__ x, const real* __restrict__ y, real* __restrict__ z) {
    EACH(i, n) z[i] = x[i] / y[i];
}

// y = a x^p
extern "C" __global__ void power(
    long long n, double a, const real* __restrict__ x, double p, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)(a * pow((double)x[i], p));
}

// y = max(0, a x)
extern "C" __global__ void positive_part(
    long long n, double a, const real* __restrict__ x, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)fmax(0.0, a * x[i]);
}

// y = a x, within [lower, upper]
extern "C" __global__ void scale_within(
    long long n, double a, const real* __restrict__ x, const real* __restrict__ lower,
    const real* __restrict__ upper, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)fmin(fmax(a * x[i], (double)lower[i]), (double)upper[i]);
}

// partial[block] = sum over the block of x y
extern "C" __global__ void dot(
    long long n, const real* __restrict__ x, const real* __restrict__ y,
    double* __restrict__ partial) {
    double sum = 0.0;
    EACH(i, n) sum += (double)x[i] * (double)y[i];
    block_sum(sum, partial);
}

// partial[block] = sum over the block of x
extern "C" __global__ void sum(long long n, const double* __restrict__ x, double* __restrict__ partial) {
    double total = 0.0;
    EACH(i, n) total += x[i];
    block_sum(total, partial);
}

// z = x y, partial[block] = sum over the block of y z
extern "C" __global__ void multiply_dot(
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

// partial[block] = sum over the block of w y, y = a x within [lower, upper]
extern "C" __global__ void dot_scaled_within(
    long long n, double a, const real* __restrict__ x, const real* __restrict__ lower,
    const real* __restrict__ upper, const real* __restrict__ w, double* __restrict__ partial) {
    double sum = 0.0;
    EACH(i, n) sum += (double)w[i] * fmin(fmax(a * x[i], (double)lower[i]), (double)upper[i]);
    block_sum(sum, partial);
}

// y = base + height tanh(sharpness (x - center))
extern "C" __global__ void smooth_step(
    long long n, double base, double height, double sharpness, double center,
    const real* __restrict__ x, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)(base + height * tanh(sharpness * (x[i] - center)));
}

// y = y height sharpness / cosh(sharpness (x - center))^2
extern "C" __global__ void smooth_step_slope(
    long long n, double height, double sharpness, double center, const real* __restrict__ x,
    real* __restrict__ y) {
    EACH(i, n) {
        const double c = cosh(sharpness * (x[i] - center));
        y[i] = (real)(y[i] * (height * sharpness / (c * c)));
    }
}

// partial[block] = max over the block of |x - y|
extern "C" __global__ void max_difference(
    long long n, const real* __restrict__ x, const real* __restrict__ y,
    double* __restrict__ partial) {
    double largest = 0.0;
    EACH(i, n) largest = fmax(largest, fabs((double)x[i] - (double)y[i]));
    block_max(largest, partial);
}

// scalars[a] / scalars[b], 0 where that is not positive
__device__ __forceinline__ double quotient(const double* scalars, unsigned a, unsigned b) {
    return scalars[b] <= 0.0 ? 0.0 : scalars[a] / scalars[b];
}

// u += alpha d, r -= alpha q, partial[block] = sum over the block of r r; alpha = scalars[a] / scalars[b]
extern "C" __global__ void cg_step(
    long long n, const double* scalars, unsigned a, unsigned b,
    const real* __restrict__ d, const real* __restrict__ q, real* __restrict__ u,
    real* __restrict__ r, double* partial) { // may be an entry of `scalars`
    const double alpha = quotient(scalars, a, b);
    double sum = 0.0;
    EACH(i, n) {
        u[i] = (real)(u[i] + alpha * d[i]);
        const real residual = (real)(r[i] - alpha * q[i]);
        r[i] = residual;
        sum += (double)residual * (double)residual;
    }
    block_sum(sum, partial);
}

// d = z + sign beta d; beta = scalars[a] / scalars[b]
extern "C" __global__ void cg_direction(
    long long n, double sign, const double* __restrict__ scalars, unsigned a, unsigned b,
    const real* __restrict__ z, real* __restrict__ d) {
    const double beta = sign * quotient(scalars, a, b);
    EACH(i, n) d[i] = (real)(z[i] + beta * d[i]);
}

// scalars[out] = sum of partial[0..n), one block
extern "C" __global__ void finish_sum(
    unsigned n, const double* __restrict__ partial, double* __restrict__ scalars, unsigned out) {
    block_sum(threadIdx.x < n ? partial[threadIdx.x] : 0.0, scalars + out);
}

// scalars[out] = max of partial[0..n), one block
extern "C" __global__ void finish_max(
    unsigned n, const double* __restrict__ partial, double* __restrict__ scalars, unsigned out) {
    block_max(threadIdx.x < n ? partial[threadIdx.x] : 0.0, scalars + out);
}
