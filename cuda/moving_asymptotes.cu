// precision: f64
// moving_asymptotes: what the method of moving asymptotes does entry by entry.
//
// Source:        [Svanberg1987, Svanberg2002], crates/topopt-linalg/src/moving_asymptotes.rs
// Mapping:       move_asymptotes: a thread a variable, grid-stride. minimize_approximation, for up to
//                MOST_AT_ONCE constraints: blocks in groups of n_workers, of which each makes 256 of the sums;
//                a worker takes tiles of variables by turns; in a tile a thread makes the terms of a variable,
//                and then 256 / n_sums threads a sum add them up. For more: minimize_weighted, a thread a
//                variable; approximate_changes, n_workers blocks for every FUNCTIONS functions;
//                slope_products, n_workers blocks for every TILE x TILE products of slopes, OWN x OWN of them
//                a thread. add_partial_sums: a warp's lane a sum of every eighth worker
// Layout:        plain arrays; partial sums [n_workers][n_sums]; factors [5][n], from which changes and slopes of
//                all functions follow by their gradients alone
// Cost:          move_asymptotes: 10 numbers a variable. minimize_approximation: 8 + m + 1 numbers a
//                variable for every 256 sums, the gradients from the cache once more; m (m + 1) / 2 + m + 2
//                sums, each of two operations a variable. For more constraints m + 14, 1.5 m, and
//                m times the number of tiles; m (m + 1) operations for the products
// Deterministic: yes: sums are made in a fixed order
// Requires:      at most MOST_CONSTRAINTS constraints
// Oracle:        crates/topopt-cuda/tests/device/moving_asymptotes.rs

#define BLOCK 256
#define MOST_CONSTRAINTS 200
#define MOST_AT_ONCE 16
#define POOL 5000 // numbers in shared memory, at least 2 MOST_AT_ONCE + 2 rows of a tile
#define FUNCTIONS 4
#define TILE 64
#define STRIP 32 // variables of a tile
#define OWN 4    // rows and columns of a thread

#include "common/entries.cuh"
#include "common/reduce.cuh"

// As AsymptoteRules::of_variable has them
#define REST 1e-9
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
            const double step = x - last[j], before = last[j] - first[j];
            const bool rests = fmin(fabs(step), fabs(before)) <= REST * range;
            const double swing = rests ? 0.0 : step * before;
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

    // How 1 / (upper - y) and 1 / (y - lower) change from x on
    __device__ __forceinline__ double change_above(double y) const { return 1.0 / (upper - y) - 1.0 / (upper - x); }
    __device__ __forceinline__ double change_below(double y) const { return 1.0 / (y - lower) - 1.0 / (x - lower); }
};

// Where a weighted sum of approximations is least
struct Minimum {
    double y;
    double root; // 1 / sqrt(second derivative), 0 at a limit
    double way;  // the term of the distance

    __device__ __forceinline__ Minimum(const Variable& at, double p, double q, double smallest, double largest) {
        const double root_p = sqrt(p), root_q = sqrt(q);
        const double free = (root_p * at.lower + root_q * at.upper) / (root_p + root_q);
        y = fmin(fmax(free, smallest), largest);
        const double to_upper = 1.0 / (at.upper - y), to_lower = 1.0 / (y - at.lower);
        const double curvature = 2.0 * (p * to_upper * to_upper * to_upper + q * to_lower * to_lower * to_lower);
        root = smallest < free && free < largest ? 1.0 / sqrt(curvature) : 0.0;
        way = (at.upper - at.lower) * (y - at.x) * (y - at.x) * to_upper * to_lower / at.range;
    }
};

// p and q of function i of m + 1
__device__ __forceinline__ void parts(
    const Variable& at, const unsigned long long* __restrict__ gradients, const double* __restrict__ numbers,
    unsigned m, unsigned i, long long j, double& p, double& q) {
    const double slope = numbers[i] * ((const double*)gradients[i])[j], own = numbers[m + 1 + i] / at.range;
    const double plus = fmax(slope, 0.0), minus = fmax(-slope, 0.0);
    const double to_upper = at.upper - at.x, to_lower = at.x - at.lower;
    p = to_upper * to_upper * (LARGE_PART * plus + SMALL_PART * minus + own);
    q = to_lower * to_lower * (SMALL_PART * plus + LARGE_PART * minus + own);
}

// p and q of all functions with their weights
__device__ __forceinline__ void weighted_parts(
    const Variable& at, const unsigned long long* __restrict__ gradients, const double* __restrict__ numbers,
    unsigned m, long long j, double& p, double& q) {
    const double* weights = numbers + 2 * (m + 1);
    p = 0.0, q = 0.0;
    for (unsigned i = 0; i <= m; ++i) {
        double of_p, of_q;
        parts(at, gradients, numbers, m, i, j, of_p, of_q);
        p += weights[i] * of_p, q += weights[i] * of_q;
    }
}

