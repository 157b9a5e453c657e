//! `Cones` around the points of elements, summed up on a lattice.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::gauss_points::GaussPoints;
use crate::grid::Grid;

/// Radius of the cone in the distance across which the points of an element lie, where that is
/// large: without a hole between the cones of large or long elements.
const SPREAD: f64 = 1.8;

/// Planes whose sums are made by one task, each in the order of the points: the results do not
/// depend on the number of threads.
const SLAB: usize = 8;

/// Points that one task sorts by slabs.
const CHUNK: usize = 1 << 16;

/// Cones around the points of elements, as high as the volumes that these stand for.
///
/// Nearly all have the same radius. These points are dealt to the corners of the lattice around
/// them, and the sums are those of one cone per corner: without a root for each pair of a point and
/// a corner it takes a tenth of the time. Cones of large elements are added one by one.
pub(crate) struct Cones<'a> {
    points: &'a GaussPoints,
    radii: Vec<f64>,
    grid: Grid,
    /// Points that are dealt to corners, by the slabs of these.
    dealt: Vec<Vec<u32>>,
    /// Points with cones of their own, by the slabs that these reach into.
    single: Vec<Vec<u32>>,
    kernel: Kernel,
}

/// The cone of most points around a corner of the lattice.
struct Kernel {
    radius: f64,
    /// Most corners along an axis from the middle to a weight.
    reach: usize,
    rings: Vec<Ring>,
}

/// Rows of a kernel along the first axis that are equally far from its middle.
struct Ring {
    /// Places of the rows, in corners.
    rows: Vec<[isize; 2]>,
    /// Weights from the middle of a row on to both sides.
    weights: Vec<f64>,
}

impl<'a> Cones<'a> {
    /// Integral of a cone.
    pub const INTEGRAL: f64 = std::f64::consts::PI / 3.0;

    /// Radii around `points`, `[n_points]`: `usual` or more.
    pub fn radii(points: &GaussPoints, usual: f64) -> Vec<f64> {
        points.widths.iter().map(|width| (SPREAD * width).max(usual)).collect()
    }

    /// Cones of these `radii`, most of which are `usual`.
    pub fn new(points: &'a GaussPoints, (radii, usual): (Vec<f64>, f64), grid: Grid) -> Self {
        let n_slabs = grid.counts[2].div_ceil(SLAB);
        let chunks = points.places.par_chunks(CHUNK).zip(radii.par_chunks(CHUNK)).enumerate();
        let chunks = chunks.map(|(chunk, (places, radii))| {
            let points = (CHUNK * chunk..).map(|point| point as u32);
            by_slab(points.zip(places.iter().zip(radii)), usual, &grid, n_slabs)
        });
        let chunks: Vec<[Vec<Vec<u32>>; 2]> = chunks.collect();
        let slabs = |kind: usize| {
            let slab = |slab: usize| chunks.iter().flat_map(|c| &c[kind][slab]).copied().collect();
            (0..n_slabs).into_par_iter().map(slab).collect()
        };
        let [dealt, single] = [0, 1].map(slabs);
        Self { points, radii, grid, dealt, single, kernel: Kernel::of(usual, grid.spacing) }
    }

    /// Sums of `value(point)` times weights at the corners of the lattice.
    pub fn sums(&self, value: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let Grid { counts, .. } = self.grid;
        let plane = counts[0] * counts[1];
        let mut corners = vec![0.0; plane * counts[2]];
        let slabs = corners.par_chunks_mut(SLAB * plane).zip(&self.dealt).enumerate();
        slabs.for_each(|(slab, (corners, points))| {
            points
                .iter()
                .for_each(|&point| self.deal(point as usize, &value, slab * SLAB, corners));
        });

        let mut sums = self.kernel.around(&corners, counts);
        let slabs = sums.par_chunks_mut(SLAB * plane).zip(&self.single).enumerate();
        slabs.for_each(|(slab, (sums, points))| {
            points.iter().for_each(|&point| self.add(point as usize, &value, slab * SLAB, sums));
        });
        sums
    }

    /// Deals a `point` to the `corners` around it that are in the planes from `start` on.
    fn deal(&self, point: usize, value: impl Fn(usize) -> f64, start: usize, corners: &mut [f64]) {
        let Grid { counts, .. } = self.grid;
        let value = value(point);
        if value == 0.0 {
            return;
        }
        let x = self.points.places[point];
        let place = [0, 1, 2].map(|i| self.grid.place(i, x[i]));
        let low = place.map(|place| place as usize);
        let beyond = [0, 1, 2].map(|i| place[i] - low[i] as f64);
        let value = value * self.points.volumes[point] / self.kernel.radius.powi(3);
        for corner in 0..8 {
            let [i, j, k] = [0, 1, 2].map(|axis| low[axis] + (corner >> axis & 1));
            let share = |axis: usize| match corner >> axis & 1 {
                0 => 1.0 - beyond[axis],
                _ => beyond[axis],
            };
            if k < start {
                continue;
            }
            if let Some(sum) = corners.get_mut(i + counts[0] * (j + counts[1] * (k - start))) {
                *sum += value * share(0) * share(1) * share(2);
            }
        }
    }

