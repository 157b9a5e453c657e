// precision: f64
// element: full modes
// laws: K u of hexahedra whose material is no isotropic one, with nothing stored, as mf.cu has it.
// laws_work: v_e^T K_e u_e at unit modulus, as energies.cu has it.
//
// Source:        the elements of mf.cu and energies.cu with the stresses of common/laws.cuh
// Mapping:       a launch per law over the list of its elements; one thread per element, blocks of 32
// Layout:        vectors as planes [3][n_nodes]
// Cost:          laws: some 2300 operations per element, by modes 2100; laws_work 2700, by modes 2100;
//                its number, connectivity (36 bytes) and a modulus read per element; coordinates (24
//                bytes) and x read and y written per node
// Deterministic: laws_work: yes; laws: where no two elements of a launch share a node, as with one
//                launch per color
// Requires:      laws: y = (1 - P) x beforehand (supports.cu); laws_work: u and v are zero at held
//                components
// Oracle:        crates/topopt-cuda/tests/device/laws.rs

#define BLOCK 32

#include "common/element_product.cuh"
#include "common/element_work.cuh"
#include "common/laws.cuh"

#ifdef BY_MODES
#define RESIDENT_BLOCKS 14
#else
#define RESIDENT_BLOCKS 12
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_BLOCKS) laws(
    VIEW(MeshView) mesh, VIEW(Part) part,     // of the list
    const unsigned* __restrict__ elements,    // those of the list
    const unsigned char* __restrict__ held,   // [n_nodes], bit i for component i
    const unsigned* __restrict__ at_supports, // a bit per element: has it a held node?
    VIEW(LawView) law,
    const double* __restrict__ moduli,        // [n_elements]
    const double* __restrict__ x,             // [3][n_nodes]
    double* __restrict__ y) {                 // [3][n_nodes]
    add_product<false, false>(mesh, part, elements, held, at_supports, &law, moduli, x, y);
}

extern "C" __global__ void __launch_bounds__(BLOCK) laws_work(
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
