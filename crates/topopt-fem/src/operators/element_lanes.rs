//! Coordinates and coefficients of elements in SIMD lanes, one element per lane.

use pulp::Simd;

use super::trilinear::{LaneGroup, Nodal, from_group};
use crate::lanes::{Lanes, MAX_LANES};
use crate::{DIM, Elements};

/// Loads the coordinates of `elements`, at most one per lane; lanes left over repeat the last one.
#[inline(always)]
pub fn load_coordinates<S: Simd>(simd: S, of: &Elements, elements: &[u32]) -> Nodal<S> {
    let mut x: LaneGroup = [[[0.0; MAX_LANES]; DIM]; 8];
    for lane in 0..S::F64_LANES {
        let corners = of.corners(elements[lane.min(elements.len() - 1)] as usize);
        for a in 0..8 {
            for i in 0..DIM {
                x[a][i][lane] = corners[a][i];
            }
        }
    }
    from_group(simd, &x)
}

/// Loads the coefficients of `elements` for up to T terms; lanes left over get 0.
#[inline(always)]
pub fn load_coefficients<S: Simd, const T: usize>(
    simd: S,
    elements: &[u32],
    coefficients: &[&Vec<f64>],
) -> [Lanes<S>; T] {
    let mut loaded = [Lanes::splat(simd, 0.0); T];
    for (term, values) in coefficients.iter().enumerate() {
        let mut filled = [0.0; MAX_LANES];
        for lane in 0..elements.len() {
            filled[lane] = values[elements[lane] as usize];
        }
        loaded[term] = Lanes::load(simd, &filled);
    }
    loaded
}
