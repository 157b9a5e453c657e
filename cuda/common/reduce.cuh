// Sum and maximum over a block of BLOCK threads, or over all blocks of a launch, by a fixed tree: the same
// bits every time.

#pragma once

#include "common/views.cuh"
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

// The maximum of `value` >= 0 over the block, which thread 0 is given; all threads call it
__device__ __forceinline__ double block_largest(double value) {
    __shared__ double warps[BLOCK / WARP];
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        value = fmax(value, __shfl_down_sync(WHOLE_WARP, value, offset));
    if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < BLOCK / WARP; ++w) value = fmax(value, warps[w]);
    return value;
}

// Where a launch of at most BLOCK blocks leaves one number
struct TotalView {
    double* partial; // [blocks], what each block has found
    unsigned* ended; // blocks that have ended, 0 between launches
    double* out;     // the number
};

// Writes what the block has found, and returns whether it is the last block to do so; all threads call it
__device__ __forceinline__ bool is_last_block(double value, const TotalView& total) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        total.partial[blockIdx.x] = value;
        __threadfence();
        is_last = atomicAdd(total.ended, 1u) == gridDim.x - 1;
        if (is_last) {
            *total.ended = 0;
            __threadfence();
        }
    }
    __syncthreads();
    return is_last;
}

// What the block of this thread's number has found; 0 beyond the last block
__device__ __forceinline__ double found_by_block(const TotalView& total) {
    return threadIdx.x < gridDim.x ? __ldcg(total.partial + threadIdx.x) : 0.0;
}

// total.out = sum of `value` over the launch: the last block adds up all blocks' sums, in their order
__device__ __forceinline__ void launch_sum(double value, const TotalView& total) {
    if (!is_last_block(block_total(value), total)) return;
    value = block_total(found_by_block(total));
    if (threadIdx.x == 0) *total.out = value;
}

// total.out = maximum of `value` >= 0 over the launch
__device__ __forceinline__ void launch_max(double value, const TotalView& total) {
    if (!is_last_block(block_largest(value), total)) return;
    value = block_largest(found_by_block(total));
    if (threadIdx.x == 0) *total.out = value;
}
