//! `Ramps`: how much of a body lies above a level of a field, from points of it.

use rayon::prelude::*;

/// Points of a body, `[n]` each: the value of a field there, the volume that a point stands for,
/// and the rise of the field across it. A point is above a level as far as a plane through it
/// would leave a cube of its volume.
pub(crate) struct Ramps<'a> {
    pub values: &'a [f64],
    pub volumes: &'a [f64],
    pub rises: &'a [f64],
}

/// Number of points whose volumes one task adds up, so that sums do not depend on the number of
/// threads.
const CHUNK: usize = 4096;

/// Halvings of a range of levels.
const BISECTIONS: usize = 40;

impl Ramps<'_> {
    /// Volume of a point above the `level`.
    pub fn above_at(&self, point: usize, level: f64) -> f64 {
        let share = 0.5 + (self.values[point] - level) / self.rises[point];
        self.volumes[point] * share.clamp(0.0, 1.0)
    }

    /// Volume of all points above the `level`.
    pub fn above(&self, level: f64) -> f64 {
        let n = self.values.len();
        let of_chunk = |first: usize| -> f64 {
            let points = first..(first + CHUNK).min(n);
            points.map(|point| self.above_at(point, level)).sum()
        };
        let chunks = (0..n).into_par_iter().step_by(CHUNK);
        let sums: Vec<f64> = chunks.map(of_chunk).collect();
        sums.iter().sum()
    }

    /// The level from `low` to `high` above which the `volume` lies, or else the nearer end.
    pub fn level(&self, volume: f64, [mut low, mut high]: [f64; 2]) -> f64 {
        for _ in 0..BISECTIONS {
            let level = 0.5 * (low + high);
            *if self.above(level) > volume { &mut low } else { &mut high } = level;
        }
        0.5 * (low + high)
    }
}
