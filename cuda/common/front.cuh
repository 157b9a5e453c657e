// A front on tetrahedra in patches. crates/topopt-cuda/src/kernels.rs has the same members.

#pragma once

#include "common/views.cuh"

// Tetrahedra in patches, each with its own copies of its vertices
struct FrontView {
    unsigned n_patches, n_copies, n_vertices;
    const unsigned* first_cells;  // [n_patches + 1]
    const unsigned* first_copies; // [n_patches + 1]
    const unsigned* corners;      // [n_cells], four local numbers
    const unsigned* vertices;     // [n_copies], whose copy it is
    const unsigned* owners;       // [n_copies], the patch
    const unsigned* offsets;      // [n_vertices + 1], into slots
    const unsigned* slots;        // [n_copies], the copies of each vertex
};

// The state of a copy
#define WAITS 1 // its value is still to be propagated
#define GIVEN 2 // a source: its value stays

#define NEVER ((real)__longlong_as_double(0x7ff0000000000000)) // infinity

// Numbers >= 0 as integers in the same order, of which there is an atomic minimum
__device__ __forceinline__ unsigned long long to_bits(double x) { return __double_as_longlong(x); }
__device__ __forceinline__ unsigned to_bits(float x) { return __float_as_int(x); }
__device__ __forceinline__ double from_bits(unsigned long long x) { return __longlong_as_double(x); }
__device__ __forceinline__ float from_bits(unsigned x) { return __int_as_float(x); }
typedef decltype(to_bits(real())) Bits;
