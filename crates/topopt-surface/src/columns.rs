//! `Columns`: cubes in columns along a direction, and the bodies that pass through them.

use manifold_rust::linalg::Vec3;
use rayon::prelude::*;
use topopt_mesh::BoundingBox;
use topopt_mesh::vector::{across, dot};

use crate::TriangleSurface;
use crate::body::Body;

/// Cubes in columns along a direction.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    /// Directions across that of the columns, and that one, upwards.
    axes: [[f64; 3]; 3],
    /// Center of the first cube, along these.
    first: [f64; 3],
    pub edge: f64,
    pub counts: [usize; 2],
    pub n_layers: usize,
}

/// Layers of a column in which the centers of the cubes are in a body, one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Run {
    pub from: usize,
    pub to: usize,
}

/// Runs of a body, `[n_columns]`, ascending.
pub(crate) type Runs = Vec<Vec<Run>>;

impl Columns {
    /// Columns along `up`, of length 1, of cubes with an `edge`, around `surface` and beside it to
    /// the distance of the `margin`.
    pub fn around(surface: &TriangleSurface, up: [f64; 3], edge: f64, margin: f64) -> Self {
        let [a, b] = across(up);
        let axes = [a, b, up];
        let turned = surface.vertices.iter().map(|&x| axes.map(|axis| dot(x, axis)));
        let bounds = BoundingBox::of(turned);
        let margins = [margin, margin, 0.0];
        let count = |k: usize| ((bounds.extent()[k] + 2.0 * margins[k]) / edge).ceil().max(1.0);
        let first = [0, 1, 2].map(|k| bounds.min[k] - margins[k] + 0.5 * edge);
        let [nx, ny, n_layers] = [0, 1, 2].map(|k| count(k) as usize);
        Self { axes, first, edge, counts: [nx, ny], n_layers }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.counts[0] * self.counts[1]
    }

    /// Column `c` and those beside it.
    pub fn around_column(&self, c: usize) -> impl Iterator<Item = usize> {
        let [nx, ny] = self.counts;
        let range = |x: usize, n: usize| x.saturating_sub(1)..(x + 2).min(n);
        let columns = range(c % nx, nx);
        range(c / nx, ny).flat_map(move |y| columns.clone().map(move |x| x + nx * y))
    }

    /// Center of the cube of column `c` in layer `k`.
    pub fn place(&self, c: usize, k: usize) -> [f64; 3] {
        let counted = [c % self.counts[0], c / self.counts[0], k];
        let along = |j: usize| self.first[j] + self.edge * counted[j] as f64;
        std::array::from_fn(|i| (0..3).map(|j| along(j) * self.axes[j][i]).sum())
    }

    /// Column and layer of the cube around a place, if there is one.
    pub fn at(&self, place: [f64; 3]) -> Option<(usize, usize)> {
        let counts = [self.counts[0], self.counts[1], self.n_layers];
        let mut counted = [0; 3];
        for j in 0..3 {
            let steps = ((dot(place, self.axes[j]) - self.first[j]) / self.edge).round();
            if steps < 0.0 || steps >= counts[j] as f64 {
                return None;
            }
            counted[j] = steps as usize;
        }
        Some((counted[0] + self.counts[0] * counted[1], counted[2]))
    }

    /// A layer with these `lengths`, `[n_columns]`.
    pub fn layer(&self, lengths: Vec<f64>) -> Layer {
        Layer { counts: self.counts, edge: self.edge, lengths }
    }

    /// Runs of a body.
    pub fn runs(&self, body: &Body) -> Runs {
        (0..self.len()).into_par_iter().map(|c| self.runs_of(c, body)).collect()
    }

    fn runs_of(&self, c: usize, body: &Body) -> Vec<Run> {
        // From one edge below the center of the first cube to one above that of the last.
        let height = (self.n_layers + 1) as f64 * self.edge;
        let [low, high] = [-self.edge, height - self.edge].map(|along| {
            let start = self.place(c, 0);
            let [x, y, z] = std::array::from_fn(|i| start[i] + along * self.axes[2][i]);
            Vec3 { x, y, z }
        });
        let hits = body.manifold.ray_cast(low, high);
        let ends: Vec<f64> = hits.iter().map(|hit| hit.distance * height).collect();
        // The first cube whose center is beyond the end: that of the first is at one edge.
        let layer =
            |end: f64| ((end / self.edge - 1.0).ceil().max(0.0) as usize).min(self.n_layers);
        let runs =
            ends.chunks_exact(2).map(|ends| Run { from: layer(ends[0]), to: layer(ends[1]) });
        runs.filter(|run| run.from < run.to).collect()
    }
}

/// Number of the run of a column that has layer `k`, if one has.
pub(crate) fn run_at(runs: &[Run], k: usize) -> Option<usize> {
    runs.iter().position(|run| run.from <= k && k < run.to)
}

/// Lengths of the cubes of a layer from others.
#[derive(Debug)]
pub(crate) struct Layer {
    pub counts: [usize; 2],
    pub edge: f64,
    /// Length of each cube, `[n_columns]`: infinite where it is not known, not a number where no
    /// way leads through.
    pub lengths: Vec<f64>,
}

/// Steps to half of the neighbors, those that come before in the order of the cubes.
const STEPS: [[isize; 2]; 8] =
    [[-1, 0], [-1, -1], [0, -1], [1, -1], [-2, -1], [2, -1], [-1, -2], [1, -2]];

impl Layer {
    /// Lowers each length to that of another cube and the way from there, by steps to sixteen
    /// neighbors, which are up to 2.7 % longer than the straight way; to and fro until none
    /// changes.
    pub fn spread(&mut self) {
        let n = self.lengths.len();
        loop {
            let mut changes = false;
            (0..n).for_each(|c| changes |= self.follow(c, 1));
            (0..n).rev().for_each(|c| changes |= self.follow(c, -1));
            if !changes {
                return;
            }
        }
    }

    /// Lowers the length of cube `c` by the neighbors before it, or after it with `sign` -1;
    /// returns whether that changes it.
    fn follow(&mut self, c: usize, sign: isize) -> bool {
        let old = self.lengths[c];
        if old.is_nan() {
            return false;
        }
        let [nx, ny] = self.counts.map(|n| n as isize);
        let (x, y) = (c as isize % nx, c as isize / nx);
        let mut least = old;
        for [dx, dy] in STEPS {
            let (x, y) = (x + sign * dx, y + sign * dy);
            if (0..nx).contains(&x) && (0..ny).contains(&y) {
                let way = ((dx * dx + dy * dy) as f64).sqrt() * self.edge;
                // What is not a number is never the least.
                least = least.min(self.lengths[(x + nx * y) as usize] + way);
            }
        }
        self.lengths[c] = least;
        least < old
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::tests::blocks;

    /// A cell from height 2 to 4 in columns from 0 to 6, of cubes with centers at 0.35, 1.05, ...
    #[test]
    fn a_body_fills_the_cubes_whose_centers_it_holds() {
        let around = blocks([1, 1, 3], |_| true);
        let cell = blocks([1, 1, 3], |x| x[2] == 1);
        for up in [1.0, -1.0] {
            let columns = Columns::around(&around, [0.0, 0.0, up], 0.7, 0.0);
            let runs = columns.runs(&Body::of(&cell).unwrap());
            assert_eq!(runs[1], [Run { from: 3, to: 6 }], "{up}");
        }
    }
}
