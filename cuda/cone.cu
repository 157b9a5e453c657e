// precision: f64
// cone: the weighted sum over neighbors that the filter is made of, neighbors found again.
//
// Source:        [Ratnakar2022, Eq. 2.6-2.7]: y_e = sum_i H_ei x_i, H_ei = max(0, R - |c_e - c_i|);
//                the walk of crates/topopt-mesh/src/cell_list.rs, in the same order
// Mapping:       one thread an element in the order of cells, blocks of 128: the threads of a warp
//                walk much the same cells
// Layout:        centers as planes [3][n], and values, cell by cell; x and y in the order of the elements
// Cost:          13 operations a point in the cells walked; 36 bytes a center and 4 a cell, x read, and
//                y written
// Deterministic: yes
// Requires:      cone: values by cone_values
// Oracle:        crates/topopt-cuda/tests/device/cone.rs

#define BLOCK 128

// The cell at a coordinate, within the grid
__device__ __forceinline__ unsigned index(double x, double origin, double cell, unsigned cells) {
    return (unsigned)fmin(fmax((x - origin) / cell, 0.0), cells - 1.0);
}

// How far cells of that index are from a coordinate at least, or a little less for rounding
__device__ __forceinline__ double distance(double x, double origin, double cell, unsigned index) {
    const double beyond = x - origin - index * cell;
    return fmax(fmax(-beyond, beyond - cell) - 1e-6 * cell, 0.0);
}

// The square root of x >= 0, without the branches of sqrt
__device__ __forceinline__ double root(double x) {
#ifdef __CUDA_ARCH__
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(fmax(x, 1e-300))); // 20 bits, tripled by a step
    const double error = fma(-x * y, y, 1.0);
    return x * fma(y * error, fma(error, 0.375, 0.5), y);
#else
    return sqrt(x);
#endif
}

// values = x, cell by cell
extern "C" __global__ void __launch_bounds__(BLOCK) cone_values(
    unsigned n,
    const unsigned* __restrict__ elements, // [n], whose center it is
    const double* __restrict__ x,          // [n]
    double* __restrict__ values) {         // [n]
    const unsigned t = blockIdx.x * BLOCK + threadIdx.x;
    if (t < n) values[t] = x[elements[t]];
}

extern "C" __global__ void __launch_bounds__(BLOCK, 8) cone(
    unsigned n,
    unsigned cells_x, unsigned cells_y, unsigned cells_z,
    double cell, double origin_x, double origin_y, double origin_z,
    const unsigned* __restrict__ starts,   // [cells_x cells_y cells_z + 1]
    const double* __restrict__ centers,    // [3][n]
    const unsigned* __restrict__ elements, // [n], whose center it is
    double radius,
    double reach,                          // radius, and so much more that no cell is missed
    const double* __restrict__ values,     // [n]
    double* __restrict__ y) {              // [n]
    const unsigned t = blockIdx.x * BLOCK + threadIdx.x;
    if (t >= n) return;

    const double* __restrict__ centers_y = centers + n;
    const double* __restrict__ centers_z = centers_y + n;
    const double cx = centers[t], cy = centers_y[t], cz = centers_z[t];

    const unsigned first_y = index(cy - reach, origin_y, cell, cells_y);
    const unsigned last_y = index(cy + reach, origin_y, cell, cells_y);
    const unsigned last_z = index(cz + reach, origin_z, cell, cells_z);

    double sum = 0;
    for (unsigned iz = index(cz - reach, origin_z, cell, cells_z); iz <= last_z; ++iz) {
        const double away_z = distance(cz, origin_z, cell, iz), rest = reach * reach - away_z * away_z;

        for (unsigned iy = first_y; iy <= last_y; ++iy) {
            const double away_y = distance(cy, origin_y, cell, iy), square = rest - away_y * away_y;
            if (square < 0) continue;

            // Cells along x are neighbors in memory: one run of points.
            const double half = sqrt(square);
            const unsigned* __restrict__ row = starts + ((size_t)iz * cells_y + iy) * cells_x;
            const unsigned end = row[index(cx + half, origin_x, cell, cells_x) + 1];

#pragma unroll 4
            for (unsigned p = row[index(cx - half, origin_x, cell, cells_x)]; p < end; ++p) {
                const double dx = centers[p] - cx, dy = centers_y[p] - cy, dz = centers_z[p] - cz;
                sum += fmax(radius - root(dx * dx + dy * dy + dz * dz), 0.0) * values[p];
            }
        }
    }

    y[elements[t]] = sum;
}
