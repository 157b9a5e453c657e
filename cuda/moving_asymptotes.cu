// precision: f64
// moving_asymptotes: what the method of moving asymptotes does entry by entry.
//
// Source:        [Svanberg1987, Svanberg2002], crates/topopt-linalg/src/moving_asymptotes.rs
// Mapping:       move_asymptotes: a thread a variable, grid-stride. minimize_approximation: blocks in groups
//                of n_workers, of which each makes 256 of the sums; a worker takes tiles of variables by
//                turns; in a tile a thread makes the terms of a variable, and then 256 / n_sums threads a
//                sum add them up. slope_products: blocks in groups of n_workers, of which each makes
//                16 x 16 products of slopes, one a thread. add_partial_sums: a thread a sum
// Layout:        plain arrays; partial sums [n_workers][n_sums]
// Cost:          move_asymptotes: 10 numbers a variable. minimize_approximation: 8 + m + 1 numbers a
//                variable for every 256 sums, the gradients from the cache once more; m (m + 1) / 2 + m + 2
//                sums, each of two operations a variable. slope_products: m / 16 times the slopes
// Deterministic: yes: sums are made in a fixed order
// Requires:      at most MOST_CONSTRAINTS constraints
// Oracle:        crates/topopt-cuda/tests/device/moving_asymptotes.rs

#define BLOCK 256
#define MOST_CONSTRAINTS 200
#define TILE 16
#define COLUMNS 32
#define POOL 5000 // numbers in shared memory, at least 2 MOST_CONSTRAINTS + 2 rows of a tile

#include "common/entries.cuh"

// As AsymptoteRules::of_variable has them
#define NEAREST 0.01
#define FARTHEST 10.0
#define INSIDE 0.1
#define LEAST_RANGE 1e-5
// As PARTS
#define LARGE_PART 1.001
#define SMALL_PART 0.001

// The asymptotes of the design from those of the last one, and the limits of the next design
extern "C" __global__ void __launch_bounds__(BLOCK) move_asymptotes(
    long long n, double initial, double shrink, double grow, double move_limit,
    unsigned has_before, // whether there are two designs before
    const double* __restrict__ design, const double* __restrict__ last, const double* __restrict__ first,
    const double* __restrict__ floor, const double* __restrict__ ceiling,
    double* __restrict__ lower, double* __restrict__ upper,
    double* __restrict__ smallest, double* __restrict__ largest) {
    EACH(j, n) {
        const double x = design[j], range = fmax(ceiling[j] - floor[j], LEAST_RANGE);
        double below = initial * range, above = below;
        if (has_before) {
            const double swing = (x - last[j]) * (last[j] - first[j]);
            const double factor = swing > 0.0 ? grow : swing < 0.0 ? shrink : 1.0;
            below = fmin(fmax(factor * (last[j] - lower[j]), NEAREST * range), FARTHEST * range);
            above = fmin(fmax(factor * (upper[j] - last[j]), NEAREST * range), FARTHEST * range);
        }
        lower[j] = x - below;
        upper[j] = x + above;
        smallest[j] = fmax(fmax(floor[j], x - (1.0 - INSIDE) * below), x - move_limit * range);
        largest[j] = fmin(fmin(ceiling[j], x + (1.0 - INSIDE) * above), x + move_limit * range);
    }
}

// A variable in its approximations
struct Variable {
    double x, lower, upper, range;
};

// p and q of function i
__device__ __forceinline__ void parts(
    const Variable& at, const unsigned long long* __restrict__ gradients, const double* __restrict__ scales,
    const double* __restrict__ curvatures, unsigned i, long long j, double& p, double& q) {
    const double slope = scales[i] * ((const double*)gradients[i])[j], own = curvatures[i] / at.range;
    const double plus = fmax(slope, 0.0), minus = fmax(-slope, 0.0);
    const double to_upper = at.upper - at.x, to_lower = at.x - at.lower;
    p = to_upper * to_upper * (LARGE_PART * plus + SMALL_PART * minus + own);
    q = to_lower * to_lower * (SMALL_PART * plus + LARGE_PART * minus + own);
}

