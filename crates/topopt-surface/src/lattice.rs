//! `Lattice`: a design as a field on points of equal spacing, which goes on beyond the part.

use rayon::prelude::*;

use crate::cones::Cones;
use crate::gauss_points::GaussPoints;
use crate::grid::Grid;

/// Spacing of the lattice in element widths.
const SPACING: f64 = 0.5;

/// Radius of the cone, in element widths.
const RADIUS: f64 = 2.5;

/// Sum of the weights, as a share of that within the part, at which the field is half of what it
/// would be: it falls to 0 at the end of the cones, which closes the surface out there.
const FAINT: f64 = 1e-3;

/// Points of which the volume is summed up by one task.
const CHUNK: usize = 4096;

/// Least level, of densities up to 1: that of a design that is solid everywhere, whose surface lies
/// outside of the part.
const LEAST: f64 = 0.05;

/// Evaluations of the volume that find the level.
const BISECTIONS: usize = 40;

/// A field on the points of a lattice, linear along its edges; 0 outside.
///
/// The field is the mean of the densities around, weighted by a cone and by the volumes of the
/// points: a quotient, so that it continues a design beyond the faces of the part, and its level
/// surfaces meet these squarely. A mean moves the surface of a bar inwards by its curvature; what
/// the mean lacks at the points is averaged again and added \[VanCittert1931\]. A second time would
/// bend a sixth more of the edges of a bracket, and gain a ball of seven elements 3 % of its width.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    grid: Grid,
    values: Vec<f64>,
    /// Largest radius of the cones.
    radius: f64,
}

impl Lattice {
    /// The field of `density`, `[n_points]`, at elements of about the `width`; none if the lattice
    /// would have too many points.
    pub fn of(points: &GaussPoints, density: &[f64], width: f64) -> Option<Self> {
        let radii = Cones::radii(points, RADIUS * width);
        let radius = radii.iter().copied().fold(0.0, f64::max);
        let grid = Grid::around(&points.places, SPACING * width, radius)?;
        let cones = Cones::new(points, (radii, RADIUS * width), grid);

        let weights = cones.sums(|_| 1.0);
        let share = |(sum, weight): (&f64, &f64)| sum / (weight + FAINT * Cones::INTEGRAL);
        let sums = cones.sums(|point| density[point]);
        let values = sums.par_iter().zip(&weights).map(share).collect();
        let mut field = Self { grid, values, radius };
        let lacking: Vec<f64> =
            field.at_points(points).zip(density).map(|(f, density)| density - f).collect();
        let sums = cones.sums(|point| lacking[point]);
        let added = sums.par_iter().zip(&weights).map(share);
        field.values.par_iter_mut().zip(added).for_each(|(value, added)| *value += added);
        Some(field)
    }

    /// The field at `x`.
    pub fn at(&self, x: [f64; 3]) -> f64 {
        let Grid { origin, spacing, counts } = self.grid;
        let place = [0, 1, 2].map(|i| (x[i] - origin[i]) / spacing);
        let is_inside = |i: usize| place[i] >= 0.0 && place[i] < (counts[i] - 1) as f64;
        if !(0..3).all(is_inside) {
            return 0.0;
        }
        let low = place.map(|place| place as usize);
        let [x, y, z] = [0, 1, 2].map(|i| place[i] - low[i] as f64);
        let first = low[0] + counts[0] * (low[1] + counts[1] * low[2]);
        let edge = |start: usize| self.values[start] * (1.0 - x) + self.values[start + 1] * x;
        let face = |start: usize| edge(start) * (1.0 - y) + edge(start + counts[0]) * y;
        face(first) * (1.0 - z) + face(first + counts[0] * counts[1]) * z
    }

    /// The box of the lattice.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let Grid { origin, spacing, counts } = self.grid;
        let end = |i: usize| origin[i] + spacing * (counts[i] - 1) as f64;
        [origin, [0, 1, 2].map(end)]
    }

    /// The level above which the volume of the points is that of `density`, `[n_points]`.
    pub fn level(&self, points: &GaussPoints, density: &[f64]) -> f64 {
        let target: f64 = density.iter().zip(&points.volumes).map(|(d, volume)| d * volume).sum();
        let values: Vec<f64> = self.at_points(points).collect();
        let mut low = LEAST;
        let mut high = values.par_iter().copied().reduce(|| low, f64::max);
        // Rise of the field across a plane surface, by the length.
        let slope = 1.0 / self.radius;
        let share = |value: f64, volume: f64, level: f64| {
            volume * (0.5 + (value - level) / (slope * volume.cbrt())).clamp(0.0, 1.0)
        };
        for _ in 0..BISECTIONS {
            let level = 0.5 * (low + high);
            let chunks = values.par_chunks(CHUNK).zip(points.volumes.par_chunks(CHUNK));
            let of_chunk = |(values, volumes): (&[f64], &[f64])| -> f64 {
                values.iter().zip(volumes).map(|(value, v)| share(*value, *v, level)).sum()
            };
            let sums: Vec<f64> = chunks.map(of_chunk).collect();
            let is_more = sums.iter().sum::<f64>() > target;
            *if is_more { &mut low } else { &mut high } = level;
        }
        0.5 * (low + high)
    }

    fn at_points(&self, points: &GaussPoints) -> impl IndexedParallelIterator<Item = f64> {
        points.places.par_iter().map(|&x| self.at(x))
    }
}
