//! `Lattice`: a design as a field on points of equal spacing, which goes on beyond the part.

use rayon::prelude::*;

use crate::cones::Cones;
use crate::draw::Draw;
use crate::gauss_points::GaussPoints;
use crate::grid::Grid;
use crate::ramps::Ramps;

/// Spacing of the lattice in element widths.
const SPACING: f64 = 0.5;

/// Radius of the cone, in element widths.
const RADIUS: f64 = 2.5;

/// Sum of the weights, as a share of that within the part, at which the field is half of what it
/// would be: it falls to 0 at the end of the cones, which closes the surface out there.
const FAINT: f64 = 1e-3;

/// Least level, of densities up to 1: that of a design that is solid everywhere, whose surface lies
/// outside of the part.
const LEAST: f64 = 0.05;

/// Means of values at points, weighted by a cone and by the volumes of the points.
pub(crate) struct Means<'a> {
    pub points: &'a GaussPoints,
    cones: Cones<'a>,
    /// Sums of the weights.
    weights: Vec<f64>,
}

/// Least sum of the weights at a point of the lattice that is near the part, as a share of that
/// within it.
const NEAR: f64 = 0.1;

impl Means<'_> {
    /// The means of `values`, `[n_points]`, on the lattice.
    pub fn of(&self, values: &[f64]) -> Vec<f64> {
        let sums = self.cones.sums(|point| values[point]);
        let share = |(sum, weight): (&f64, &f64)| sum / (weight + FAINT * Cones::INTEGRAL);
        sums.par_iter().zip(&self.weights).map(share).collect()
    }

    /// Whether each point of the lattice is near the part.
    fn near(&self) -> Vec<bool> {
        self.weights.iter().map(|weight| *weight > NEAR * Cones::INTEGRAL).collect()
    }
}

/// A field on the points of a lattice, linear along its edges; 0 outside.
///
/// The field is the mean of the densities around, weighted by a cone and by the volumes of the
/// points: a quotient, so that it continues a design beyond the faces of the part, and its level
/// surfaces meet these squarely. A mean moves the surface of a bar inwards by its curvature; what
/// the mean lacks at the points is averaged again and added \[VanCittert1931\]. A second time would
/// bend a sixth more of the edges of a bracket, and gain a ball of seven elements 3 % of its width.
/// Members of one element, which are left near the level, are lifted above it.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    grid: Grid,
    values: Vec<f64>,
    /// Largest radius of the cones.
    radius: f64,
}

impl Lattice {
    /// The field of `density`, `[n_points]`, at elements of about the `width`, without undercuts
    /// along a `draw`, with the level that is `given` or keeps the volume; none if the lattice
    /// would have too many points.
    pub fn of(
        points: &GaussPoints,
        density: &[f64],
        width: f64,
        (given, draw): (Option<f64>, Option<&Draw>),
    ) -> Option<(Self, f64)> {
        let radii = Cones::radii(points, RADIUS * width);
        let radius = radii.iter().copied().fold(0.0, f64::max);
        let grid = Grid::around(&points.places, SPACING * width, radius)?;
        let cones = Cones::new(points, (radii, RADIUS * width), grid);

        let means = Means { weights: cones.sums(|_| 1.0), cones, points };
        let mut field = Self { values: means.of(density), grid, radius };
        let lacking: Vec<f64> =
            field.at_points(points).zip(density).map(|(f, density)| density - f).collect();
        field.add(&means.of(&lacking));
        let mut level = field.lift_ridges(&means, density, width, given);
        if let Some(draw) = draw {
            field.values = draw.filled(&grid, &field.values, &means.near());
            level = given.unwrap_or_else(|| field.level(points, density));
        }
        Some((field, level))
    }

    /// Adds to the values.
    pub fn add(&mut self, added: &[f64]) {
        self.values.par_iter_mut().zip(added).for_each(|(value, added)| *value += added);
    }

    /// The lattice with other values.
    pub fn with(&self, values: Vec<f64>) -> Self {
        Self { values, ..*self }
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
        let volume = density.iter().zip(&points.volumes).map(|(d, volume)| d * volume).sum();
        let values: Vec<f64> = self.at_points(points).collect();
        let most = values.par_iter().copied().reduce(|| LEAST, f64::max);
        // Rise of the field across a point's width in a plane surface.
        let slope = 1.0 / self.radius;
        let rises: Vec<f64> = points.volumes.par_iter().map(|v| slope * v.cbrt()).collect();
        let ramps = Ramps { values: &values, volumes: &points.volumes, rises: &rises };
        ramps.level(volume, [LEAST, most])
    }

    pub fn at_points(&self, points: &GaussPoints) -> impl IndexedParallelIterator<Item = f64> {
        points.places.par_iter().map(|&x| self.at(x))
    }
}
