//! The formulation of hexahedra, and the integrals that depend on it.

use pulp::{Scalar, Simd};
use serde::Serialize;

use super::integrals::{element_forces, lane_diagonal_blocks};
use super::mean_gradient::mode_forces;
use super::modes;
use super::twins::Twin;
use crate::elements::Corners;
use crate::operators::{Lanes, Nodal};

/// Strains that a hexahedron takes into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Formulation {
    /// Strains of trilinear displacements at the 2x2x2 Gauss points, without bubble or B-bar terms.
    #[default]
    Full,
    /// Strain modes with incompatible modes condensed, see [`crate::StrainMode`].
    Incompatible,
}

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
