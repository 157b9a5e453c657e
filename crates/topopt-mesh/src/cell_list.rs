//! All points within a radius, by a cell list.

use std::ops::Range;

use rayon::prelude::*;

use crate::BoundingBox;
use crate::counting_sort::{Grouped, grouped};

/// Points sorted into the cells of a grid, so that those near a place are found by walking the
/// cells around it.
#[derive(Debug, Clone)]
pub struct CellList {
    radius: f64,
    cell: f64,
    origin: [f64; 3],
    cells: [usize; 3],
    /// Points of cell c: `starts[c]..starts[c + 1]` in `points` and `ids`.
    starts: Vec<u32>,
    points: Vec<[f64; 3]>,
    ids: Vec<u32>,
}

impl CellList {
    /// Sorts `points` for searches within `radius` > 0 (length).
    pub fn new(points: &[[f64; 3]], radius: f64) -> Self {
        let bounds = BoundingBox::around(points);
        let cell = cell_size(bounds.extent(), radius, points.len());
        let cells = bounds.extent().map(|length| (length / cell) as usize + 1);
        let (starts, ids) = (Vec::new(), Vec::new());
        let mut list =
            Self { radius, cell, origin: bounds.min, cells, starts, points: Vec::new(), ids };
        let keys: Vec<u32> = points.par_iter().map(|x| list.cell_of(x) as u32).collect();
        let Grouped { offsets: starts, values } =
            grouped(&keys, cells.iter().product(), |id| id as u32);
        list.ids = values;
        list.points = list.ids.par_iter().map(|&id| points[id as usize]).collect();
        list.starts = starts.into_par_iter().map(|start| start as u32).collect();
        list
    }

    /// Number of cells for `n_points` points in a box with edges `extent`.
    pub fn n_cells(extent: [f64; 3], radius: f64, n_points: usize) -> usize {
        let cell = cell_size(extent, radius, n_points);
        extent.iter().map(|length| (length / cell) as usize + 1).product()
    }

    /// Calls `visit(id, distance)` for every point within the radius of `center`, that at
    /// `center` itself included, always in the same order; returns how many points it looked at.
    pub fn for_each_within(&self, center: [f64; 3], mut visit: impl FnMut(u32, f64)) -> usize {
        let mut walked = 0;
        for run in self.runs_near(center, center) {
            walked += run.len();
            self.within(run, center).for_each(|(id, distance)| visit(id, distance));
        }
        walked
    }

    /// Whether `is_wanted(id, distance)` holds for any point within the radius of `center`.
    pub fn any_within(&self, center: [f64; 3], is_wanted: impl Fn(u32, f64) -> bool) -> bool {
        self.runs_near(center, center)
            .any(|run| self.within(run, center).any(|(id, distance)| is_wanted(id, distance)))
    }

