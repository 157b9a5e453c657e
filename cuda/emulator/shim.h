// What a kernel sees of CUDA, when g++ compiles it: included before the kernel, outside of its
// namespace. Add what a kernel needs and no more; what is missing does not compile.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "block.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
// The wrapper names the section, so that each block can begin with shared memory not yet written.
#define __shared__ static __attribute__((section(SHARED_SECTION)))

// Vector types, aligned as on the device.
#define VECTOR_TYPES(type, name, align2, align4)                                            \
    struct alignas(align2) name##2 { type x, y; };                                          \
    struct name##3 { type x, y, z; };                                                       \
    struct alignas(align4) name##4 { type x, y, z, w; };                                    \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                        \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }             \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTOR_TYPES(double, double, 16, 16)
VECTOR_TYPES(float, float, 8, 16)
VECTOR_TYPES(int, int, 8, 16)
VECTOR_TYPES(unsigned, uint, 8, 16)
#undef VECTOR_TYPES

#define threadIdx (emulator::position.thread)
#define blockIdx (emulator::position.block)
#define blockDim (emulator::position.block_size)
#define gridDim (emulator::position.grid)
constexpr int warpSize = 32;

// Barriers and fences.
inline void __syncthreads(emulator::Where where = emulator::Where::current()) {
    emulator::barrier(where);
}
inline void __syncwarp(
    unsigned mask = 0xffffffff, emulator::Where where = emulator::Where::current()) {
    emulator::exchange(mask, emulator::Operation::sync, 0, 0, where);
}
inline void __threadfence() {}
inline void __threadfence_block() {}

// Exchange within a warp.
namespace emulator {
template <class T>
T shuffle(unsigned mask, T value, unsigned source, Where where) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = exchange(mask, Operation::shuffle, bits, source, where);
    memcpy(&value, &bits, sizeof value);
    return value;
}
}  // namespace emulator
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              emulator::Where where = emulator::Where::current()) {
    const unsigned first = emulator::lane() & ~(unsigned(width) - 1);
    return emulator::shuffle(mask, value, first + (unsigned(source) & (unsigned(width) - 1)), where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   emulator::Where where = emulator::Where::current()) {
    const unsigned own = emulator::lane(), end = (own | (unsigned(width) - 1)) + 1;
    return emulator::shuffle(mask, value, own + delta < end ? own + delta : own, where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 emulator::Where where = emulator::Where::current()) {
    const unsigned own = emulator::lane(), first = own & ~(unsigned(width) - 1);
    return emulator::shuffle(mask, value, own >= first + delta ? own - delta : own, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                  emulator::Where where = emulator::Where::current()) {
    const unsigned own = emulator::lane(), end = (own | (unsigned(width) - 1)) + 1;
    const unsigned source = own ^ unsigned(lanes);
    return emulator::shuffle(mask, value, source < end ? source : own, where);
}
inline unsigned __ballot_sync(
    unsigned mask, int predicate, emulator::Where where = emulator::Where::current()) {
    return unsigned(emulator::exchange(mask, emulator::Operation::vote, predicate != 0, 0, where));
}
inline int __any_sync(
    unsigned mask, int predicate, emulator::Where where = emulator::Where::current()) {
    return __ballot_sync(mask, predicate, where) != 0;
}
inline int __all_sync(
    unsigned mask, int predicate, emulator::Where where = emulator::Where::current()) {
    return __ballot_sync(mask, !predicate, where) == 0;
}

// Atomic operations: threads hand over only at barriers, so these are plain.
template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) { return std::exchange(*at, *at + value); }
template <class T>
T atomicMin(T* at, std::type_identity_t<T> value) {
    return std::exchange(*at, value < *at ? value : *at);
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value) {
    return std::exchange(*at, *at < value ? value : *at);
}
template <class T>
T atomicExch(T* at, std::type_identity_t<T> value) { return std::exchange(*at, value); }
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    return std::exchange(*at, *at == expected ? value : *at);
}

// Loads and stores with a hint for the caches.
template <class T>
T __ldg(const T* at) { return *at; }
template <class T>
T __ldcg(const T* at) { return *at; }
template <class T>
T __ldcs(const T* at) { return *at; }
template <class T>
void __stcg(T* at, std::type_identity_t<T> value) { *at = value; }
template <class T>
void __stcs(T* at, std::type_identity_t<T> value) { *at = value; }

// Mathematics beyond the C library. Sums and products of these are as written, never contracted.
template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    return T(a) < T(b) ? T(b) : T(a);
}
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrt(float x) { return 1 / sqrtf(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rcbrt(double x) { return 1 / cbrt(x); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline long long __double_as_longlong(double x) { long long y; memcpy(&y, &x, 8); return y; }
inline double __longlong_as_double(long long x) { double y; memcpy(&y, &x, 8); return y; }
inline int __float_as_int(float x) { int y; memcpy(&y, &x, 4); return y; }
inline float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }

// Makes a kernel known to the driver.
namespace emulator {
void add(const Kernel& kernel);

template <class... A>
struct Signature {
    static constexpr size_t sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
    template <void (*function)(A...)>
    static void call(void** parameters) {
        [&]<size_t... i>(std::index_sequence<i...>) {
            function(*static_cast<std::remove_reference_t<A>*>(parameters[i])...);
        }(std::index_sequence_for<A...>{});
    }
};
template <auto function, class... A>
void add(const char* file, const char* name, char* begin, char* end, void (*)(A...)) {
    add({file, name, Signature<A...>::sizes, sizeof...(A), Signature<A...>::template call<function>,
         begin, end});
}
}  // namespace emulator
