// Where the 300 distinct entries of a symmetric K_e lie [Ratnakar2022, 5.2], by local node pairs.
//
// Diagonal group: sub-matrix X_a couples node a with itself. Group g = 1..7 (A..G) has the four
// sub-matrices that couple node a with node a ^ g, a < a ^ g, in the order of a: every node takes
// part in every group once. In the paper's Fig. 5.4 this is group D = 4.
//
//         a d e                       a d e
//   X  =  . b f       others:         f b g
//         . . c                       h i c
//
// kappa_d:  [a..f][n][8 sub-matrices]
// kappa_od: for every group [a b c][n][4 sub-matrices], then [(d,e) (f,g) (h,i)][n][4][2]

#pragma once

__device__ __forceinline__ size_t kappa_d_index(int entry, unsigned n, unsigned e, int a) {
    return ((size_t)entry * n + e) * 8 + a;
}

// Start of a group in kappa_od
__device__ __forceinline__ size_t kappa_od_group(int group, unsigned n) {
    return (size_t)(group - 1) * 36 * n;
}

// Place of a, b or c (entry 0, 1, 2) in its group; and of a pair, counted in pairs
__device__ __forceinline__ size_t kappa_od_single(int entry, unsigned n, unsigned e, int k) {
    return ((size_t)entry * n + e) * 4 + k;
}

// Start of the pairs in a group
__device__ __forceinline__ size_t kappa_od_pairs(unsigned n) {
    return (size_t)12 * n;
}

// The highest bit of a group: what tells the smaller node of a pair from the larger
__device__ __forceinline__ int group_bit(int group) {
    return group < 2 ? 0 : group < 4 ? 1 : 2;
}

// Number k of the sub-matrix of `group` whose smaller node is a: a without that bit
__device__ __forceinline__ int sub_matrix(int group, int a) {
    const int bit = group_bit(group);
    return a >> bit + 1 << bit | a & (1 << bit) - 1;
}
