// Aggregates of one unknown per node, which move by a constant.

#pragma once

#include "common/warp.cuh"

// The aggregate of a node that is in none
#define NONE 0xffffffffu

// The sum over groups of `lanes` neighboring lanes, in the first of each; all lanes of a warp call it
template <int lanes, class T>
__device__ __forceinline__ T lane_sum(T value) {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2)
        value += __shfl_down_sync(WHOLE_WARP, value, step, lanes);
    return value;
}
