// Things of three components in shared memory.

#pragma once

struct alignas(2 * sizeof(real)) Pair {
    real a, b;
};

// Three components of N things; pairs are read in fewer passes than planes
template <int N>
struct Threes {
    Pair xy[N];
    real z[N];
};

template <int N>
__device__ __forceinline__ void put(Threes<N>& all, int k, real x, real y, real z) {
    all.xy[k] = {x, y};
    all.z[k] = z;
}

template <int N>
__device__ __forceinline__ void get(const Threes<N>& all, int k, real v[3]) {
    const Pair xy = all.xy[k];
    v[0] = xy.a, v[1] = xy.b, v[2] = all.z[k];
}
