// Rigid motions of aggregates: (translation, rotation) about the aggregate's center.

#pragma once

#include "common/warp.cuh"

#define MODES 6
#define MODE_SLOTS (WARP / MODES) // of a warp, a lane a mode

// r = the place of a point less the center of its aggregate
__device__ __forceinline__ void arm(
    const double* __restrict__ positions, unsigned n_points, unsigned point,        // [3][n_points]
    const double* __restrict__ centers, unsigned n_aggregates, unsigned aggregate,  // [3][n_aggregates]
    double r[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i)
        r[i] = positions[(size_t)i * n_points + point] - centers[(size_t)i * n_aggregates + aggregate];
}

// Displacement at r of a motion: t + w x r
template <class T>
__device__ __forceinline__ void displacement(const T motion[MODES], const T r[3], T u[3]) {
    u[0] = motion[0] + motion[4] * r[2] - motion[5] * r[1];
    u[1] = motion[1] + motion[5] * r[0] - motion[3] * r[2];
    u[2] = motion[2] + motion[3] * r[1] - motion[4] * r[0];
}

// The transpose, added: total += force and moment of the force f at r
template <class T>
__device__ __forceinline__ void add_force(const T f[3], const T r[3], T total[MODES]) {
    total[0] += f[0];
    total[1] += f[1];
    total[2] += f[2];
    total[3] += r[1] * f[2] - r[2] * f[1];
    total[4] += r[2] * f[0] - r[0] * f[2];
    total[5] += r[0] * f[1] - r[1] * f[0];
}

// The unit motion in a mode
__device__ __forceinline__ void unit_motion(unsigned mode, double motion[MODES]) {
#pragma unroll
    for (int i = 0; i < MODES; ++i) motion[i] = mode == i ? 1.0 : 0.0;
}

// A rigid motion about a point at r from its own
__device__ __forceinline__ void motion_at(const double own[MODES], const double r[3], double motion[MODES]) {
    displacement(own, r, motion);
#pragma unroll
    for (int i = 3; i < MODES; ++i) motion[i] = own[i];
}

// total += that of the other slots of the warp, in the lanes of the first
__device__ __forceinline__ void sum_slots(double total[MODES]) {
#pragma unroll
    for (int i = 0; i < MODES; ++i) {
        const double own = total[i];
#pragma unroll
        for (int s = 1; s < MODE_SLOTS; ++s) total[i] += __shfl_down_sync(WHOLE_WARP, own, MODES * s);
    }
}
