// precision: f64
// cone: the weighted sum over neighbours that the filter is made of, neighbours found anew.
//
// Source:        [Ratnakar2022, Eq. 2.6-2.7]: y_e = sum_i H_ei x_i, H_ei = max(0, R - |c_e - c_i|);
//                the walk of crates/topopt-mesh/src/neighbours.rs, in the same order
// Mapping:       one thread an element in the order of cells, blocks of 128: the threads of a warp
//                walk the same cells
// Layout:        centres as planes [3][n], cell by cell; x and y in the order of the elements
// Cost:          9 operations a point in the cells walked, 3 more a neighbour; 28 bytes a centre
//                and 4 a cell, x read and y written
// Deterministic: yes
// Requires:      nothing
// Oracle:        crates/topopt-cuda/tests/cone.rs

#define BLOCK 128

// The cell at a coordinate, within the grid
__device__ __forceinline__ unsigned index(double x, double origin, double cell, unsigned cells) {
    return (unsigned)fmin(fmax((x - origin) / cell, 0.0), cells - 1.0);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 8) cone(
    unsigned n,
    unsigned cells_x, unsigned cells_y, unsigned cells_z,
    double cell, double origin_x, double origin_y, double origin_z,
    const unsigned* __restrict__ starts,   // [cells_x cells_y cells_z + 1]
    const double* __restrict__ centres,    // [3][n]
    const unsigned* __restrict__ elements, // [n], whose centre it is
    double radius,
    double reach,                          // radius, and so much more that no cell is missed
    const double* __restrict__ x,          // [n]
    double* __restrict__ y) {              // [n]
    const unsigned t = blockIdx.x * BLOCK + threadIdx.x;
    if (t >= n) return;
    const double* __restrict__ centres_y = centres + n;
    const double* __restrict__ centres_z = centres_y + n;
    const double cx = centres[t], cy = centres_y[t], cz = centres_z[t];
    const unsigned first_x = index(cx - reach, origin_x, cell, cells_x);
    const unsigned last_x = index(cx + reach, origin_x, cell, cells_x);
    const unsigned first_y = index(cy - reach, origin_y, cell, cells_y);
    const unsigned last_y = index(cy + reach, origin_y, cell, cells_y);
    const unsigned last_z = index(cz + reach, origin_z, cell, cells_z);
    double sum = 0;
    for (unsigned iz = index(cz - reach, origin_z, cell, cells_z); iz <= last_z; ++iz)
        for (unsigned iy = first_y; iy <= last_y; ++iy) {
            // Cells along x are neighbours in memory: one run of points.
            const size_t row = ((size_t)iz * cells_y + iy) * cells_x;
            const unsigned end = starts[row + last_x + 1];
            for (unsigned p = starts[row + first_x]; p < end; ++p) {
                const double dx = centres[p] - cx, dy = centres_y[p] - cy, dz = centres_z[p] - cz;
                const double square = dx * dx + dy * dy + dz * dz;
                if (square <= radius * radius) sum += (radius - sqrt(square)) * x[elements[p]];
            }
        }
    y[elements[t]] = sum;
}
