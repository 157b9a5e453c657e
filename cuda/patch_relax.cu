// precision: f64 f32
// relax_patch1, relax_patch3: a step of smoothing by patches, as far as a patch knows.
// relax_between1, relax_between3: what the patches know of each other.
// add_to_diagonal1, add_to_diagonal3: springs into the assembled matrix.
//
// Source:        inexact block Jacobi with the residual in the same pass [Fu2013, 5.5]; A_I in rows and not in
//                symmetric coordinates, which would need atomics
// Mapping:       relax_patch: a block of 96 per patch, one thread per unknown; the others: one thread per unknown,
//                blocks of 96
// Layout:        rows patch by patch in `order`; values [n_blocks][N][N]; vectors [N][n_rows]; inverse [n_rows], or
//                [6][n_rows] as block_diagonal.cu has it
// Cost:          relax_patch: the numbers of A_I once from memory, those of A_B too where the residual is that of x;
//                8 bytes per block of A_I, 4 or 8 per block of A_B; relax_between: the numbers of A_B once
// Deterministic: yes; sums in the order of the rows
// Requires:      48 kB of shared memory; at most BLOCK unknowns per patch
// Oracle:        crates/topopt-cuda/tests/device/patch_relax.rs

#define BLOCK 96
#define NUMBERS 3456 // of A_I in shared memory; the others are read again from where they lie
#define SWEEPS 3

// How the residual before the step is found
#define OF_ZERO 0 // of x = 0: r = b
#define OF_X 1    // r = b - A x
#define LEFT 2    // r is what the last step left

#include "common/views.cuh"

// Rows in patches, and the blocks of their matrix
struct PatchRowsView {
    unsigned n_rows;
    const unsigned* order;           // [n_rows], rows patch by patch
    const unsigned* starts;          // [n_patches + 1]
    const unsigned* inside_offsets;  // [n_rows + 1], in that order
    const unsigned* inside;          // [n_inside][2], block, and its column within the patch
    const unsigned* outside_offsets; // [n_rows + 1]
    const unsigned* outside;         // [n_outside], block
    const unsigned* columns;         // [n_blocks]
};

// Factors of the sweeps d = alpha D^-1 r + beta d
struct Sweeps {
    double first;
    double second;
    double second_beta;
    double third;
    double third_beta;
};

// From the squares of the norms after and before a step of the power method
struct Growths {
    unsigned inner_result;
    unsigned inner_start;
    unsigned outer_result;
    unsigned outer_start;
};

__device__ __forceinline__ double inverse_growth(const double* __restrict__ scalars, unsigned result, unsigned start) {
    return sqrt(scalars[start] / scalars[result]);
}

// Component c of the blocks outside of a patch times v, of the row at `place` of the order
template <int N>
__device__ __forceinline__ real outside_product(
    const PatchRowsView& rows, const real* __restrict__ values, unsigned place, unsigned c, const real* v) {
    real sum = 0;
    for (unsigned e = rows.outside_offsets[place]; e < rows.outside_offsets[place + 1]; ++e) {
        const unsigned block = rows.outside[e], column = rows.columns[block];
#pragma unroll
        for (int j = 0; j < N; ++j)
            sum += values[(size_t)block * (N * N) + N * c + j] * v[(size_t)j * rows.n_rows + column];
    }
    return sum;
}

// A patch: what its threads share
template <int N>
struct Patch {
    const PatchRowsView& rows;
    const real* __restrict__ values;
    const real* __restrict__ inverse;
    real* numbers; // [NUMBERS], of A_I row after row
    real* vector;  // [BLOCK]
    unsigned begin, place, row, own, c;
    bool active;

    // Component c of A_I v; v by threads
    __device__ __forceinline__ real inside_product(real v) const {
        __syncthreads();
        vector[threadIdx.x] = v;
        __syncthreads();
        real sum = 0;
        if (!active) return sum;
        for (unsigned e = rows.inside_offsets[place]; e < rows.inside_offsets[place + 1]; ++e) {
            const unsigned column = rows.inside[2 * e + 1], number = (e - begin) * (N * N) + N * c;
            const bool is_near = number + N <= NUMBERS;
#pragma unroll
            for (int j = 0; j < N; ++j) {
                const real value = is_near ? numbers[number + j]
                                           : values[(size_t)rows.inside[2 * e] * (N * N) + N * c + j];
                sum += value * vector[N * column + j];
            }
        }
        return sum;
    }

    // Component c of D^-1 v
    __device__ __forceinline__ real diagonal_product(real v) const {
        if (N == 1) return active ? inverse[row] * v : 0;
        __syncthreads();
        vector[threadIdx.x] = v;
        __syncthreads();
        if (!active) return 0;
        const size_t n = rows.n_rows;
        const unsigned j = (c + 1) % N, k = (c + 2) % N; // plane 3 + i couples i and i + 1
        return inverse[c * n + row] * v + inverse[(3 + c) * n + row] * vector[N * own + j] +
               inverse[(3 + k) * n + row] * vector[N * own + k];
    }
};

