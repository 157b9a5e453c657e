// precision: f64
// element: full modes
// laws_clusters: K u of hexahedra whose one material is no isotropic one, as mf_clusters.cu has it.
//
// Source:        the clusters of mf_clusters.cu with the stresses of common/laws.cuh
// Mapping:       one warp per cluster, blocks of 32
// Layout:        vectors as planes [3][n_nodes]; clusters as mf_clusters.cu
// Cost:          operations as laws.cu, bytes as mf_clusters.cu
// Deterministic: no: the order of additions at a node of several clusters is not fixed
// Requires:      y = (1 - P) x beforehand (supports.cu)
// Oracle:        crates/topopt-cuda/tests/device/laws.rs

#define BLOCK (256 / sizeof(real))

#include "common/cluster_product.cuh"

#include "common/laws.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 12) laws_clusters(
    VIEW(ClustersView) clusters, VIEW(MeshView) mesh, VIEW(LawView) law,
    const double* __restrict__ moduli, // [n_elements]
    const double* __restrict__ x,      // [3][n_nodes]
    double* __restrict__ y) {          // [3][n_nodes]
    add_product<false>(clusters, mesh, &law, moduli, x, y);
}
