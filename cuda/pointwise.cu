// precision: f64 f32
// pointwise: the maps of densities that filters, projections and the optimizer apply entry by entry.
//
// Source:        -
// Mapping:       one thread an entry, grid-stride; blocks of 512
// Layout:        plain arrays; a scalar is one double of `scalars`
// Cost:          each array read or written once
// Deterministic: yes; sums by a fixed tree over blocks, then over the partial sums of blocks
// Requires:      dot_scaled_within: at most BLOCK blocks; what one block leaves is the sum already
// Oracle:        crates/topopt-cuda/tests/device/backend.rs

#include "common/entries.cuh"
#include "common/reduce.cuh"

// y = a x^p
extern "C" __global__ void __launch_bounds__(BLOCK) power(
    long long n, double a, const real* __restrict__ x, double p, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)(a * pow((double)x[i], p));
}

// y = max(0, a x)
extern "C" __global__ void __launch_bounds__(BLOCK) positive_part(
    long long n, double a, const real* __restrict__ x, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)fmax(0.0, a * x[i]);
}

// y = a x, within [lower, upper]
extern "C" __global__ void __launch_bounds__(BLOCK) scale_within(
    long long n, double a, const real* __restrict__ x, const real* __restrict__ lower,
    const real* __restrict__ upper, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)fmin(fmax(a * x[i], (double)lower[i]), (double)upper[i]);
}

// total = sum of w y, y = a x within [lower, upper]
extern "C" __global__ void __launch_bounds__(BLOCK) dot_scaled_within(
    long long n, double a, const real* __restrict__ x, const real* __restrict__ lower,
    const real* __restrict__ upper, const real* __restrict__ w, VIEW(TotalView) total) {
    double sum = 0.0;
    EACH(i, n) sum += (double)w[i] * fmin(fmax(a * x[i], (double)lower[i]), (double)upper[i]);
    launch_sum(sum, total);
}

// y = lower + (upper - lower) / (1 + exp(-z)), never outside, z = x + shift within +-largest
extern "C" __global__ void __launch_bounds__(BLOCK) sigmoid(
    long long n, double shift, double largest, const real* __restrict__ x,
    const real* __restrict__ lower, const real* __restrict__ upper, real* __restrict__ y) {
    EACH(i, n) {
        const double l = lower[i], u = upper[i];
        const double z = fmin(fmax(x[i] + shift, -largest), largest);
        y[i] = (real)fmin(fmax(l + (u - l) / (1.0 + exp(-z)), l), u);
    }
}

// y = ln((x - lower) / (upper - x)), within +-largest; 0 where the bounds agree
extern "C" __global__ void __launch_bounds__(BLOCK) logit(
    long long n, double largest, const real* __restrict__ x, const real* __restrict__ lower,
    const real* __restrict__ upper, real* __restrict__ y) {
    EACH(i, n) {
        const double l = lower[i], u = upper[i];
        y[i] = l == u ? (real)0
                      : (real)fmin(fmax(log((x[i] - l) / (u - x[i])), -largest), largest);
    }
}

// y = ln(1 + exp(x))
extern "C" __global__ void __launch_bounds__(BLOCK) softplus(
    long long n, const real* __restrict__ x, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)(fmax((double)x[i], 0.0) + log1p(exp(-fabs((double)x[i]))));
}

// The distance of a field v from the level in half widths of the step, within +-1, and the square of
// its change across the element, which is at least tiny: a uniform field has no distance
struct FromLevel {
    double t, square;
    __device__ FromLevel(double level, double half_width, double v, double s)
        : square(fmax(s, 1e-30)) {
        t = fmin(fmax((level - v) / (half_width * sqrt(square)), -1.0), 1.0);
    }
};

// y = base + height (1/2 - 15/16 t + 5/8 t^3 - 3/16 t^5)
extern "C" __global__ void __launch_bounds__(BLOCK) subpixel_step(
    long long n, double base, double height, double level, double half_width,
    const real* __restrict__ v, const real* __restrict__ squares, real* __restrict__ y) {
    EACH(i, n) {
        const double t = FromLevel(level, half_width, v[i], squares[i]).t, tt = t * t;
        y[i] = (real)(base + height * (0.5 - t * (15.0 - tt * (10.0 - 3.0 * tt)) / 16.0));
    }
}

// y = y ds/dv and z = y ds/dsquare of that step s
extern "C" __global__ void __launch_bounds__(BLOCK) subpixel_slopes(
    long long n, double height, double level, double half_width, const real* __restrict__ v,
    const real* __restrict__ squares, real* __restrict__ y, real* __restrict__ z) {
    EACH(i, n) {
        const FromLevel at(level, half_width, v[i], squares[i]);
        const double rest = 1.0 - at.t * at.t, by_distance = -0.9375 * height * (rest * rest) * y[i];
        y[i] = (real)(-by_distance / (half_width * sqrt(at.square)));
        z[i] = (real)(-0.5 * by_distance * at.t / at.square);
    }
}

// y = base + height tanh(sharpness (x - center))
extern "C" __global__ void __launch_bounds__(BLOCK) smooth_step(
    long long n, double base, double height, double sharpness, double center,
    const real* __restrict__ x, real* __restrict__ y) {
    EACH(i, n) y[i] = (real)(base + height * tanh(sharpness * (x[i] - center)));
}

// y = y height sharpness / cosh(sharpness (x - center))^2
extern "C" __global__ void __launch_bounds__(BLOCK) smooth_step_slope(
    long long n, double height, double sharpness, double center, const real* __restrict__ x,
    real* __restrict__ y) {
    EACH(i, n) {
        const double c = cosh(sharpness * (x[i] - center));
        y[i] = (real)(y[i] * (height * sharpness / (c * c)));
    }
}
