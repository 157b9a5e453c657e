//! `Lattice`: a design as a field on points of equal spacing, which goes on beyond the part.

use rayon::prelude::*;
use topopt_mesh::BoundingBox;

use crate::gauss_points::GaussPoints;

/// Spacing of the lattice in element widths.
const SPACING: f64 = 0.5;

/// Radius of the cone, in element widths, and in the distance across which the points of an element
/// lie, where that is large: without a hole between the cones of large or long elements.
const RADIUS: f64 = 2.5;
const SPREAD: f64 = 1.8;

/// Sum of the weights, as a share of that within the part, at which the field is half of what it
/// would be: it falls to 0 at the end of the cones, which closes the surface out there.
const FAINT: f64 = 1e-3;

/// Integral of a cone of radius 1.
const CONE: f64 = std::f64::consts::PI / 3.0;

/// Planes whose sums are made by one task, each in the order of the points: the results do not
/// depend on the number of threads.
const SLAB: usize = 8;

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
/// the mean lacks at the points is averaged again and added \[VanCittert1931\]. A second time would bend a
/// sixth more of the edges of a bracket, and gain a ball of seven elements 3 % of its width.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    grid: Grid,
    values: Vec<f64>,
    /// Largest radius of the cones.
    radius: f64,
}

/// Places of the points of a lattice.
#[derive(Debug, Clone, Copy)]
struct Grid {
    origin: [f64; 3],
    spacing: f64,
    counts: [usize; 3],
}

/// Most points of a lattice: 16 GB.
const MOST: f64 = 1e9;

impl Lattice {
    /// The field of `density`, `[n_points]`, at elements of about the `width`; none if the lattice
    /// would have too many points.
    pub fn of(points: &GaussPoints, density: &[f64], width: f64) -> Option<Self> {
        let radii: Vec<f64> =
            points.widths.iter().map(|w| (SPREAD * w).max(RADIUS * width)).collect();
        let radius = radii.iter().copied().fold(0.0, f64::max);
        let grid = Grid::around(&points.places, SPACING * width, radius)?;
        let cones = Cones::new(points, &radii, grid);

        let sums = cones.sums(&density.iter().map(|&density| [1.0, density]).collect::<Vec<_>>());
        let share = |sum: f64, weight: f64| sum / (weight + FAINT * CONE);
        let values = sums.par_iter().map(|&[weight, sum]| share(sum, weight)).collect();
        let mut field = Self { grid, values, radius };
        let lacking = field.at_points(points).zip(density).map(|(f, density)| [density - f]);
        let added = cones.sums(&lacking.collect::<Vec<_>>());
        let added = added.par_iter().zip(&sums).map(|([sum], [weight, _])| share(*sum, *weight));
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

impl Grid {
    /// The lattice of `places` and all within the `reach` of them; none with too many points.
    fn around(places: &[[f64; 3]], spacing: f64, reach: f64) -> Option<Self> {
        let bounds = BoundingBox::around(places);
        // Besides two more layers, a part of a spacing: no plane of the part is one of the lattice.
        let margin = [2.0137, 2.0191, 2.0113].map(|share| reach + share * spacing);
        let origin = [0, 1, 2].map(|i| bounds.min[i] - margin[i]);
        let count = |i: usize| (bounds.extent()[i] + 2.0 * margin[i]) / spacing + 2.0;
        let counts = [0, 1, 2].map(count);
        let product = counts.iter().product::<f64>();
        (product <= MOST).then(|| Self { origin, spacing, counts: counts.map(|n| n as usize) })
    }
}

/// The cones around the points of elements, by slabs of planes of the lattice.
struct Cones<'a> {
    points: &'a GaussPoints,
    radii: &'a [f64],
    grid: Grid,
    /// Points whose cones reach into each slab.
    slabs: Vec<Vec<u32>>,
}

impl<'a> Cones<'a> {
    fn new(points: &'a GaussPoints, radii: &'a [f64], grid: Grid) -> Self {
        let mut slabs = vec![Vec::new(); grid.counts[2].div_ceil(SLAB)];
        for (point, (x, radius)) in points.places.iter().zip(radii).enumerate() {
            let [first, last] = grid.range(2, x[2], *radius);
            (first / SLAB..=last / SLAB).for_each(|slab| slabs[slab].push(point as u32));
        }
        Self { points, radii, grid, slabs }
    }

    /// The sums of `values`, `[n_points][N]`, times weights, at the points of the lattice.
    fn sums<const N: usize>(&self, values: &[[f64; N]]) -> Vec<[f64; N]> {
        let Grid { counts, .. } = self.grid;
        let plane = counts[0] * counts[1];
        let mut sums = vec![[0.0; N]; plane * counts[2]];
        let slabs = sums.par_chunks_mut(SLAB * plane).zip(&self.slabs).enumerate();
        slabs.for_each(|(slab, (sums, points))| {
            for &point in points {
                self.add(point as usize, values[point as usize], slab * SLAB, sums);
            }
        });
        sums
    }

    /// Adds the cone of a `point`, times `values`, to the `sums` of the planes from `start` on.
    fn add<const N: usize>(
        &self,
        point: usize,
        values: [f64; N],
        start: usize,
        sums: &mut [[f64; N]],
    ) {
        let Grid { origin, spacing, counts } = self.grid;
        let (x, radius) = (self.points.places[point], self.radii[point]);
        let factor = self.points.volumes[point] / radius.powi(3);
        let values = values.map(|value| value * factor);
        // Distances in radii.
        let step = spacing / radius;
        let first = [0, 1, 2].map(|i| (origin[i] - x[i]) / radius);
        let planes = sums.len() / (counts[0] * counts[1]);
        let [low, high] = self.grid.range(2, x[2], radius);
        for k in low.max(start)..=high.min(start + planes - 1) {
            let z = first[2] + step * k as f64;
            let [low, high] = self.grid.range(1, x[1], radius * (1.0 - z * z).max(0.0).sqrt());
            for j in low..=high {
                let y = first[1] + step * j as f64;
                let across = y * y + z * z;
                let [low, high] = self.grid.range(0, x[0], radius * (1.0 - across).max(0.0).sqrt());
                let row = counts[0] * (j + counts[1] * (k - start));
                let mut x = first[0] + step * low as f64;
                for sums in &mut sums[row + low..=row + high] {
                    let weight = (1.0 - (x * x + across).sqrt()).max(0.0);
                    (0..N).for_each(|n| sums[n] += values[n] * weight);
                    x += step;
                }
            }
        }
    }
}

impl Grid {
    /// The first and the last plane across `axis` within the `reach` of `x`.
    fn range(&self, axis: usize, x: f64, reach: f64) -> [usize; 2] {
        // Places are positive, so that a cast rounds down.
        let place = |x: f64| ((x - self.origin[axis]) / self.spacing) as usize;
        [place(x - reach) + 1, place(x + reach)]
    }
}
