// A step of the Chebyshev smoother in one pass: the residual r; d = alpha / growth D^-1 r + beta d;
// x = x + d.

#pragma once

// How the residual is found
#define OF_ZERO 0 // of x = 0, whatever it holds: r = b
#define OF_X 1    // r = b - product, the product A x
#define AFTER 2   // r = r - product, the product A d after x = x + d; b is not read

__device__ __forceinline__ real residual_at(
    size_t at, unsigned residual, const real* __restrict__ b, const real* __restrict__ product,
    const real* __restrict__ r) {
    return residual == OF_ZERO ? b[at] : (residual == OF_X ? b[at] : r[at]) - product[at];
}

// Writes an entry of r, d and x; scaled = alpha D^-1 r. d is not read where beta is 0.
__device__ __forceinline__ void step_at(
    size_t at, unsigned residual, real value, real scaled, real beta, real* __restrict__ r,
    real* __restrict__ d, real* __restrict__ x) {
    const real step = beta == 0 ? scaled : scaled + beta * d[at];
    r[at] = value;
    d[at] = step;
    x[at] = residual == OF_ZERO ? step : x[at] + step;
}

// alpha over the growth of a step of the power method, from the squares of its result and its start
__device__ __forceinline__ real over_growth(
    double alpha, const double* __restrict__ scalars, unsigned result, unsigned start) {
    return (real)(alpha * sqrt(scalars[start] / scalars[result]));
}
