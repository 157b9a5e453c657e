// Sum and maximum over a block of BLOCK threads, by a fixed tree: the same bits every time.

#pragma once

#include "common/warp.cuh"

#ifndef BLOCK
#define BLOCK 512
#endif

// The sum of `value` over the block, which thread 0 is given; all threads call it
__device__ __forceinline__ double block_total(double value) {
    __shared__ double warps[BLOCK / WARP];
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(WHOLE_WARP, value, offset);
    if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < BLOCK / WARP; ++w) value += warps[w];
    return value;
}

// out[blockIdx.x] = sum of `value` over the block; all threads call it
__device__ __forceinline__ void block_sum(double value, double* __restrict__ out) {
    value = block_total(value);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

// out[blockIdx.x] = maximum of `value` >= 0 over the block; all threads call it
__device__ __forceinline__ void block_max(double value, double* __restrict__ out) {
    __shared__ double warps[BLOCK / WARP];
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        value = fmax(value, __shfl_down_sync(WHOLE_WARP, value, offset));
    if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / WARP; ++w) value = fmax(value, warps[w]);
        out[blockIdx.x] = value;
    }
}
