// precision: f64 f32
// cascade: densities that follow from those of elements in levels before, and their derivatives.
//
// Source:        [Langelaar2016] with exact extremes, on any mesh
// Mapping:       one thread an element of a level, in launches from level to level; blocks of 512
// Layout:        plain arrays; samples of four elements each, element by element of the order
// Cost:          48 bytes a sample forward, 12 bytes a weight backward; small levels wait
// Deterministic: yes; derivatives are gathered in the order of the lists
// Requires:      samples at elements of levels before, or at elements outside of the order
// Oracle:        crates/topopt-cuda/tests/device/cascade.rs

#include "common/entries.cuh"

#define OWN 0xffffffffu     // the element has its own density
#define NOTHING 0xfffffffeu // there is no sample
#define EQUAL 1e-9          // difference within which densities are equal

// Level from `first` on, n elements: p = min(x, largest sample), or max if `fills`; `chosen` is the
// first sample that p is of
extern "C" __global__ void __launch_bounds__(BLOCK) cascade_level(
    long long n, long long first, unsigned fills,
    const unsigned* __restrict__ order,    // [n_order]
    const unsigned* __restrict__ starts,   // [n_order + 1]
    const unsigned* __restrict__ elements, // [4 n_samples]
    const double* __restrict__ weights,    // [4 n_samples]
    const real* __restrict__ x,            // [n_elements]
    real* p,                               // [n_elements], of levels before is read
    unsigned* __restrict__ chosen) {       // [n_order]
    EACH(i, n) {
        const long long k = first + i;
        const unsigned element = order[k];
        const double own = x[element];
        double most = 0.0;
        for (unsigned s = starts[k]; s < starts[k + 1]; ++s) {
            double value = 0.0;
            for (unsigned c = 4 * s; c < 4 * s + 4; ++c) value += weights[c] * p[elements[c]];
            most = fmax(most, value);
        }
        const double extreme = fills ? fmax(own, most) : fmin(own, most);
        unsigned best = OWN;
        if (fabs(own - extreme) > EQUAL) {
            best = NOTHING;
            for (unsigned s = starts[k]; best == NOTHING && s < starts[k + 1]; ++s) {
                double value = 0.0;
                for (unsigned c = 4 * s; c < 4 * s + 4; ++c) value += weights[c] * p[elements[c]];
                if (most - value <= EQUAL) best = s - starts[k];
            }
        }
        p[element] = (real)extreme;
        chosen[k] = best;
    }
}

// Sum of the derivatives that go from later levels to an element, by their `corners` of samples
__device__ __forceinline__ double received(
    unsigned element, const unsigned* __restrict__ starts, const unsigned* __restrict__ from,
    const unsigned* __restrict__ places, const unsigned* __restrict__ corners,
    const double* __restrict__ weights, const unsigned* __restrict__ chosen, const double* total) {
    double sum = 0.0;
    for (unsigned t = from[element]; t < from[element + 1]; ++t) {
        const unsigned k = places[t], corner = corners[t];
        if (chosen[k] == corner / 4 - starts[k]) sum += weights[corner] * total[k];
    }
    return sum;
}

// Level from `first` on, after all levels behind it: dx where an element has its own density
extern "C" __global__ void __launch_bounds__(BLOCK) cascade_level_backward(
    long long n, long long first,
    const unsigned* __restrict__ order,   // [n_order]
    const unsigned* __restrict__ starts,  // [n_order + 1]
    const unsigned* __restrict__ from,    // [n_elements + 1]
    const unsigned* __restrict__ places,  // in the order, of elements with a sample at this one
    const unsigned* __restrict__ corners, // of their samples
    const double* __restrict__ weights,   // [4 n_samples]
    const unsigned* __restrict__ chosen,  // [n_order]
    const real* __restrict__ dp,          // [n_elements]
    double* total,                        // [n_order], of later levels is read
    real* __restrict__ dx) {              // [n_elements]
    EACH(i, n) {
        const long long k = first + i;
        const unsigned element = order[k];
        const double sum =
            dp[element] + received(element, starts, from, places, corners, weights, chosen, total);
        total[k] = sum;
        dx[element] = (real)(chosen[k] == OWN ? sum : 0.0);
    }
}

// Elements outside of the order, after all levels
extern "C" __global__ void __launch_bounds__(BLOCK) cascade_standing_backward(
    long long n,
    const unsigned* __restrict__ standing, // [n]
    const unsigned* __restrict__ starts, const unsigned* __restrict__ from,
    const unsigned* __restrict__ places, const unsigned* __restrict__ corners,
    const double* __restrict__ weights, const unsigned* __restrict__ chosen,
    const double* __restrict__ total, const real* __restrict__ dp, real* __restrict__ dx) {
    EACH(i, n) {
        const unsigned element = standing[i];
        const double sum =
            dp[element] + received(element, starts, from, places, corners, weights, chosen, total);
        dx[element] = (real)sum;
    }
}
