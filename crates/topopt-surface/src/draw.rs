//! `Draw`: the ways of a mold or of tools out of a part, along which a field has no undercuts.

use std::f64::consts::TAU;

use rayon::prelude::*;
use serde::Serialize;
use topopt_mesh::vector::{across, dot};

use crate::grid::Grid;

/// Ways in which a mold or tools leave a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draw {
    /// Directions out of the part, of length 1. A place is filled along the one that fills it
    /// least.
    pub ways: Vec<[f64; 3]>,
    /// Height along the first way of the plane in which a mold of two sides parts, if it is given:
    /// places above it are filled along the first way, those below along the second.
    pub parting: Option<f64>,
    /// Angle of draft between the walls and the ways, in radians.
    pub draft: f64,
}

/// Rays on the cone of a draft.
const RAYS: usize = 8;

impl Draw {
    /// The `values` of a field on a `grid` with its undercuts filled: below a value there is no
    /// smaller one within the cone of the draft, along one of the ways at least. A point that is
    /// not `near` the part keeps its value, and what lies beyond it does not count: a part may have
    /// undercuts of its own.
    pub(crate) fn filled(&self, grid: &Grid, values: &[f64], near: &[bool]) -> Vec<f64> {
        let along = |way: &[f64; 3]| raised(grid, values, near, &self.rays(*way));
        let mut all = self.ways.iter().map(along);
        let first = all.next().unwrap_or_else(|| values.to_vec());
        all.fold(first, |mut filled, other| {
            let both = filled.par_iter_mut().zip(other).enumerate();
            both.for_each(|(point, (filled, other))| match self.parting {
                Some(_) if self.is_above(grid.point(point)) => {}
                Some(_) => *filled = other,
                None => *filled = filled.min(other),
            });
            filled
        })
    }

    /// Whether a place is above the plane in which the mold parts.
    pub(crate) fn is_above(&self, place: [f64; 3]) -> bool {
        self.parting.is_none_or(|height| dot(place, self.ways[0]) >= height)
    }

    /// Directions out of the part along a way: the way first, and those on the cone of the draft,
    /// of any length.
    fn rays(&self, out: [f64; 3]) -> Vec<[f64; 3]> {
        let tangents = across(out);
        let ray = |k: usize| {
            let (sin, cos) = (TAU * k as f64 / RAYS as f64).sin_cos();
            let lean = self.draft.tan();
            std::array::from_fn(|i| out[i] + lean * (cos * tangents[0][i] + sin * tangents[1][i]))
        };
        let n_rays = if self.draft > 0.0 { RAYS } else { 0 };
        std::iter::once(out).chain((0..n_rays).map(ray)).collect()
    }
}

/// The `values` on a `grid` raised to those that lie along `rays` from them, layer by layer along
/// the axis that the first one follows most.
fn raised(grid: &Grid, values: &[f64], near: &[bool], rays: &[[f64; 3]]) -> Vec<f64> {
    let size = |axis: &usize| rays[0][*axis].abs();
    let axis = (0..3).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(0);
    let [across, over] = [(axis + 1) % 3, (axis + 2) % 3];
    let along = |ray: &&[f64; 3]| ray[axis] * rays[0][axis] > 0.0;
    let steps = rays.iter().filter(along);
    let steps: Vec<[f64; 2]> =
        steps.map(|ray| [across, over].map(|other| ray[other] / ray[axis].abs())).collect();
    let (n, counts) = (grid.counts[axis], [grid.counts[across], grid.counts[over]]);

    // Values in the layer before, which lies in the direction.
    let (mut all, mut before) = (values.to_vec(), vec![0.0; counts[0] * counts[1]]);
    for k in 0..n {
        let layer = if rays[0][axis] > 0.0 { n - 1 - k } else { k };
        let points = grid.layer(axis, layer);
        let most = |place| {
            let beyond = steps.iter().map(|&step| beyond(&before, counts, place, step));
            beyond.reduce(f64::max).unwrap_or(0.0)
        };
        let raised = points.par_iter().enumerate().map(|(place, &point)| match near[point] {
            true => values[point].max(most(place)),
            false => values[point],
        });
        let raised: Vec<f64> = raised.collect();
        points.iter().zip(&raised).for_each(|(&point, value)| all[point] = *value);
        before = raised;
    }
    all
}

/// The value in a layer a number of `steps` from a point, linear between its points; 0 outside.
fn beyond(layer: &[f64], counts: [usize; 2], point: usize, steps: [f64; 2]) -> f64 {
    let place = [point % counts[0], point / counts[0]];
    let place = [0, 1].map(|i| place[i] as f64 + steps[i]);
    let low = place.map(f64::floor);
    let value = |i: f64, j: f64| {
        let is_inside = i >= 0.0 && j >= 0.0 && i < counts[0] as f64 && j < counts[1] as f64;
        if is_inside { layer[i as usize + counts[0] * j as usize] } else { 0.0 }
    };
    let [x, y] = [0, 1].map(|i| place[i] - low[i]);
    let row = |j: f64| (1.0 - x) * value(low[0], j) + x * value(low[0] + 1.0, j);
    (1.0 - y) * row(low[1]) + y * row(low[1] + 1.0)
}
