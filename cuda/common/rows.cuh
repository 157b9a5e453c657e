// Compressed rows of blocks.

#pragma once

// Place of `column` in [begin, end), where the columns ascend and it is one of them; begin < end
__device__ __forceinline__ unsigned find(
    const unsigned* __restrict__ columns, unsigned begin, unsigned end, unsigned column) {
    while (end - begin > 1) {
        const unsigned middle = begin + (end - begin) / 2;
        if (columns[middle] <= column) begin = middle;
        else end = middle;
    }
    return begin;
}
