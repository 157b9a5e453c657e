// v^T L_e u of one element, by the 2x2x2 Gauss rule or by modes of the gradient.

#pragma once

#ifdef BY_MODES
#include "common/conduction_modes.cuh"
#else
#include "common/points.cuh"
#endif

// That of the fields with coefficients V and U, where the coordinates have the coefficients X, at a
// conductivity of 1
__device__ __forceinline__ real conduction_of(const real X[3][8], const real V[8], const real U[8]) {
#ifdef BY_MODES
    return conduction_along(conductor(X), V, U);
#else
    real sum = 0;
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
        const Point p = point(X, q);
        real of_v[3], of_u[3];
        gradient(p, V, of_v);
        gradient(p, U, of_u);
        sum += reciprocal(p.det) * dot(of_v, of_u, 0);
    }
    return (real)(1.0 / 512) * sum;
#endif
}
