// precision: f64
// block_groups: the inverses of the diagonal blocks of groups of points of a matrix of full blocks.
//
// Source:        as common/group_inverse.cuh has it
// Mapping:       a warp a group: lanes over pairs of its points, then a lane a row or two of the
//                matrix; blocks of 64
// Layout:        factors as groups.cu reads them
// Cost:          a block 8 bytes an entry, a search in its row; its factor 2/3 n^3 operations for n
//                unknowns, 2 n (n + 1) bytes written
// Deterministic: yes
// Requires:      groups of at most UNKNOWNS unknowns
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra_multigrid.rs

#include "common/block_view.cuh"
#include "common/group_inverse.cuh"
#include "common/groups.cuh"

#define BLOCK 64
#define WARPS (BLOCK / WARP)

template <unsigned B>
__device__ __forceinline__ void invert_groups(
    const GroupsView& groups, const BlocksView& matrix, float* __restrict__ factors) {
    __shared__ SharedMatrix<UNKNOWNS> works[WARPS];
    const unsigned number = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (number >= groups.n_groups) return; // the whole warp
    SharedMatrix<UNKNOWNS>& work = works[threadIdx.x / WARP];
    const Group group = group_of(groups, number);
    const unsigned count = group.n / B;
    clear(work);
    for (unsigned pair = lane; pair < count * count; pair += WARP) {
        const unsigned r = pair / count, c = pair % count;
        const unsigned k = place_of(matrix, groups.points[group.first + r], groups.points[group.first + c]);
        if (k == NOWHERE) continue;
        const double* __restrict__ block = matrix.blocks + (size_t)(B * B) * k;
#pragma unroll
        for (unsigned j = 0; j < B; ++j)
#pragma unroll
            for (unsigned i = 0; i < B; ++i) work.entries[B * r + i][B * c + j] = block[B * j + i];
    }
    write_factor(group.n, work, factors + group.factor);
}

extern "C" __global__ void __launch_bounds__(BLOCK) invert_groups3(
    VIEW(GroupsView) groups, VIEW(BlocksView) matrix,
    float* __restrict__ factors) { // of all groups
    invert_groups<3>(groups, matrix, factors);
}

extern "C" __global__ void __launch_bounds__(BLOCK) invert_groups6(
    VIEW(GroupsView) groups, VIEW(BlocksView) matrix,
    float* __restrict__ factors) { // of all groups
    invert_groups<6>(groups, matrix, factors);
}