// Sums at the design that minimizes the weighted approximations: couplings row by row, changes, distance
extern "C" __global__ void __launch_bounds__(BLOCK) minimize_approximation(
    long long n, unsigned m, unsigned n_workers,
    unsigned is_wanted, // the minimum
    const double* __restrict__ design, const double* __restrict__ floor, const double* __restrict__ ceiling,
    const double* __restrict__ asymptote_below, const double* __restrict__ asymptote_above,
    const double* __restrict__ smallest, const double* __restrict__ largest,
    const unsigned long long* __restrict__ gradients, // [m + 1], where they are
    const double* __restrict__ numbers,               // [3][m + 1]: scales, curvatures, weights
    double* __restrict__ minimum,                     // [n]
    double* __restrict__ partial) {                   // [n_workers][n_sums]
    __shared__ double pool[POOL];
    const unsigned n_pairs = m * (m + 1) / 2, n_sums = n_pairs + m + 2, n_rows = 2 * m + 2;
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
            double p, q;
            weighted_parts(at, gradients, numbers, m, j, p, q);
            const Minimum least(at, p, q, smallest[j], largest[j]);
            if (is_wanted && group == 0) minimum[j] = least.y;

            const double of_p = at.change_above(least.y), of_q = at.change_below(least.y);
            const double to_upper = 1.0 / (at.upper - least.y), to_lower = 1.0 / (least.y - at.lower);
            for (unsigned i = 0; i <= m; ++i) {
                parts(at, gradients, numbers, m, i, j, p, q);
                pool[(m + i) * width + t] = p * of_p + q * of_q;
                const double slope = least.root * (p * to_upper * to_upper - q * to_lower * to_lower);
                if (i > 0) pool[(i - 1) * width + t] = slope;
            }
            pool[(2 * m + 1) * width + t] = least.way;
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

// The design that minimizes the weighted approximations, by factors: with the positive and the negative part
// g+ and g- of a scaled gradient, a function changes by the sum of g+ f_0 + g- f_1, and of what its curvature
// makes, and its slope is g+ f_2 + g- f_3 + curvature f_4. Sums: of change by curvature, of distance
extern "C" __global__ void __launch_bounds__(BLOCK) minimize_weighted(
    long long n, unsigned m,
    unsigned is_wanted, // the minimum
    const double* __restrict__ design, const double* __restrict__ floor, const double* __restrict__ ceiling,
    const double* __restrict__ asymptote_below, const double* __restrict__ asymptote_above,
    const double* __restrict__ smallest, const double* __restrict__ largest,
    const unsigned long long* __restrict__ gradients, // [m + 1], where they are
    const double* __restrict__ numbers,               // [3][m + 1]: scales, curvatures, weights
    double* __restrict__ minimum,                     // [n]
    double* __restrict__ factors,                     // [5][n]
    double* __restrict__ partial) {                   // [gridDim.x][2]
    double by_curvature = 0.0, distance = 0.0;
    EACH(j, n) {
        const Variable at = {design[j], asymptote_below[j], asymptote_above[j],
                             fmax(ceiling[j] - floor[j], LEAST_RANGE)};
        double p, q;
        weighted_parts(at, gradients, numbers, m, j, p, q);
        const Minimum least(at, p, q, smallest[j], largest[j]);
        if (is_wanted) minimum[j] = least.y;

        const double above = at.upper - at.x, below = at.x - at.lower;
        const double of_p = above * above * at.change_above(least.y);
        const double of_q = below * below * at.change_below(least.y);
        factors[j] = LARGE_PART * of_p + SMALL_PART * of_q;
        factors[n + j] = SMALL_PART * of_p + LARGE_PART * of_q;

        const double up = above / (at.upper - least.y), down = below / (least.y - at.lower);
        const double rise = least.root * up * up, fall = least.root * down * down;
        factors[2 * n + j] = LARGE_PART * rise - SMALL_PART * fall;
        factors[3 * n + j] = SMALL_PART * rise - LARGE_PART * fall;
        factors[4 * n + j] = (rise - fall) / at.range;
        by_curvature += (of_p + of_q) / at.range;
        distance += least.way;
    }
    by_curvature = block_total(by_curvature);
    __syncthreads();
    distance = block_total(distance);
    if (threadIdx.x == 0) partial[2 * blockIdx.x] = by_curvature, partial[2 * blockIdx.x + 1] = distance;
}

// How all functions change, except for what their curvatures make
extern "C" __global__ void __launch_bounds__(BLOCK) approximate_changes(
    long long n, unsigned m, unsigned n_workers,
    const unsigned long long* __restrict__ gradients, // [m + 1]
    const double* __restrict__ numbers,               // [3][m + 1]
    const double* __restrict__ factors,               // [5][n]
    double* __restrict__ partial) {                   // [n_workers][m + 1]
    const unsigned worker = blockIdx.x % n_workers, first = blockIdx.x / n_workers * FUNCTIONS;
    double totals[FUNCTIONS] = {};
    for (long long j = (long long)worker * BLOCK + threadIdx.x; j < n; j += (long long)n_workers * BLOCK) {
        const double rise = factors[j], fall = factors[n + j];
#pragma unroll
        for (unsigned f = 0; f < FUNCTIONS; ++f) {
            if (first + f > m) continue;
            const double slope = numbers[first + f] * ((const double*)gradients[first + f])[j];
            totals[f] += slope * (slope > 0.0 ? rise : -fall);
        }
    }
#pragma unroll
    for (unsigned f = 0; f < FUNCTIONS; ++f) {
        const double total = block_total(totals[f]);
        if (threadIdx.x == 0 && first + f <= m) partial[(size_t)worker * (m + 1) + first + f] = total;
        __syncthreads();
    }
}

// Sums of the products of slopes of constraints, row by row
extern "C" __global__ void __launch_bounds__(BLOCK) slope_products(
    long long n, unsigned m, unsigned n_workers,
    const unsigned long long* __restrict__ gradients, // [m + 1]
    const double* __restrict__ numbers,               // [3][m + 1]
    const double* __restrict__ factors,               // [5][n]
    double* __restrict__ partial) {                   // [n_workers][m (m + 1) / 2]
    __shared__ double tiles[2][TILE][STRIP + 1];
    const unsigned worker = blockIdx.x % n_workers, t = threadIdx.x;
    unsigned row = 0, column = blockIdx.x / n_workers;
    while (column > row) column -= ++row;
    const double(*rows)[STRIP + 1] = tiles[0], (*columns)[STRIP + 1] = tiles[row == column ? 0 : 1];
    const unsigned r = t / (TILE / OWN), c = t % (TILE / OWN);
    double totals[OWN][OWN] = {};

    for (long long first = (long long)worker * STRIP; first < n; first += (long long)n_workers * STRIP) {
        const long long j = first + t % STRIP;
        const bool exists = j < n;
        const double rise = exists ? factors[2 * n + j] : 0.0, fall = exists ? factors[3 * n + j] : 0.0;
        const double own = exists ? factors[4 * n + j] : 0.0;
        for (unsigned tile = 0; tile < (row == column ? 1 : 2); ++tile)
            for (unsigned e = t / STRIP; e < TILE; e += BLOCK / STRIP) {
                const unsigned i = (tile == 0 ? row : column) * TILE + e + 1;
                double slope = 0.0;
                if (exists && i <= m) {
                    const double scaled = numbers[i] * ((const double*)gradients[i])[j];
                    slope = scaled * (scaled > 0.0 ? rise : -fall) + numbers[m + 1 + i] * own;
                }
                tiles[tile][e][t % STRIP] = slope;
            }
        __syncthreads();

        for (unsigned k = 0; k < STRIP; ++k)
#pragma unroll
            for (unsigned a = 0; a < OWN; ++a)
#pragma unroll
                for (unsigned b = 0; b < OWN; ++b)
                    totals[a][b] += rows[r + a * (TILE / OWN)][k] * columns[c + b * (TILE / OWN)][k];
        __syncthreads();
    }

    const size_t n_pairs = m * (m + 1) / 2;
    for (unsigned a = 0; a < OWN; ++a)
        for (unsigned b = 0; b < OWN; ++b) {
            const unsigned i = row * TILE + r + a * (TILE / OWN), k = column * TILE + c + b * (TILE / OWN);
            if (i < m && k <= i) partial[worker * n_pairs + i * (i + 1) / 2 + k] = totals[a][b];
        }
}

// sums = the partial sums of all workers
extern "C" __global__ void __launch_bounds__(BLOCK) add_partial_sums(
    unsigned n_sums, unsigned n_workers,
    const double* __restrict__ partial, // [n_workers][n_sums]
    double* __restrict__ sums) {        // [n_sums]
    __shared__ double pool[BLOCK / WARP][WARP];
    const unsigned lane = threadIdx.x / WARP, s = blockIdx.x * WARP + threadIdx.x % WARP;
    double total = 0.0;
    if (s < n_sums)
        for (unsigned w = lane; w < n_workers; w += BLOCK / WARP) total += partial[(size_t)w * n_sums + s];
    pool[lane][threadIdx.x % WARP] = total;
    __syncthreads();
    if (lane > 0 || s >= n_sums) return;
    for (unsigned k = 1; k < BLOCK / WARP; ++k) total += pool[k][threadIdx.x];
    sums[s] = total;
}
