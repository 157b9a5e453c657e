// precision: f64 f32
// element: full modes
// diffusion: (k L + c M) u with one unknown per node and nothing stored: conduction, and capacity
// lumped to the diagonal; geometry from the coordinates.
//
// Source:        L_ab = integral of grad N_a . grad N_b and M_aa = integral of N_a; full: by the
//                2x2x2 Gauss rule on trilinear fields as common/trilinear.cuh holds them; modes: L by
//                modes of the gradient in closed form (common/conduction_modes.cuh)
// Mapping:       one thread per element, blocks of 128; diffusion_dot leaves what a block adds to x . y;
//                diffusion_to_slots, diffusion_to_slots_dot: with products in slots, to be gathered
//                (dbd.cu)
// Layout:        vectors [n_nodes], coefficients [n_elements], slots [8][n_elements] by position in the element
// Cost:          full: 1030 operations per element, 150 of them for a capacity, 144 bytes of shared
//                memory per thread; modes: 520, and 450 where it has a capacity; connectivity (32
//                bytes) and two coefficients read per element; coordinates (24 bytes) and x read and y
//                written per node
// Deterministic: where no two elements of a launch share a node, as with one launch per color; in one
//                launch of all elements the order of additions at a node is not fixed; slots: yes
// Requires:      y = (1 - P) x beforehand (supports.cu), except for slots; for a dot product: x is zero
//                at held nodes
// Oracle:        crates/topopt-cuda/tests/device/diffusion.rs

#define STRETCHED 0

#include "common/diffusion.cuh"
