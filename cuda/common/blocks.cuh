// The 6x6 blocks of a coarse matrix between different aggregates, as the cycle reads them: each is
// [3 pairs of columns][6 rows][2], so that a lane reads two columns in one piece.

#pragma once

// Numbers of a block, and of two of its columns
#define SIZE 36
#define TWO_COLUMNS 12
// Place of row i, column j
#define AT(i, j) (TWO_COLUMNS * ((j) / 2) + 2 * (i) + (j) % 2)

template <class T> struct alignas(2 * sizeof(T)) Two {
    T first, second;
};

// Of an arm, the place of a column's center less that of its row's, the last is not used
template <class T> struct alignas(4 * sizeof(T)) Four {
    T v[4];
};

// Two columns: v[2 i + j] of row i, column j
template <class T>
__device__ __forceinline__ void load_two_columns(const T* __restrict__ from, T v[TWO_COLUMNS]) {
#pragma unroll
    for (int i = 0; i < TWO_COLUMNS; i += 4) {
        const Four<T> four = ((const Four<T>*)from)[i / 4];
#pragma unroll
        for (int j = 0; j < 4; ++j) v[i + j] = four.v[j];
    }
}
