// The 6x6 blocks of a coarse matrix between different aggregates, as the cycle reads them.
//
// A block is [3 pairs of columns][6 rows][2], so that a lane reads two columns in one piece. Moments and
// rotations are counted in a length, which makes all entries alike, and the numbers are multiples of
// the block's scale: in single precision 16 bits each, in double precision whole.

#pragma once

// Numbers of a block, and of two of its columns
#define SIZE 36
#define TWO_COLUMNS 12
// Place of row i, column j
#define AT(i, j) (TWO_COLUMNS * ((j) / 2) + 2 * (i) + (j) % 2)

template <class T> struct Packed;

template <> struct Packed<double> {
    typedef double Number;
    static constexpr double ROUNDING = 1e-12; // of a sum of blocks, over its largest entry: at most
    static __device__ __forceinline__ double scale(double) { return 1.0; }
    static __device__ __forceinline__ double pack(double value) { return value; }
};

template <> struct Packed<float> {
    typedef short Number;
    static constexpr double ROUNDING = 1e-4;
    static __device__ __forceinline__ double scale(double largest) { return largest / 32767.0; }
    static __device__ __forceinline__ short pack(double value) { return (short)rint(value); }
};

// What belongs to a block
template <class T> struct alignas(4 * sizeof(T)) Joint {
    T scale;  // of its numbers
    T arm[3]; // the place of the column's centre less that of the row's
};

template <class T> struct alignas(2 * sizeof(T)) Two {
    T first, second;
};

// Two columns: v[2 i + j] of row i, column j
__device__ __forceinline__ void load_two_columns(const double* __restrict__ from, double v[TWO_COLUMNS]) {
#pragma unroll
    for (int i = 0; i < TWO_COLUMNS; ++i) v[i] = from[i];
}

__device__ __forceinline__ void load_two_columns(const short* __restrict__ from, float v[TWO_COLUMNS]) {
    const unsigned long long* __restrict__ words = (const unsigned long long*)from;
#pragma unroll
    for (int i = 0; i < TWO_COLUMNS; i += 4) {
        const unsigned long long word = words[i / 4];
#pragma unroll
        for (int j = 0; j < 4; ++j) v[i + j] = (float)(short)(word >> 16 * j);
    }
}

// What an entry of a motion or force is counted in
__device__ __forceinline__ double unit(int i, double length) { return i < 3 ? 1.0 : length; }
