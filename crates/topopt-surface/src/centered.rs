//! A body-centered lattice with the values of a field.

use rayon::prelude::*;

/// Values on the corners and centers of cubes.
///
/// A point has the number of its cube, from a layer outside of the box on, and 0 for the cube's
/// first corner or 1 for its center: even and odd numbers.
pub(crate) struct Centered {
    pub low: [f64; 3],
    high: [f64; 3],
    /// Edges of a cube.
    pub spacing: [f64; 3],
    /// Cubes along the axes, with a layer outside on both sides.
    pub counts: [usize; 3],
    /// Values, positive inside, `[n_points]`.
    pub values: Vec<f64>,
}

/// Steps from a corner, in cubes, and to a center or none, to half of the neighbors; those from
/// centers are the same, as are those backwards.
pub(crate) const STEPS: [([isize; 3], usize); 7] = [
    ([0, 0, 0], 1),
    ([1, 0, 0], 0),
    ([0, 1, 0], 0),
    ([0, 0, 1], 0),
    ([-1, 0, 0], 1),
    ([0, -1, 0], 1),
    ([0, 0, -1], 1),
];

impl Centered {
    pub fn of(
        value: impl Fn([f64; 3]) -> f64 + Sync,
        [low, high]: [[f64; 3]; 2],
        spacing: f64,
    ) -> Self {
        let n = [0, 1, 2].map(|i| ((high[i] - low[i]) / spacing) as usize + 1);
        let spacing = [0, 1, 2].map(|i| (high[i] - low[i]) / (n[i] - 1).max(1) as f64);
        let mut lattice = Self { low, high, spacing, counts: n.map(|n| n + 3), values: Vec::new() };
        let n_points = 2 * lattice.counts.iter().product::<usize>();
        let values = (0..n_points).into_par_iter().map(|point| lattice.bounded(point, &value));
        lattice.values = values.collect();
        lattice
    }

    /// Value at a point: none that is positive at the ends of the box or beyond.
    fn bounded(&self, point: usize, value: impl Fn([f64; 3]) -> f64) -> f64 {
        let cube = self.cube(point);
        // Layers to the nearest end, where the outermost corners are.
        let layers = |i: usize| {
            let from_last = (self.counts[i] - 2) as isize - cube[i] as isize;
            (cube[i] as isize - 1).min(from_last - (point % 2) as isize)
        };
        match (0..3).map(layers).min() {
            Some(..0) | None => 0.0,
            Some(0) => value(self.place(point)).min(0.0),
            Some(_) => value(self.place(point)),
        }
    }

    pub fn cube(&self, point: usize) -> [usize; 3] {
        let ([_, ny, nz], cube) = (self.counts, point / 2);
        [cube / (ny * nz), cube / nz % ny, cube % nz]
    }

    pub fn place(&self, point: usize) -> [f64; 3] {
        let (cube, offset) = (self.cube(point), 0.5 * (point % 2) as f64 - 0.5);
        [0, 1, 2].map(|i| self.low[i] + self.spacing[i] * (cube[i] as f64 - 1.0 + offset))
    }

    /// The neighbor of a point by one of the [`STEPS`], backwards with the `sign` -1.
    pub fn neighbor(&self, point: usize, step: usize, sign: isize) -> usize {
        let [_, ny, nz] = self.counts.map(|n| n as isize);
        let ([x, y, z], half) = STEPS[step];
        // From a center to a corner beyond, or from a corner back to a center.
        let is_corner = point.is_multiple_of(2);
        let carry = match (half, sign, is_corner) {
            (1, 1, false) => 1,
            (1, -1, true) => -1,
            _ => 0,
        };
        let cubes = [x, y, z].map(|step| sign * step + carry);
        let moved = (cubes[0] * ny + cubes[1]) * nz + cubes[2];
        let cube = (point / 2) as isize + moved;
        2 * cube as usize + ((point % 2) ^ half)
    }

    /// The steps from a point to neighbors beyond the surface, and these.
    pub fn beyond(&self, point: usize) -> impl Iterator<Item = (usize, usize)> {
        let ends = (0..STEPS.len()).map(move |step| (step, self.neighbor(point, step, 1)));
        ends.filter(move |(_, end)| self.is_inside(*end) != self.is_inside(point))
    }

    pub fn is_inside(&self, point: usize) -> bool {
        self.values[point] > 0.0
    }

    /// The place between two points where the field is 0.
    pub fn crossing(&self, from: usize, to: usize) -> [f64; 3] {
        let [a, b] = [from, to].map(|point| self.values[point]);
        let [x, y] = [from, to].map(|point| self.place(point));
        let share = match (a == 0.0, b == 0.0) {
            (true, _) => 0.0,
            (_, true) => 1.0,
            _ => a / (a - b),
        };
        [0, 1, 2].map(|i| x[i] * (1.0 - share) + y[i] * share)
    }

    /// A place, or that on the box next to it.
    pub fn within(&self, x: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|i| x[i].max(self.low[i]).min(self.high[i]))
    }
}
