// Inverse of a small symmetric matrix in registers.

#pragma once

// A = A^-1 for A symmetric and positive semi-definite, by Gauss-Jordan steps without exchanges on A
// scaled to a unit diagonal. A row that the rows before it leave without a pivot above `smallest`
// carries no stiffness of its own: its rows and columns of the result are zero.
template <int N>
__device__ __forceinline__ void invert(double A[N][N], double smallest = 1e-12) {
    double scale[N];
#pragma unroll
    for (int i = 0; i < N; ++i) scale[i] = A[i][i] > 0.0 ? 1.0 / sqrt(A[i][i]) : 0.0;

#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j < N; ++j) A[i][j] *= scale[i] * scale[j];

#pragma unroll
    for (int k = 0; k < N; ++k) {
        const bool has_pivot = A[k][k] > smallest;
        const double pivot = has_pivot ? 1.0 / A[k][k] : 0.0;

        double row[N];
#pragma unroll
        for (int j = 0; j < N; ++j) row[j] = pivot * A[k][j];

#pragma unroll
        for (int i = 0; i < N; ++i) {
            const double factor = A[i][k];
#pragma unroll
            for (int j = 0; j < N; ++j)
                if (i != k && j != k) A[i][j] -= factor * row[j];
            A[i][k] = -pivot * factor;
        }

#pragma unroll
        for (int j = 0; j < N; ++j) A[k][j] = row[j];
        A[k][k] = pivot;
    }

#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j < N; ++j) A[i][j] *= scale[i] * scale[j];
}
