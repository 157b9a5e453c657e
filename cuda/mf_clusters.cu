// precision: f64 f32
// element: full modes
// mf_clusters: K u with nothing stored, as mf.cu has it, for meshes whose consecutive elements
// share many nodes but no long rows of them: a warp meets each node of its elements once.
//
// Source:        the elements as in mf.cu; between them and the vectors the nodes of 32 elements,
//                in shared memory
// Mapping:       one warp per cluster of up to 32 consecutive elements and up to 96 distinct nodes:
//                a lane three nodes, then an element, then three nodes; blocks of 32, in single
//                precision 64; mf_clusters_dot leaves what a block adds to x . y
// Layout:        vectors as planes [3][n_nodes]; 96 nodes and 32 elements per cluster, the last
//                ones again until it is full; places of a node in the elements as position * 32 +
//                lane, one byte each; a node of more than four places several times, each with some
//                of them, where there is room; nodes and places in an order with few bank conflicts
// Cost:          operations as mf.cu, 24 additions more per element for the sums; read per element:
//                its 8 nodes in the cluster and 8 places, 18 bytes for nodes, a modulus; in a mesh
//                of cut tetrahedra coordinates and x read, and y added to, 2.3 times per element;
//                shared memory as mf.cu and 832 bytes per warp, by modes 2688, or 1536 in single
//                precision
// Deterministic: no: the order of additions at a node of several clusters is not fixed
// Requires:      y = (1 - P) x beforehand (supports.cu); mf_clusters_dot: x is zero at held
//                components
// Oracle:        crates/topopt-cuda/tests/device/operators.rs

#define BLOCK (256 / sizeof(real))

#include "common/cluster_product.cuh"
#include "common/reduce.cuh"

#ifdef BY_MODES
#define RESIDENT_BLOCKS (sizeof(real) == 8 ? 16 : 14)
#else
#define RESIDENT_BLOCKS (sizeof(real) == 8 ? 12 : 10)
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_clusters(
    VIEW(ClustersView) clusters, VIEW(MeshView) mesh, VIEW(Lame) material,
    const real* __restrict__ moduli, // [n_elements]
    const real* __restrict__ x,      // [3][n_nodes]
    real* __restrict__ y) {          // [3][n_nodes]
    add_product<false>(clusters, mesh, material, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) mf_clusters_dot(
    VIEW(ClustersView) clusters, VIEW(MeshView) mesh, VIEW(Lame) material,
    const real* __restrict__ moduli, // [n_elements]
    const real* __restrict__ x,      // [3][n_nodes]
    real* __restrict__ y,            // [3][n_nodes]
    double* __restrict__ partial) {  // [blocks]
    block_sum(add_product<true>(clusters, mesh, material, moduli, x, y), partial);
}