template <int N>
__device__ __forceinline__ void relax_patch(
    const PatchRowsView& rows, const real* __restrict__ values, const real* __restrict__ inverse, unsigned residue,
    const Sweeps& sweeps, double alpha, double beta, const double* __restrict__ scalars, const Growths& growths,
    unsigned stays, const real* b, const real* x, real* r, real* d) {
    __shared__ real numbers[NUMBERS];
    __shared__ real vector[BLOCK];
    const unsigned first = rows.starts[blockIdx.x], count = rows.starts[blockIdx.x + 1] - first;
    const unsigned begin = rows.inside_offsets[first];
    const unsigned n_numbers = (rows.inside_offsets[first + count] - begin) * (N * N);
    for (unsigned k = threadIdx.x; k < n_numbers && k < NUMBERS; k += BLOCK)
        numbers[k] = values[(size_t)rows.inside[2 * (begin + k / (N * N))] * (N * N) + k % (N * N)];

    const unsigned own = threadIdx.x / N, c = threadIdx.x % N;
    const bool active = own < count;
    const unsigned place = first + (active ? own : 0), row = rows.order[place];
    const Patch<N> patch{rows, values, inverse, numbers, vector, begin, place, row, own, c, active};
    const size_t at = (size_t)c * rows.n_rows + row;

    real left = active ? (residue == LEFT ? r[at] : b[at]) : 0;
    if (residue == OF_X) { // the whole block
        left -= patch.inside_product(active ? x[at] : 0);
        if (active) left -= outside_product<N>(rows, values, place, c, x);
    }

    // z = M^-1 left
    const double scale = inverse_growth(scalars, growths.inner_result, growths.inner_start);
    const double alphas[SWEEPS] = {sweeps.first, sweeps.second, sweeps.third};
    const double betas[SWEEPS] = {0, sweeps.second_beta, sweeps.third_beta};
    real rest = left, step = 0, z = 0;
#pragma unroll
    for (int k = 0; k < SWEEPS; ++k) {
        if (k > 0) rest -= patch.inside_product(step);
        step = (real)(scale * alphas[k]) * patch.diagonal_product(rest) + (real)betas[k] * step;
        z += step;
    }

    const real outer = (real)(alpha * inverse_growth(scalars, growths.outer_result, growths.outer_start));
    real moved = 0;
    if (active) moved = outer * z + (beta == 0 ? 0 : (real)beta * d[at]);
    if (stays) left -= patch.inside_product(moved); // the whole block
    if (!active) return;
    d[at] = moved;
    if (stays) r[at] = left;
}

template <int N>
__device__ __forceinline__ void relax_between(
    const PatchRowsView& rows, const real* __restrict__ values, unsigned from_zero, unsigned stays,
    const real* __restrict__ d, real* __restrict__ x, real* __restrict__ r) {
    const unsigned t = blockIdx.x * BLOCK + threadIdx.x, place = t / N, c = t % N;
    if (place >= rows.n_rows) return;
    const size_t at = (size_t)c * rows.n_rows + rows.order[place];
    x[at] = from_zero ? d[at] : x[at] + d[at];
    if (stays) r[at] -= outside_product<N>(rows, values, place, c, d);
}

template <int N>
__device__ __forceinline__ void add_to_diagonal(
    unsigned n_rows, const unsigned* __restrict__ places, const real* __restrict__ springs, real* values) {
    const unsigned t = blockIdx.x * BLOCK + threadIdx.x, row = t / N, c = t % N;
    if (row < n_rows) values[(size_t)places[row] * (N * N) + (N + 1) * c] += springs[(size_t)c * n_rows + row];
}

// r by `residue`; d = alpha / outer growth M^-1 r + beta d; and, if it stays, r = r - A_I d
extern "C" __global__ void __launch_bounds__(BLOCK) relax_patch1(
    VIEW(PatchRowsView) rows, const real* values, const real* inverse, unsigned residue, VIEW(Sweeps) sweeps,
    double alpha, double beta, const double* scalars, VIEW(Growths) growths, unsigned stays,
    const real* b, // [n_rows]
    const real* x, // [n_rows]
    real* r,       // [n_rows]
    real* d) {     // [n_rows]
    relax_patch<1>(rows, values, inverse, residue, sweeps, alpha, beta, scalars, growths, stays, b, x, r, d);
}

extern "C" __global__ void __launch_bounds__(BLOCK) relax_patch3(
    VIEW(PatchRowsView) rows, const real* values, const real* inverse, unsigned residue, VIEW(Sweeps) sweeps,
    double alpha, double beta, const double* scalars, VIEW(Growths) growths, unsigned stays,
    const real* b, // [3][n_rows]
    const real* x, // [3][n_rows]
    real* r,       // [3][n_rows]
    real* d) {     // [3][n_rows]
    relax_patch<3>(rows, values, inverse, residue, sweeps, alpha, beta, scalars, growths, stays, b, x, r, d);
}

// x = x + d, or d; and, if it stays, r = r - A_B d
extern "C" __global__ void __launch_bounds__(BLOCK) relax_between1(
    VIEW(PatchRowsView) rows, const real* values, unsigned from_zero, unsigned stays,
    const real* d, // as x
    real* x, real* r) {
    relax_between<1>(rows, values, from_zero, stays, d, x, r);
}

extern "C" __global__ void __launch_bounds__(BLOCK) relax_between3(
    VIEW(PatchRowsView) rows, const real* values, unsigned from_zero, unsigned stays,
    const real* d, // as x
    real* x, real* r) {
    relax_between<3>(rows, values, from_zero, stays, d, x, r);
}

// values = values + springs
extern "C" __global__ void __launch_bounds__(BLOCK) add_to_diagonal1(
    unsigned n_rows, const unsigned* places, const real* springs, real* values) {
    add_to_diagonal<1>(n_rows, places, springs, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) add_to_diagonal3(
    unsigned n_rows, const unsigned* places, const real* springs, real* values) {
    add_to_diagonal<3>(n_rows, places, springs, values);
}
