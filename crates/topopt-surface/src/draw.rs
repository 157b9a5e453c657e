//! `Draw`: the way of a cast part out of its mold, along which a field has no undercuts.

use rayon::prelude::*;

use crate::grid::Grid;

/// Way of a cast part out of its mold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// Direction of draw, of length 1.
    pub direction: [f64; 3],
    /// Whether the mold opens to two sides, along the direction and against it.
    pub is_two_sided: bool,
}

impl Draw {
    /// The `values` of a field on a `grid` with its undercuts filled: below a value there is no
    /// smaller one. Between two sides of a mold what is filled lies below both. A point that is not
    /// `near` the part keeps its value, and what lies beyond it does not count: a part may have
    /// undercuts of its own.
    pub(crate) fn filled(&self, grid: &Grid, values: &[f64], near: &[bool]) -> Vec<f64> {
        let mut filled = raised(grid, values, near, self.direction);
        if self.is_two_sided {
            let other = raised(grid, values, near, self.direction.map(|x| -x));
            let both = filled.par_iter_mut().zip(other);
            both.for_each(|(filled, other)| *filled = filled.min(other));
        }
        filled
    }
}

/// The `values` on a `grid` raised to those that lie in the `direction` from them, layer by
/// layer along the axis that it follows most.
fn raised(grid: &Grid, values: &[f64], near: &[bool], direction: [f64; 3]) -> Vec<f64> {
    let size = |axis: &usize| direction[*axis].abs();
    let axis = (0..3).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(0);
    let [across, over] = [(axis + 1) % 3, (axis + 2) % 3];
    let steps = [across, over].map(|other| direction[other] / direction[axis].abs());
    let (n, counts) = (grid.counts[axis], [grid.counts[across], grid.counts[over]]);

    // Values in the layer before, which lies in the direction.
    let (mut all, mut before) = (values.to_vec(), vec![0.0; counts[0] * counts[1]]);
    for k in 0..n {
        let layer = if direction[axis] > 0.0 { n - 1 - k } else { k };
        let points = grid.layer(axis, layer);
        let raised = points.par_iter().enumerate().map(|(place, &point)| match near[point] {
            true => values[point].max(beyond(&before, counts, place, steps)),
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
