// Loops over the entries of vectors.

#pragma once

#ifndef BLOCK
#define BLOCK 512
#endif

// For every entry i of n that is the thread's
#define EACH(i, n) \
    for (long long i = blockIdx.x * (long long)BLOCK + threadIdx.x; i < (n); i += (long long)gridDim.x * BLOCK)
