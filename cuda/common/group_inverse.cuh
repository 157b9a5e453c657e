// A symmetric positive semi-definite matrix in shared memory, and its inverse, by a warp.

#pragma once

#include "common/warp.cuh"

// Most unknowns of a group of points
#define UNKNOWNS 36
// Pivot of a matrix of unit diagonal below which the rest of it is rounding
#define LEAST 1e-12

template <unsigned SIZE>
struct SharedMatrix {
    double entries[SIZE][SIZE | 1]; // rows of odd length begin in different banks
    double scale[SIZE];
};

template <unsigned SIZE>
__device__ __forceinline__ void clear(SharedMatrix<SIZE>& matrix) {
    for (unsigned k = threadIdx.x % WARP; k < SIZE * SIZE; k += WARP) matrix.entries[k / SIZE][k % SIZE] = 0.0;
    __syncwarp();
}

// The matrix scaled to a unit diagonal
template <unsigned SIZE>
__device__ __forceinline__ void scale(unsigned n, SharedMatrix<SIZE>& matrix) {
    const unsigned lane = threadIdx.x % WARP;
    for (unsigned i = lane; i < n; i += WARP) {
        const double value = matrix.entries[i][i];
        matrix.scale[i] = value > 0.0 ? 1.0 / sqrt(value) : 0.0;
    }
    __syncwarp();
    for (unsigned k = lane; k < n * n; k += WARP)
        matrix.entries[k / n][k % n] *= matrix.scale[k / n] * matrix.scale[k % n];
    __syncwarp();
}

// The largest number on the diagonal in a row that is not `done`, and its row; the same in all
// lanes
template <unsigned SIZE>
__device__ __forceinline__ double largest_pivot(
    unsigned n, const SharedMatrix<SIZE>& matrix, unsigned long long done, unsigned* row) {
    double most = -1.0;
    *row = 0;
    for (unsigned i = threadIdx.x % WARP; i < n; i += WARP)
        if (!(done >> i & 1) && matrix.entries[i][i] > most) most = matrix.entries[i][i], *row = i;
    for (int step = WARP / 2; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(WHOLE_WARP, most, step);
        const unsigned of_other = __shfl_xor_sync(WHOLE_WARP, *row, step);
        if (other > most || (other == most && of_other < *row)) most = other, *row = of_other;
    }
    return most;
}

// The inverse in place by Gauss-Jordan steps, the largest pivot first. What is left without one of
// LEAST has no stiffness of its own: its rows and columns are zero.
template <unsigned SIZE>
__device__ __forceinline__ void invert(unsigned n, SharedMatrix<SIZE>& matrix) {
    const unsigned lane = threadIdx.x % WARP;
    unsigned long long done = 0;
    for (unsigned count = 0; count < n; ++count) {
        unsigned k;
        const double largest = largest_pivot(n, matrix, done, &k);
        if (!(largest > LEAST)) break;
        done |= 1ull << k;
        const double pivot = 1.0 / largest;
        for (unsigned i = lane; i < n; i += WARP) {
            if (i == k) continue;
            const double factor = pivot * matrix.entries[i][k];
            for (unsigned j = 0; j < n; ++j)
                if (j != k) matrix.entries[i][j] -= factor * matrix.entries[k][j];
            matrix.entries[i][k] = -factor;
        }
        __syncwarp(); // all have read the row
        for (unsigned j = lane; j < n; j += WARP)
            matrix.entries[k][j] = j == k ? pivot : pivot * matrix.entries[k][j];
        __syncwarp();
    }
    for (unsigned k = lane; k < n * n; k += WARP)
        if (!(done >> k / n & 1) || !(done >> k % n & 1)) matrix.entries[k / n][k % n] = 0.0;
    __syncwarp();
}

// Writes the inverse, [n][n], of a matrix that has been filled
template <unsigned SIZE, class T>
__device__ __forceinline__ void write_inverse(unsigned n, SharedMatrix<SIZE>& matrix, T* __restrict__ inverse) {
    __syncwarp();
    scale(n, matrix);
    invert(n, matrix);
    for (unsigned k = threadIdx.x % WARP; k < n * n; k += WARP) {
        const unsigned i = k / n, j = k % n;
        const double entry = 0.5 * (matrix.entries[i][j] + matrix.entries[j][i]); // symmetric where it is rounded
        inverse[k] = (T)(entry * matrix.scale[i] * matrix.scale[j]);
    }
}
