// What several kernels read alike, one parameter each and by value: a mesh, a part of it, its clusters,
// its material. Rust's side is crates/topopt-cuda/src/kernels.rs; a test compares the two member by
// member.
//
// A compiler reads what __restrict__ parameters point to through the cache for read-only data, but not
// what members do: read_only() does. It is __ldg without its `volatile`, which would keep
// the order of loads.

//
// VIEW(T) is a parameter that is read where it lies: of a copy of its own a thread keeps members in
// registers. `ebe` then takes 118 of them in place of 82.

#pragma once

#define VIEW(type) const __grid_constant__ type

#ifdef __CUDA_ARCH__
#define READ_ONLY(type, suffix, constraint)                                        \
    __device__ __forceinline__ type read_only(const type* from) {                   \
        type value;                                                                \
        asm("ld.global.nc." suffix " %0, [%1];" : constraint(value) : "l"(from));  \
        return value;                                                              \
    }
READ_ONLY(unsigned, "u32", "=r")
READ_ONLY(unsigned short, "u16", "=h")
READ_ONLY(unsigned long long, "u64", "=l")
READ_ONLY(double, "f64", "=d")
#undef READ_ONLY
#else
template <class T>
T read_only(const T* from) {
    return *from;
}
#endif

// A mesh of hexahedra or of tetrahedra
struct MeshView {
    unsigned n_elements, n_nodes;
    const unsigned* connectivity; // [8 or 10][n_elements]
    const double* coordinates;    // [3][n_nodes]
};

// Elements of a launch
struct Part {
    unsigned first, count;
};

// An isotropic material at Young's modulus 1: Lame's constants, and lambda / mu
struct Lame {
    double lambda, mu, ratio;
};

// Local node a of element e, in VTK's order
__device__ __forceinline__ unsigned local_node(const MeshView& mesh, int a, unsigned e) {
    return read_only(mesh.connectivity + ((size_t)a * mesh.n_elements + e));
}

// Coordinate i of a node
__device__ __forceinline__ double coordinate(const MeshView& mesh, int i, unsigned node) {
    return read_only(mesh.coordinates + ((size_t)i * mesh.n_nodes + node));
}

// Nodes in aggregates
struct AggregatesView {
    unsigned n_aggregates;
    const unsigned* of;    // [n_nodes], the aggregate
    const double* centers; // [3][n_aggregates]
};

// Coordinate i of the center of an aggregate
__device__ __forceinline__ double center(const AggregatesView& aggregates, int i, unsigned aggregate) {
    return read_only(aggregates.centers + ((size_t)i * aggregates.n_aggregates + aggregate));
}
