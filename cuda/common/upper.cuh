// The symmetric matrix that is assembled: blocks of N x N numbers, of which those on and above the
// diagonal are made and the others written with them. crates/topopt-cuda/src/kernels.rs has the same
// members.

#pragma once

#include "common/views.cuh"

// Blocks (i, j) with i <= j
struct UpperView {
    unsigned n_blocks;
    const unsigned* places;       // [n_blocks], place among all blocks
    const unsigned* mirrors;      // [n_blocks], that of (j, i)
    const unsigned char* masks;   // [n_blocks], bit i: row i is held; bit 3 + j: column j; bit 6: i = j
};

#define ON_DIAGONAL 64

// Where a tile goes or comes from: a number, and whether it is to be transposed; or added to its
// transpose, where one of two nodes in an element is the same
#define TRANSPOSED 2147483648u
#define DOUBLED 1073741824u
#define MARKED 536870912u // what this says is up to the strategy
#define PLACE(entry) ((entry) & 536870911u)
#define NOWHERE 0xffffffffu

// Number k of a tile as it is to be added
template <int N, class T>
__device__ __forceinline__ T oriented(const T* tile, int k, unsigned entry) {
    const int across = N * (k % N) + k / N;
    T value = tile[entry & TRANSPOSED ? across : k];
    if (entry & DOUBLED) value += tile[entry & TRANSPOSED ? k : across];
    return value;
}

// Number k of upper block u, and that of its mirror image; held rows and columns are those of the
// identity
template <int N, class T>
__device__ __forceinline__ void write_number(const UpperView& upper, unsigned u, int k, T value, T* values) {
    const int i = k / N, j = k % N;
    const unsigned mask = upper.masks[u];
    if (mask & (1u << i | 8u << j)) value = mask & ON_DIAGONAL && i == j;
    values[(size_t)upper.places[u] * (N * N) + k] = value;
    if (!(mask & ON_DIAGONAL)) values[(size_t)upper.mirrors[u] * (N * N) + N * j + i] = value;
}
