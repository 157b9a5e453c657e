// An isotropic material as the elements take it. MU_SCALE is defined before.

#pragma once

#include "common/views.cuh"

// What moduli of elements are to be times for this material, and what stresses take besides
__device__ __forceinline__ real modulus_of(const Lame& material) {
    return (real)(material.mu / MU_SCALE);
}

__device__ __forceinline__ real law_of(const Lame& material) {
    return (real)material.ratio;
}
