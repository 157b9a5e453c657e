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

/// Halvings of a range of levels, and how many leave out points once.
const BISECTIONS: usize = 40;
const NARROWED: usize = 3;

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
        let numbers: Vec<u32> = (0..self.values.len() as u32).collect();
        let mut chunks: Vec<Open> = numbers.par_chunks(CHUNK).map(Open::of).collect();
        for step in 1..=BISECTIONS {
            let level = 0.5 * (low + high);
            let volumes = chunks.par_iter().map(|chunk| chunk.above(self, level));
            let above: f64 = volumes.collect::<Vec<_>>().iter().sum();
            *if above > volume { &mut low } else { &mut high } = level;
            if step.is_multiple_of(NARROWED) {
                chunks.par_iter_mut().for_each(|chunk| chunk.narrow(self, [low, high]));
            }
        }
        0.5 * (low + high)
    }
}

/// Points of which a range of levels does not tell whether they are above.
struct Open {
    points: Vec<u32>,
    /// Volume of others, which are above.
    volume: f64,
}

impl Open {
    fn of(points: &[u32]) -> Self {
        Self { points: points.to_vec(), volume: 0.0 }
    }

    /// Volume above the `level`.
    fn above(&self, ramps: &Ramps, level: f64) -> f64 {
        let points = self.points.iter().map(|&point| ramps.above_at(point as usize, level));
        self.volume + points.sum::<f64>()
    }

    /// Leaves out points that are all above levels from `low` to `high`, or all below.
    fn narrow(&mut self, ramps: &Ramps, [low, high]: [f64; 2]) {
        self.points.retain(|&point| {
            let [least, most] = [high, low].map(|level| ramps.above_at(point as usize, level));
            let is_above = least == ramps.volumes[point as usize];
            self.volume += if is_above { least } else { 0.0 };
            !is_above && most > 0.0
        });
    }
}
