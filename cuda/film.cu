// precision: f64 f32
// film: what convection over faces couples, added to a product with conduction.
//
// Source:        H_ab = integral of h N_a N_b over faces: its row sums are springs, and the rest is C,
//                (C x)_a = sum_b H_ab (x_b - x_a) over the other nodes b of the faces at a
// Mapping:       one thread a row, blocks of 128
// Layout:        compressed rows of the nodes of faces alone; vectors [n_nodes]
// Cost:          8 bytes (f64: 12) and one value of x read, and 3 operations, per entry, some 8 of them a
//                row; of a row 8 bytes and 4 values read or written: of the surface of a part, which has
//                6 n^2 nodes of n^3
// Deterministic: yes; a row adds its entries in their order
// Requires:      rows of different nodes, which are not held, and no columns of held nodes: what they take
//                is `held`
// Oracle:        crates/topopt-cuda/tests/device/diffusion.rs

#define BLOCK 128

// y += C x
extern "C" __global__ void __launch_bounds__(BLOCK) film(
    unsigned n_rows,
    const unsigned* __restrict__ nodes,   // [n_rows]
    const unsigned* __restrict__ offsets, // [n_rows + 1]
    const unsigned* __restrict__ columns, // [n_entries]
    const real* __restrict__ weights,     // [n_entries]
    const real* __restrict__ held,        // [n_rows], the sum of H_ab over held nodes b
    const real* __restrict__ x,           // [n_nodes]
    real* __restrict__ y) {               // [n_nodes]
    const unsigned row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= n_rows) return;
    const unsigned node = nodes[row];
    const real own = x[node];
    real sum = 0;
    for (unsigned k = offsets[row]; k < offsets[row + 1]; ++k) sum += weights[k] * (x[columns[k]] - own);
    y[node] += sum - held[row] * own;
}
