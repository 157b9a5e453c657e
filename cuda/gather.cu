// precision: f64 f32
// gather: weighted sums of entries by lists of their numbers, from one space to another.
//
// Source:        products with a sparse matrix in compressed rows
// Mapping:       one thread a row, grid-stride; blocks of 512
// Layout:        plain arrays; columns and values row by row
// Cost:          2 operations, 12 bytes and an entry of x per entry of the matrix; y written, starts read
// Deterministic: yes; entries of a row are summed in their order
// Requires:      rows and columns in the order of the vectors on the device
// Oracle:        crates/topopt-cuda/tests/device/backend.rs

#include "common/entries.cuh"

// y[i] = sum of values[k] x[columns[k]] over the row i
extern "C" __global__ void __launch_bounds__(BLOCK) gather(
    long long n,
    const unsigned* __restrict__ starts,  // [n + 1]
    const unsigned* __restrict__ columns, // [starts[n]]
    const double* __restrict__ values,    // [starts[n]]
    const real* __restrict__ x,           // [points of x]
    real* __restrict__ y) {               // [n]
    EACH(i, n) {
        double sum = 0.0;
        for (unsigned k = starts[i]; k < starts[i + 1]; ++k) sum += values[k] * x[columns[k]];
        y[i] = (real)sum;
    }
}
