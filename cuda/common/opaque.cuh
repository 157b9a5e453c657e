// What the compiler is not to move.

#pragma once

// x, of which the compiler then knows nothing, so that it stays where it is computed.
__device__ __forceinline__ double opaque(double x) {
#ifdef __CUDA_ARCH__
    asm volatile("" : "+d"(x));
#endif
    return x;
}

__device__ __forceinline__ unsigned opaque(unsigned x) {
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(x));
#endif
    return x;
}

__device__ __forceinline__ float opaque(float x) {
#ifdef __CUDA_ARCH__
    asm volatile("" : "+f"(x));
#endif
    return x;
}