    /// Adds the cone of a `point` to the `sums` of the planes from `start` on.
    fn add(&self, point: usize, value: impl Fn(usize) -> f64, start: usize, sums: &mut [f64]) {
        let Grid { origin, spacing, counts } = self.grid;
        let (x, radius) = (self.points.places[point], self.radii[point]);
        let value = value(point) * self.points.volumes[point] / radius.powi(3);
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
                for (i, sum) in (low..).zip(&mut sums[row + low..=row + high]) {
                    let x = first[0] + step * i as f64;
                    *sum += value * (1.0 - (x * x + across).sqrt()).max(0.0);
                }
            }
        }
    }
}

/// Points by the slabs of `n_slabs` in which they are dealt to corners, having a radius that is at
/// most `usual`, and by those that their own cones reach into.
fn by_slab<'a>(
    points: impl Iterator<Item = (u32, (&'a [f64; 3], &'a f64))>,
    usual: f64,
    grid: &Grid,
    n_slabs: usize,
) -> [Vec<Vec<u32>>; 2] {
    let [mut dealt, mut single] = [(); 2].map(|()| vec![Vec::new(); n_slabs]);
    for (point, (x, &radius)) in points {
        let (slabs, [first, last]) = match radius <= usual {
            true => {
                let low = grid.place(2, x[2]) as usize;
                (&mut dealt, [low, low + 1])
            }
            false => (&mut single, grid.range(2, x[2], radius)),
        };
        (first / SLAB..=last / SLAB).for_each(|slab| slabs[slab].push(point));
    }
    [dealt, single]
}

impl Kernel {
    /// The cone on a lattice of the `spacing`: as wide as one of the `usual` radius after its
    /// points were dealt to corners, which moves them apart by a sixth of the spacing squared.
    fn of(usual: f64, spacing: f64) -> Self {
        let radius = (usual.powi(2) - spacing.powi(2) / 6.0 / VARIANCE).sqrt();
        let reach = (radius / spacing) as isize;
        let mut rings = BTreeMap::<isize, Vec<[isize; 2]>>::new();
        for k in -reach..=reach {
            let rows = (-reach..=reach).map(|j| [j, k]);
            rows.for_each(|[j, k]| rings.entry(j * j + k * k).or_default().push([j, k]));
        }
        let ring = |(across, rows): (isize, Vec<[isize; 2]>)| {
            let far = |i: isize| ((across + i * i) as f64).sqrt() * spacing / radius;
            let weights = (0..=reach).map(|i| 1.0 - far(i)).take_while(|weight| *weight > 0.0);
            Ring { rows, weights: weights.collect() }
        };
        let rings = rings.into_iter().map(ring).filter(|ring| !ring.weights.is_empty());
        Self { radius, reach: reach as usize, rings: rings.collect() }
    }

    /// Sums of the kernel around all `corners` of a lattice of so many.
    ///
    /// Rows of a ring are added up first: a quarter of the time of weights for each of them.
    fn around(&self, corners: &[f64], counts: [usize; 3]) -> Vec<f64> {
        let [nx, ny, _] = counts;
        let is_empty: Vec<bool> =
            corners.par_chunks(nx).map(|row| row.iter().all(|value| *value == 0.0)).collect();
        let filled = |row: usize, [j, k]: [isize; 2]| {
            let [y, z] = [(row % ny) as isize + j, (row / ny) as isize + k];
            let other = (y >= 0 && z >= 0 && y < ny as isize).then(|| y as usize + ny * z as usize);
            other.filter(|&other| is_empty.get(other) == Some(&false))
        };
        let mut sums = vec![0.0; corners.len()];
        let rows = sums.par_chunks_mut(nx).enumerate();
        // Zeros on both sides of a row.
        let zeros = || vec![0.0; nx + 2 * self.reach];
        rows.for_each_init(zeros, |of_ring, (row, sums)| {
            for ring in &self.rings {
                let others = ring.rows.iter().filter_map(|place| filled(row, *place));
                let own = &mut of_ring[self.reach..][..nx];
                own.fill(0.0);
                others.for_each(|other| add_row(own, &corners[nx * other..][..nx], 1.0));
                ring.add(of_ring, self.reach, sums);
            }
        });
        sums
    }
}

impl Ring {
    /// Adds to `sums` those of the weights around each place of `row`, which begins after as many
    /// zeros as the `reach`.
    fn add(&self, row: &[f64], reach: usize, sums: &mut [f64]) {
        let n = sums.len();
        add_row(sums, &row[reach..][..n], self.weights[0]);
        for (i, &weight) in self.weights.iter().enumerate().skip(1) {
            let sides = row[reach - i..][..n].iter().zip(&row[reach + i..][..n]);
            sums.iter_mut().zip(sides).for_each(|(sum, (a, b))| *sum += weight * (a + b));
        }
    }
}

/// Adds the `row` times a `weight` to `sums`.
fn add_row(sums: &mut [f64], row: &[f64], weight: f64) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
}

/// Variance of a cone along an axis, in squares of its radius.
const VARIANCE: f64 = 2.0 / 15.0;
