// Reciprocals without a division.

#pragma once

// 1 / x for a normal number
__device__ __forceinline__ double reciprocal(double x) {
#ifdef __CUDA_ARCH__
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); // 20 bits, which a cubic step triples
    const double error = fma(-x, y, 1.0);
    return fma(fma(error, error, error), y, y);
#else
    return 1.0 / x;
#endif
}

__device__ __forceinline__ float reciprocal(float x) {
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); // within 1 ulp
    return y;
#else
    return 1.0f / x;
#endif
}
