// precision: f64
// tetrahedra_clusters_laws: K u of tetrahedra with straight edges whose one material is no isotropic one, as
// tetrahedra_clusters.cu has it.
//
// Source:        the clusters of tetrahedra_clusters.cu with the stresses of common/laws.cuh
// Mapping:       one warp per cluster, blocks of 32
// Layout:        vectors as planes [3][n_nodes]; clusters as tetrahedra_clusters.cu
// Cost:          some 1150 operations per element and 20 additions for the sums; bytes as
//                tetrahedra_clusters.cu
// Deterministic: no: the order of additions at a node of several clusters is not fixed
// Requires:      y = (1 - P) x beforehand (supports.cu)
// Oracle:        crates/topopt-cuda/tests/device/laws.rs


#define BLOCK (256 / sizeof(real))

#include "common/tetrahedra_clusters.cuh"
#include "common/laws.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 16) tetrahedra_clusters_laws(
    VIEW(TetrahedraClustersView) clusters, VIEW(MeshView) mesh,
    const unsigned* __restrict__ curved, // a bit per element, or null if none is
    VIEW(LawView) law,
    const double* __restrict__ moduli,   // [n_elements]
    const double* __restrict__ x,        // [3][n_nodes]
    double* __restrict__ y) {            // [3][n_nodes]
    add_product(clusters, mesh, curved, &law, moduli, x, y);
}
