// precision: f64 f32
// tetrahedra_clusters: K u of tetrahedra of ten nodes with straight edges, as tetrahedra.cu has it,
// for meshes whose consecutive elements share many nodes: a warp meets each node of its elements
// once.
//
// Source:        the elements as in tetrahedra.cu; between them and the vectors the nodes of 32
//                elements, in shared memory
// Mapping:       one warp per cluster of up to 32 consecutive elements with up to 32 vertices and
//                96 middles of edges: a lane a vertex and three middles, then an element, then a
//                vertex and three middles; blocks of 32, in single precision 64;
//                tetrahedra_clusters_dot leaves what a block adds to x . y
// Layout:        vectors as planes [3][n_nodes]; per cluster the vertices, then the middles, the
//                last ones of both again until they are full; places of a node in the elements as
//                local node * 32 + lane, one byte each, of middles without the four vertices before
//                them; a node of many places several times, each with some of them, where there is
//                room
// Cost:          operations as tetrahedra.cu, 20 additions more per element for the sums; read per
//                element: its 10 nodes in the cluster and 10 places, 24 bytes for nodes, a modulus;
//                coordinates of some 0.7 vertices, x read and y added to at some 2.8 nodes
// Deterministic: no: the order of additions at a node of several clusters is not fixed
// Requires:      y = (1 - P) x beforehand (supports.cu); tetrahedra_clusters_dot: x is zero at held
//                components
// Oracle:        crates/topopt-cuda/tests/device/tetrahedra.rs

#define BLOCK (256 / sizeof(real))

#include "common/reduce.cuh"
#include "common/tetrahedra_clusters.cuh"

#define RESIDENT_BLOCKS (sizeof(real) == 8 ? 16 : 12)

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) tetrahedra_clusters(
    VIEW(TetrahedraClustersView) clusters, VIEW(MeshView) mesh,
    const unsigned* __restrict__ curved, // a bit per element, or null if none is
    VIEW(Lame) material,
    const real* __restrict__ moduli,     // [n_elements]
    const real* __restrict__ x,          // [3][n_nodes]
    real* __restrict__ y) {              // [3][n_nodes]
    add_product(clusters, mesh, curved, material, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) tetrahedra_clusters_dot(
    VIEW(TetrahedraClustersView) clusters, VIEW(MeshView) mesh,
    const unsigned* __restrict__ curved, // a bit per element, or null if none is
    VIEW(Lame) material,
    const real* __restrict__ moduli,     // [n_elements]
    const real* __restrict__ x,          // [3][n_nodes]
    real* __restrict__ y,                // [3][n_nodes]
    double* __restrict__ partial) {      // [blocks]
    block_sum(add_product(clusters, mesh, curved, material, moduli, x, y), partial);
}