    /// Yields the points of a `run` within the radius of `center`, with their distances.
    fn within(&self, run: Range<usize>, center: [f64; 3]) -> impl Iterator<Item = (u32, f64)> + '_ {
        let points = self.points[run.clone()].iter().zip(&self.ids[run]);
        points.filter_map(move |(point, &id)| {
            let square: f64 = (0..3).map(|i| (point[i] - center[i]).powi(2)).sum();
            (square <= self.radius * self.radius).then(|| (id, square.sqrt()))
        })
    }

    /// Iterates over runs of places in [`CellList::points`] that hold all points within the radius
    /// of any place in the box from `low` to `high`, and others nearby. Runs come in increasing
    /// order.
    pub fn runs_near(
        &self,
        low: [f64; 3],
        high: [f64; 3],
    ) -> impl Iterator<Item = Range<usize>> + '_ {
        let reach = self.radius * (1.0 + 1e-12); // a cell on the border is looked into
        let rows = self
            .range(low[2] - reach, high[2] + reach, 2)
            .flat_map(move |z| self.range(low[1] - reach, high[1] + reach, 1).map(move |y| (y, z)));
        rows.filter_map(move |(y, z)| {
            let rest = reach * reach - self.distance(low[2], high[2], z, 2).powi(2);
            let half = (rest - self.distance(low[1], high[1], y, 1).powi(2)).sqrt();
            // No root where the row is out of reach.
            (half >= 0.0).then(|| self.run(self.range(low[0] - half, high[0] + half, 0), y, z))
        })
    }

    /// Calls `visit(id, point)` for every point of the cells that the box from `low` to `high`
    /// touches: all points in the box, and others nearby.
    pub fn for_each_near_box(
        &self,
        low: [f64; 3],
        high: [f64; 3],
        mut visit: impl FnMut(u32, [f64; 3]),
    ) {
        for z in self.range(low[2], high[2], 2) {
            for y in self.range(low[1], high[1], 1) {
                let run = self.run(self.range(low[0], high[0], 0), y, z);
                for (point, &id) in self.points[run.clone()].iter().zip(&self.ids[run]) {
                    visit(id, *point);
                }
            }
        }
    }

    /// Number of cells in each direction; cells are numbered with x fastest.
    pub fn cells(&self) -> [usize; 3] {
        self.cells
    }

    /// Edge of a cell (length).
    pub fn cell_size(&self) -> f64 {
        self.cell
    }

    /// Lowest corner of the first cell.
    pub fn origin(&self) -> [f64; 3] {
        self.origin
    }

    /// Returns the start of each cell in [`CellList::points`], then the number of points.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// All points, cell by cell.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Returns the index of each of [`CellList::points`] in the order given, `[n_points]`.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Number of rows of cells, along x.
    pub fn n_rows(&self) -> usize {
        self.cells[1] * self.cells[2]
    }

    /// The points of a row of cells in [`CellList::points`].
    pub fn row(&self, row: usize) -> Range<usize> {
        let starts = [row, row + 1].map(|row| self.starts[row * self.cells[0]] as usize);
        starts[0]..starts[1]
    }

    /// The points of cells `x` of a row: they are one run in memory.
    fn run(&self, x: Range<usize>, y: usize, z: usize) -> Range<usize> {
        let row = self.cells[0] * (y + self.cells[1] * z);
        self.starts[row + x.start] as usize..self.starts[row + x.end] as usize
    }

    /// The cells from one coordinate to another.
    fn range(&self, low: f64, high: f64, direction: usize) -> Range<usize> {
        self.index(low, direction)..self.index(high, direction) + 1
    }

    /// Lower bound of the distance between cells of an `index` and an interval, less some rounding.
    fn distance(&self, low: f64, high: f64, index: usize, direction: usize) -> f64 {
        let start = self.origin[direction] + index as f64 * self.cell;
        ((start - high).max(low - start - self.cell) - SLACK * self.cell).max(0.0)
    }

    fn cell_of(&self, point: &[f64; 3]) -> usize {
        let [x, y, z] = std::array::from_fn(|i| self.index(point[i], i));
        x + self.cells[0] * (y + self.cells[1] * z)
    }

    fn index(&self, coordinate: f64, direction: usize) -> usize {
        let index = ((coordinate - self.origin[direction]) / self.cell) as usize; // < 0 gives 0
        index.min(self.cells[direction] - 1)
    }
}

/// Largest distance by which rounding may move a point out of its cell, in cell edges.
const SLACK: f64 = 1e-6;

/// A third of the radius, or more where that would make many more cells than points.
fn cell_size(extent: [f64; 3], radius: f64, n_points: usize) -> f64 {
    let mut cell = radius / 3.0;
    let count =
        |cell: f64| extent.iter().map(|length| (length / cell).floor() + 1.0).product::<f64>();
    let most = f64::min(4.0 * n_points as f64 + 64.0, f64::from(u32::MAX));
    while count(cell) > most {
        cell *= 1.25;
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_brute_force_finds() {
        let wave = |i: usize, k: f64| (i as f64 * k).sin() * 5.0;
        let points: Vec<[f64; 3]> =
            (0..500).map(|i| [wave(i, 1.3), wave(i, 2.1), 0.2 * wave(i, 0.7)]).collect();
        for radius in [0.01, 0.8, 3.0, 100.0] {
            let list = CellList::new(&points, radius);
            for (i, &center) in points.iter().enumerate().step_by(37) {
                let mut found = Vec::new();
                list.for_each_within(center, |id, d| found.push((id, d)));
                found.sort_by_key(|(id, _)| *id);
                let distance =
                    |p: &[f64; 3]| (0..3).map(|k| (p[k] - center[k]).powi(2)).sum::<f64>().sqrt();
                let expected: Vec<u32> = (0..points.len() as u32)
                    .filter(|&j| distance(&points[j as usize]) <= radius)
                    .collect();
                assert_eq!(found.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected);
                assert!(found.contains(&(i as u32, 0.0)));
            }
        }
    }

    #[test]
    fn points_in_a_plane_and_a_single_point() {
        let plane: Vec<[f64; 3]> = (0..9).map(|i| [(i % 3) as f64, (i / 3) as f64, 0.5]).collect();
        let mut count = 0;
        CellList::new(&plane, 1.0).for_each_within(plane[4], |_, _| count += 1);
        assert_eq!(count, 5);
        CellList::new(&plane[..1], 1e-9).for_each_within(plane[0], |id, d| {
            assert_eq!((id, d), (0, 0.0));
            count += 1;
        });
        assert_eq!(count, 6);
    }
}
