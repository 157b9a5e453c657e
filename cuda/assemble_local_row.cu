// precision: f64 f32
// element: full modes
// local_row1, local_row3: the assembled matrix, row by row, each from the coordinates.
//
// Source:        [CeckaLewDarve2011, 3.4], assembly by rows from local memory
// Mapping:       eight threads per node, thread q with Gauss point q of an element and then with
//                the tile of the node and the one at position q; 16 nodes per block of 128
// Layout:        offsets [n_nodes + 1], elements and locals [8 n_elements], of each node;
//                row_offsets [n_nodes + 1]; columns [n_blocks], ascending in a row; values
//                [n_blocks][N][N]
// Cost:          each element is evaluated for each of its nodes, and makes all 64 tiles
// Deterministic: yes: elements of a node in increasing order
// Requires:      26 kB of shared memory
// Oracle:        crates/topopt-cuda/tests/device/assembly.rs

#define BLOCK 128

#include "common/tiles.cuh"

struct RowsView {
    unsigned n_rows;
    const unsigned* offsets;
    const unsigned* elements;
    const unsigned char* locals;
    const unsigned char* held; // [n_rows]
    const unsigned long long* row_offsets;
    const unsigned* columns;
};

// Place of column `node` in [begin, end), where it is
__device__ __forceinline__ unsigned long long find(
    const unsigned* columns, unsigned long long begin, unsigned long long end, unsigned node) {
    while (end - begin > 1) {
        const unsigned long long middle = (begin + end) / 2;
        if (columns[middle] <= node) begin = middle;
        else end = middle;
    }
    return begin;
}

// Adds element e to the row of its node at position a: the tiles with the node at position q
template <int N>
__device__ __forceinline__ void add_tiles(
    const RowsView& rows, const MeshView& mesh, const Source& source, const Geometry& geometry, unsigned e,
    int a, int q, unsigned row, real* values) {
    const unsigned other = local_node(mesh, NODE(q), e), own = rows.held[row], mask = rows.held[other];
    // A node that stands twice, as in a wedge, is its first thread's.
    for (int b = 0; b < q; ++b)
        if (local_node(mesh, NODE(b), e) == other) return;

    real* block = values + N * N * find(rows.columns, rows.row_offsets[row], rows.row_offsets[row + 1], other);
    for (int b = q; b < 8; ++b) {
        if (b != q && local_node(mesh, NODE(b), e) != other) continue;
        real K[N * N];
        const real capacity = N == 1 ? source.capacities[e] : 0;
        make_tile<N>(geometry, source.routine, a, b, source.material, source.moduli[e], capacity, K);
#pragma unroll
        for (int k = 0; k < N * N; ++k)
            if (!((own >> k / N | mask >> k % N) & 1)) block[k] += K[k];
    }
}

template <int N>
__device__ __forceinline__ void assemble_rows(
    const RowsView& rows, const MeshView& mesh, const Source& source, real* values) {
    __shared__ Geometry geometry[SLOTS];
    const int slot = threadIdx.x / 8, q = threadIdx.x % 8;
    const unsigned row = blockIdx.x * SLOTS + slot;
    const bool active = row < rows.n_rows;
    const unsigned begin = active ? rows.offsets[row] : 0;
    const unsigned count = active ? rows.offsets[row + 1] - begin : 0;
    const unsigned long long first = active ? rows.row_offsets[row] : 0;
    const unsigned long long last = active ? rows.row_offsets[row + 1] : 0;
    for (unsigned long long v = N * N * first + q; v < N * N * last; v += 8) values[v] = 0;

    // To the most elements of a node of the warp.
    unsigned most = count;
    for (int lanes = 8; lanes < WARP; lanes *= 2) most = max(most, __shfl_xor_sync(WHOLE_WARP, most, lanes));
    for (unsigned k = 0; k < most; ++k) {
        const unsigned e = k < count ? rows.elements[begin + k] : 0;
        if (k < count) evaluate<N>(mesh, source.routine, e, q, geometry[slot]);
        __syncwarp();
        if (k < count)
            add_tiles<N>(rows, mesh, source, geometry[slot], e, NODE(rows.locals[begin + k]), q, row, values);
        __syncwarp();
    }

    const unsigned own = active ? rows.held[row] : 0;
    if (q < N && own >> q & 1)
        values[N * N * find(rows.columns, first, last, row) + (N + 1) * q] = 1;
}

extern "C" __global__ void __launch_bounds__(BLOCK) local_row1(
    VIEW(RowsView) rows,
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // not read
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // [n_elements]
    real* values) {                       // [n_blocks][1][1]
    assemble_rows<1>(rows, mesh, {routine, material, stored, moduli, capacities}, values);
}

extern "C" __global__ void __launch_bounds__(BLOCK) local_row3(
    VIEW(RowsView) rows,
    VIEW(MeshView) mesh, unsigned routine, VIEW(Lame) material,
    const real* __restrict__ stored,      // not read
    const real* __restrict__ moduli,      // [n_elements]
    const real* __restrict__ capacities,  // not read
    real* values) {                       // [n_blocks][3][3]
    assemble_rows<3>(rows, mesh, {routine, material, stored, moduli, capacities}, values);
}
