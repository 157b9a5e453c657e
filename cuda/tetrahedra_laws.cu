// precision: f64
// tetrahedra_laws: K u of tetrahedra with straight edges whose material is no isotropic one,
// curved_tetrahedra_laws: of the others; nothing stored, as tetrahedra.cu has it.
// tetrahedra_laws_work: v_e^T K_e u_e at unit modulus, as tetrahedra_parts.cu has it.
//
// Source:        the elements of tetrahedra.cu and tetrahedra_parts.cu with the stresses of
//                common/laws.cuh
// Mapping:       a launch per law over the list of its elements; one thread per element, blocks of
//                128
// Layout:        vectors as planes [3][n_nodes]; mesh.connectivity is [10][n_elements]
// Cost:          tetrahedra_laws: some 1150 operations per element; its number, connectivity (44 bytes)
//                and a modulus read per element, coordinates of the vertices (24 bytes) and x read and
//                y written per node; curved_tetrahedra_laws 2500, tetrahedra_laws_work 2000 operations
// Deterministic: tetrahedra_laws_work: yes; the others where no two elements of a launch share a node,
//                as with one launch per color
// Requires:      products: y = (1 - P) x beforehand (supports.cu); tetrahedra_laws_work: u and v are zero
//                at held components
// Oracle:        crates/topopt-cuda/tests/device/laws.rs

#define BLOCK 128

#include "common/tetrahedra_product.cuh"
#include "common/tetrahedra_work.cuh"
#include "common/laws.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4) tetrahedra_laws(
    VIEW(MeshView) mesh, VIEW(Part) part,     // of the list
    const unsigned* __restrict__ elements,    // those of the list
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(LawView) law,
    const double* __restrict__ moduli,        // [n_elements]
    const double* __restrict__ x,             // [3][n_nodes]
    double* __restrict__ y) {                 // [3][n_nodes]
    add_straight(mesh, part, elements, 0, held, at_supports, &law, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) curved_tetrahedra_laws(
    VIEW(MeshView) mesh, VIEW(Part) part,     // of the list
    const unsigned* __restrict__ elements,    // those of the list
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(LawView) law,
    const double* __restrict__ moduli,        // [n_elements]
    const double* __restrict__ x,             // [3][n_nodes]
    double* __restrict__ y) {                 // [3][n_nodes]
    add_curved(mesh, part, elements, held, at_supports, &law, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) tetrahedra_laws_work(
    VIEW(MeshView) mesh, VIEW(Part) part,  // of the list
    const unsigned* __restrict__ elements, // those of the list
    VIEW(LawView) law,
    const double* __restrict__ v,          // [3][n_nodes]
    const double* __restrict__ u,          // [3][n_nodes]
    double* __restrict__ work) {           // [n_elements]
    const unsigned in_launch = blockIdx.x * BLOCK + threadIdx.x;
    if (in_launch >= part.count) return;
    const unsigned e = elements[part.first + in_launch];
    work[e] = element_work(mesh, e, modulus_of(&law), &law, v, u);
}
