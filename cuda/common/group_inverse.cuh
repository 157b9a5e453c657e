// A symmetric positive semi-definite matrix in shared memory, and its inverse or the factor of that,
// by a warp.

#pragma once

#include "common/warp.cuh"

// Pivot of a matrix of unit diagonal below which the rest of it is rounding
#define LEAST 1e-12

template <unsigned SIZE>
struct SharedMatrix {
    double entries[SIZE][SIZE | 1]; // rows of odd length begin in different banks
    double scale[SIZE];
    double reciprocals[SIZE]; // of pivots
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
    __syncwarp(); // all have read their diagonals
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

// Factors a matrix of unit diagonal into L L^T, L on and below the diagonal with the reciprocals of its
// pivots beside it: zero where a pivot is below LEAST and an unknown has no stiffness of its own
template <unsigned SIZE>
__device__ __forceinline__ void factor(unsigned n, SharedMatrix<SIZE>& matrix) {
    const unsigned lane = threadIdx.x % WARP;
    for (unsigned k = 0; k < n; ++k) {
        const double pivot = matrix.entries[k][k], reciprocal = pivot > LEAST ? 1.0 / sqrt(pivot) : 0.0;
        __syncwarp(); // all have read the pivot
        for (unsigned i = k + lane; i < n; i += WARP) matrix.entries[i][k] *= reciprocal;
        if (lane == 0) matrix.reciprocals[k] = reciprocal;
        __syncwarp();
        for (unsigned i = k + 1 + lane; i < n; i += WARP)
            for (unsigned j = k + 1; j <= i; ++j)
                matrix.entries[i][j] -= matrix.entries[i][k] * matrix.entries[j][k];
        __syncwarp();
    }
}

// Writes F = L^-1 S, a lower triangle row by row, of a matrix S^-1 L L^T S^-1 that has been filled: F^T F is
// its inverse. Rounded, it still is positive and keeps stiff motions beside soft ones.
template <unsigned SIZE>
__device__ __forceinline__ void write_factor(unsigned n, SharedMatrix<SIZE>& matrix, float* __restrict__ out) {
    __syncwarp();
    scale(n, matrix);
    factor(n, matrix);
    const double* reciprocals = matrix.reciprocals;

    // The inverse of L column by column, a lane each, transposed above the diagonal.
    for (unsigned j = threadIdx.x % WARP; j < n; j += WARP)
        for (unsigned i = j + 1; i < n; ++i) {
            double sum = matrix.entries[i][j] * reciprocals[j];
            for (unsigned k = j + 1; k < i; ++k) sum += matrix.entries[i][k] * matrix.entries[j][k];
            matrix.entries[j][i] = -reciprocals[i] * sum;
        }
    __syncwarp();
    for (unsigned k = threadIdx.x % WARP; k < n * n; k += WARP) {
        const unsigned i = k / n, j = k % n;
        if (j > i) continue;
        const double entry = i == j ? reciprocals[i] : matrix.entries[j][i];
        out[i * (i + 1) / 2 + j] = (float)(entry * matrix.scale[j]);
    }
}