// Sums at the design that minimizes the weighted approximations: couplings row by row, changes, distance
extern "C" __global__ void __launch_bounds__(BLOCK) minimize_approximation(
    long long n, unsigned m, unsigned n_workers,
    unsigned is_wanted,    // the minimum
    unsigned keeps_slopes, // in place of the sums of their products
    const double* __restrict__ design, const double* __restrict__ floor, const double* __restrict__ ceiling,
    const double* __restrict__ asymptote_below, const double* __restrict__ asymptote_above,
    const double* __restrict__ smallest, const double* __restrict__ largest,
    const unsigned long long* __restrict__ gradients, // [m + 1], where they are
    const double* __restrict__ scales,                // [m + 1]
    const double* __restrict__ curvatures,            // [m + 1]
    const double* __restrict__ weights,               // [m + 1]
    double* __restrict__ minimum,                     // [n]
    double* __restrict__ slopes,                      // [m][n]
    double* __restrict__ partial) {                   // [n_workers][n_sums]
    __shared__ double pool[POOL];
    const unsigned n_pairs = keeps_slopes ? 0 : m * (m + 1) / 2, n_sums = n_pairs + m + 2, n_rows = 2 * m + 2;
    const unsigned width = min(BLOCK, POOL / n_rows);
    const unsigned group = blockIdx.x / n_workers, worker = blockIdx.x % n_workers, t = threadIdx.x;

    // The sum of this thread, as rows whose products it adds; the last rows stand alone.
    const unsigned here = min(n_sums - group * BLOCK, BLOCK), per_sum = BLOCK / here;
    const unsigned sum = group * BLOCK + t / per_sum, lane = t % per_sum;
    const bool adds = t / per_sum < here;
    unsigned row = 0, column = sum;
    while (row < m && column > row) column -= ++row;
    const bool is_pair = sum < n_pairs;
    const unsigned alone = m + (sum - n_pairs);
    double total = 0.0;

    for (long long first = (long long)worker * width; first < n; first += (long long)n_workers * width) {
        const unsigned count = (unsigned)min((long long)width, n - first);
        const long long j = first + t;
        if (t < count) {
            const Variable at = {design[j], asymptote_below[j], asymptote_above[j],
                                 fmax(ceiling[j] - floor[j], LEAST_RANGE)};
            double p_total = 0.0, q_total = 0.0;
            for (unsigned i = 0; i <= m; ++i) {
                double p, q;
                parts(at, gradients, scales, curvatures, i, j, p, q);
                p_total += weights[i] * p, q_total += weights[i] * q;
            }
            const double root_p = sqrt(p_total), root_q = sqrt(q_total);
            const double free = (root_p * at.lower + root_q * at.upper) / (root_p + root_q);
            const double y = fmin(fmax(free, smallest[j]), largest[j]);
            if (is_wanted && group == 0) minimum[j] = y;

            const double to_upper = 1.0 / (at.upper - y), to_lower = 1.0 / (y - at.lower);
            const double of_p = to_upper - 1.0 / (at.upper - at.x), of_q = to_lower - 1.0 / (at.x - at.lower);
            const double curvature =
                2.0 * (p_total * to_upper * to_upper * to_upper + q_total * to_lower * to_lower * to_lower);
            const bool is_free = smallest[j] < free && free < largest[j];
            const double root = is_free ? 1.0 / sqrt(curvature) : 0.0;
            for (unsigned i = 0; i <= m; ++i) {
                double p, q;
                parts(at, gradients, scales, curvatures, i, j, p, q);
                pool[(m + i) * width + t] = p * of_p + q * of_q;
                const double slope = root * (p * to_upper * to_upper - q * to_lower * to_lower);
                if (i > 0) pool[(i - 1) * width + t] = slope;
                if (i > 0 && keeps_slopes) slopes[(size_t)(i - 1) * n + j] = slope;
            }
            const double way = y - at.x;
            pool[(2 * m + 1) * width + t] = (at.upper - at.lower) * way * way * to_upper * to_lower / at.range;
        }
        __syncthreads();

        if (adds)
            for (unsigned k = lane; k < count; k += per_sum)
                total += is_pair ? pool[row * width + k] * pool[column * width + k] : pool[alone * width + k];
        __syncthreads();
    }

    pool[t] = adds ? total : 0.0;
    __syncthreads();
    if (adds && lane == 0) {
        for (unsigned k = 1; k < per_sum; ++k) total += pool[t + k];
        partial[(size_t)worker * n_sums + sum] = total;
    }
}

// Sums of the products of slopes, row by row
extern "C" __global__ void __launch_bounds__(BLOCK) slope_products(
    long long n, unsigned m, unsigned n_workers,
    const double* __restrict__ slopes, // [m][n]
    double* __restrict__ partial) {    // [n_workers][m (m + 1) / 2]
    __shared__ double rows[TILE][COLUMNS + 1], columns[TILE][COLUMNS + 1];
    const unsigned worker = blockIdx.x % n_workers, t = threadIdx.x;
    unsigned row = 0, column = blockIdx.x / n_workers;
    while (column > row) column -= ++row;
    const unsigned r = t / TILE, c = t % TILE;
    double total = 0.0;

    for (long long first = (long long)worker * COLUMNS; first < n; first += (long long)n_workers * COLUMNS) {
        for (unsigned e = t; e < TILE * COLUMNS; e += BLOCK) {
            const unsigned i = e / COLUMNS, k = e % COLUMNS;
            const bool exists = first + k < n;
            const unsigned of_row = row * TILE + i, of_column = column * TILE + i;
            rows[i][k] = exists && of_row < m ? slopes[(size_t)of_row * n + first + k] : 0.0;
            columns[i][k] = exists && of_column < m ? slopes[(size_t)of_column * n + first + k] : 0.0;
        }
        __syncthreads();
        for (unsigned k = 0; k < COLUMNS; ++k) total += rows[r][k] * columns[c][k];
        __syncthreads();
    }

    const unsigned i = row * TILE + r, k = column * TILE + c;
    if (i < m && k <= i) partial[(size_t)worker * (m * (m + 1) / 2) + i * (i + 1) / 2 + k] = total;
}

// sums = the partial sums of all workers
extern "C" __global__ void __launch_bounds__(BLOCK) add_partial_sums(
    unsigned n_sums, unsigned n_workers,
    const double* __restrict__ partial, // [n_workers][n_sums]
    double* __restrict__ sums) {        // [n_sums]
    const unsigned s = blockIdx.x * BLOCK + threadIdx.x;
    if (s >= n_sums) return;
    double total = 0.0;
    for (unsigned worker = 0; worker < n_workers; ++worker) total += partial[(size_t)worker * n_sums + s];
    sums[s] = total;
}
