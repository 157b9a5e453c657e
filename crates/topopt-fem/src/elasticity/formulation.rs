//! Integrals of elasticity that depend on the formulation of hexahedra.

use pulp::{Scalar, Simd};

use super::integrals::{element_forces, lane_diagonal_blocks};
use super::mean_gradient::mode_forces;
use super::modes;
use super::twins::Twin;
use crate::Formulation;
use crate::elements::Corners;
use crate::operators::{Lanes, Nodal};

/// Forces at the nodes of elements by a formulation.
#[inline(always)]
pub fn forces<S: Simd>(
    simd: S,
    formulation: Formulation,
    x: &Nodal<S>,
    u: &Nodal<S>,
    modulus: Lanes<S>,
    lame: (f64, f64),
) -> Nodal<S> {
    match formulation {
        Formulation::Full => element_forces(simd, x, u, modulus, lame),
        Formulation::Incompatible => mode_forces(simd, [x, u], modulus, lame),
    }
}

/// The blocks of K_e that couple each node with itself, (xx, xy, yy, zx, yz, zz); see
/// [`crate::ElementKernel::diagonal_blocks`].
pub fn diagonal_blocks(
    hex: &[u32; 8],
    x: &Corners,
    formulation: Formulation,
    lame: (f64, f64),
) -> [[f64; 6]; 8] {
    let simd = Scalar;
    let x = x.map(|x| x.map(|x| Lanes::splat(simd, x)));
    let twins: Vec<Twin> = Twin::all(hex, 0).collect();
    let number = |lane: Lanes<Scalar>| {
        let mut value = [0.0];
        lane.store(&mut value);
        value[0]
    };
    diagonal_blocks_of(simd, formulation, &x, &twins, lame).map(|block| block.map(number))
}

/// Diagonal blocks of K_e for elements in lanes with coordinates `x`; `twins` are their repeated
/// nodes.
#[inline(always)]
pub fn diagonal_blocks_of<S: Simd>(
    simd: S,
    formulation: Formulation,
    x: &Nodal<S>,
    twins: &[Twin],
    lame: (f64, f64),
) -> [[Lanes<S>; 6]; 8] {
    match formulation {
        Formulation::Full => lane_diagonal_blocks(simd, x, twins, lame),
        Formulation::Incompatible => modes::diagonal_blocks(simd, x, twins, lame),
    }
}
