//! Samples on the cone below each element.

use std::f64::consts::TAU;

use rayon::prelude::*;
use topopt_linalg::Sample;
use topopt_mesh::counting_sort::{Grouped, grouped};
use topopt_mesh::surface::{area_vector, boundary_faces, face_center, face_coordinates};
use topopt_mesh::vector::{across, cross, difference, dot, length};
use topopt_mesh::{CellList, HexMesh};

use super::blocks::{Block, Blocks};
use super::lists::{Lists, in_order};
use super::sweep::{CHUNK, Supports};

/// The cone of supports below a place.
#[derive(Debug, Clone, Copy)]
pub struct OverhangCone {
    /// Direction of build, upwards, of length 1.
    pub up: [f64; 3],
    /// Angle between the direction of build and the rim of the cone, in radians.
    pub angle: f64,
    /// Depth of the samples, in widths of the element above.
    pub depth: f64,
    /// Samples on the rim, besides that on the axis.
    pub n_rim: usize,
    /// Depth of those on the rim, in depths of that on the axis.
    pub rim_depth: f64,
}

impl OverhangCone {
    /// Depth and number of samples with which the limit is right within two degrees on hexahedra
    /// and tetrahedra that lie in any direction: from a depth of 1 it is not, and with 6 it is 2
    /// degrees less. From a depth of 2 samples reach across a void element, and members grew as
    /// dashes, which are lost in printing.
    pub fn new(up: [f64; 3], angle: f64) -> Self {
        Self { up, angle, depth: 1.5, n_rim: 8, rim_depth: 1.0 }
    }

    /// The axis with a sample one width down, so that a row of elements is filled one by one, and a
    /// rim at the angle of a `draft`, in radians, if there is one. Samples on the rim lie where
    /// that is a width off the axis: nearer ones mix rows, and mix them again in each layer.
    pub fn axis(up: [f64; 3], draft: f64) -> Self {
        let n_rim = if draft > 0.0 { 8 } else { 0 };
        let rim_depth = (1.0 / draft.tan()).clamp(1.0, DEEPEST);
        Self { up, angle: draft, depth: 1.0, n_rim, rim_depth }
    }
}

/// Largest depth of samples on the rim of a draft, in widths.
const DEEPEST: f64 = 12.0;

/// Least angle in degrees of the cone of neighbors that count as within it.
const NARROW: f64 = 10.0;

/// Shares of the depth at which samples are tried: they are drawn in where they leave the part.
const DRAWN_IN: [f64; 4] = [1.0, 0.75, 0.5, 0.35];

/// Height of an element, in widths, from which on samples lie as deep as the element is high: the
/// centers of those below are out of reach otherwise.
const TALL: f64 = 2.0;

/// Least distance in height, in widths, of what supports an element.
const BELOW: f64 = 0.5;

/// Least share of a sample's weights that lies low enough.
pub(super) const LEAST: f64 = 0.6;

/// Radii of an element around its center within which it is a neighbor of a sample: farther ones
/// are on the other side of a hollow.
const NEIGHBOR: f64 = 2.2;

/// Excess over the cone, in widths, of a neighbor below that supports an element without samples.
const EXCESS: f64 = 1.0;

/// Points whose values are those of elements.
pub(super) struct Points {
    /// Centers of the elements, then others.
    pub places: Vec<[f64; 3]>,
    /// Element of each point.
    pub owners: Vec<u32>,
    /// Width of each element, cube root of its volume.
    pub widths: Vec<f64>,
    /// Largest distance of a corner of each element from its center.
    pub radii: Vec<f64>,
    /// Depth of samples below elements that are tall, 0 elsewhere; empty where none is.
    pub depths: Vec<f64>,
}

impl Supports {
    /// Builds the supports of the elements of `mesh` below which a `cone` is, where those that
    /// `stand`, `[n_elements]`, need none.
    pub fn new(mesh: &HexMesh, cone: &OverhangCone, stand: &[bool]) -> Self {
        let mut points = Points::of(mesh);
        let tangents = tangents(&points.places[..mesh.n_elements()], cone.up);
        points.deepen(mesh, cone);
        Self::of_points(&points, cone, tangents, stand)
    }

    pub(super) fn of_points(
        points: &Points,
        cone: &OverhangCone,
        tangents: [[f64; 3]; 2],
        stand: &[bool],
    ) -> Self {
        let n = points.widths.len();
        let heights: Vec<f64> = points.places[..n].iter().map(|&x| dot(x, cone.up)).collect();
        let near = points.widths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let list = CellList::new(&points.places[..n], 2.0 * near);
        let below = Below { points, cone, heights: &heights, list };
        let rays = cone.rays(tangents);
        let longest = rays.iter().map(|&ray| length(ray)).fold(0.0, f64::max);
        let widths: Vec<f64> =
            points.owners.iter().map(|&owner| points.widths[owner as usize]).collect();
        let blocks =
            Blocks { places: &points.places, widths: &widths, reach: points.reach(cone) * longest };
        let lists = blocks.lists(|block, e, local| {
            let is_up = !stand.get(e as usize)?;
            is_up.then(|| below.samples((e as usize, local), block, &rays))
        });
        let samples = Lists::by_element(&lists, n);

        let mut by_height: Vec<u32> = (0..n as u32).filter(|&e| !stand[e as usize]).collect();
        by_height.par_sort_by(|&a, &b| heights[a as usize].total_cmp(&heights[b as usize]));
        let level = levels(&by_height, &samples);
        let n_levels = level.iter().max().map_or(0, |&last| last as usize);
        let keys: Vec<u32> = by_height.par_iter().map(|&e| level[e as usize] - 1).collect();
        let Grouped { offsets, values: order } = grouped(&keys, n_levels, |k| by_height[k]);
        let (starts, samples) = in_order(&order, &samples);
        Self { order, levels: offsets[1..].to_vec(), starts, samples, ..Self::default() }
    }
}

/// Levels of elements, from 1 on, `[n_elements]`: above those at their `samples`, which come before
/// them in the order `by_height`; 0 for those that are not in it.
fn levels(by_height: &[u32], samples: &[&[Sample]]) -> Vec<u32> {
    let links = |e: u32| samples[e as usize].iter().flat_map(|sample| sample.points);
    let highest = |e: u32, values: &[u32]| links(e).map(|other| values[other as usize]).max();
    let mut rank = vec![0; samples.len()];
    by_height.iter().zip(1..).for_each(|(&e, k)| rank[e as usize] = k);
    let needed: Vec<u32> = by_height.par_iter().map(|&e| highest(e, &rank).unwrap_or(0)).collect();

    // Elements at a time that need none of each other.
    let (mut level, mut start) = (vec![0; samples.len()], 0);
    while start < by_height.len() {
        let more = needed[start + 1..].iter().take_while(|&&needed| needed as usize <= start);
        let some = &by_height[start..start + 1 + more.count()];
        let found = some.par_iter().with_min_len(CHUNK).map(|&e| highest(e, &level));
        let found: Vec<u32> = found.map(|highest| 1 + highest.unwrap_or(0)).collect();
        some.iter().zip(found).for_each(|(&e, found)| level[e as usize] = found);
        start += some.len();
    }
    level
}

impl OverhangCone {
    /// Directions of the samples, whose height is -1 on the axis.
    fn rays(&self, tangents: [[f64; 3]; 2]) -> Vec<[f64; 3]> {
        let rim = (0..self.n_rim).map(|k| {
            let (sin, cos) = (TAU * k as f64 / self.n_rim as f64).sin_cos();
            let out = self.angle.tan();
            let ray = |i: usize| self.up[i] + out * (cos * tangents[0][i] + sin * tangents[1][i]);
            std::array::from_fn(|i| -self.rim_depth * ray(i))
        });
        std::iter::once(self.up.map(|x| -x)).chain(rim).collect()
    }
}

impl Points {
    /// Centers of the elements of `mesh`, and of its free faces, so that samples near the surface
    /// have neighbors on all sides, also in a single layer of elements.
    pub fn of(mesh: &HexMesh) -> Self {
        let mut places = mesh.centers();
        let n = places.len();
        let faces = boundary_faces(mesh);
        places.extend(faces.iter().map(|&face| face_center(&face_coordinates(mesh, face))));
        let radius = |e: usize| {
            let arms = mesh.corner_coordinates(e).map(|x| length(difference(x, places[e])));
            arms.fold(0.0, f64::max)
        };
        Self {
            owners: (0..n as u32).chain(faces.iter().map(|face| face.element)).collect(),
            widths: mesh.volumes().into_iter().map(f64::cbrt).collect(),
            radii: (0..n).into_par_iter().map(radius).collect(),
            depths: Vec::new(),
            places,
        }
    }

    /// Lets samples below elements of `mesh` that are tall along the axis of a `cone` reach those
    /// below.
    fn deepen(&mut self, mesh: &HexMesh, cone: &OverhangCone) {
        let tall = |(e, width): (usize, &f64)| {
            let height = height(mesh, e, cone.up);
            if height > TALL * width { height } else { 0.0 }
        };
        let depths: Vec<f64> = self.widths.par_iter().enumerate().map(tall).collect();
        if depths.iter().any(|depth| *depth > 0.0) {
            self.depths = depths;
        }
    }

    /// Elements of the points that are `found` around `place`, with the shares of near ones.
    pub fn sample_at(&self, place: [f64; 3], found: [(u32, f64); 4]) -> Sample {
        let counts = |point, share| share >= ROUNDING && self.is_near(point, place);
        Sample {
            points: found.map(|(point, _)| self.owners[point as usize]),
            weights: found.map(|(point, share)| if counts(point, share) { share } else { 0.0 }),
        }
    }

    /// Whether the element of a point is a neighbor of `place`.
    fn is_near(&self, point: u32, place: [f64; 3]) -> bool {
        let owner = self.owners[point as usize] as usize;
        length(difference(self.places[owner], place)) <= NEIGHBOR * self.radii[owner]
    }

    /// Depth of the samples of element `e`.
    fn depth(&self, e: usize, cone: &OverhangCone) -> f64 {
        (cone.depth * self.widths[e]).max(self.depths.get(e).copied().unwrap_or(0.0))
    }

    /// Largest depth of samples, in widths of their elements.
    fn reach(&self, cone: &OverhangCone) -> f64 {
        let deepest = self.depths.iter().zip(&self.widths).map(|(depth, width)| depth / width);
        deepest.fold(cone.depth, f64::max)
    }
}

/// Extent of element `e` of `mesh` along `up`.
fn height(mesh: &HexMesh, e: usize, up: [f64; 3]) -> f64 {
    let along = || mesh.corner_coordinates(e).map(|x| dot(x, up));
    along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
}

/// Search for samples below elements.
struct Below<'a> {
    points: &'a Points,
    cone: &'a OverhangCone,
    heights: &'a [f64],
    /// Centers.
    list: CellList,
}

impl Below<'_> {
    /// Samples of element `e`, at `local` in its block, along `rays`; of an element without any,
    /// one at a neighbor.
    fn samples(&self, (e, local): (usize, u32), block: &Block, rays: &[[f64; 3]]) -> Vec<Sample> {
        let found = |place| block.weights(place, local);
        let along =
            |ray: &[f64; 3]| DRAWN_IN.iter().find_map(|share| self.sample(e, *ray, *share, found));
        let mut samples: Vec<Sample> = rays.iter().filter_map(along).collect();
        if samples.is_empty() {
            samples.extend(self.neighbor(e));
        }
        samples
    }

    /// Sample of element `e` at the `share` of a ray, where points around are `found`.
    fn sample(
        &self,
        e: usize,
        ray: [f64; 3],
        share: f64,
        found: impl Fn([f64; 3]) -> Option<[(u32, f64); 4]>,
    ) -> Option<Sample> {
        let Points { places, widths, .. } = self.points;
        let far = share * self.points.depth(e, self.cone);
        let place: [f64; 3] = std::array::from_fn(|i| places[e][i] + far * ray[i]);
        let found = found(place)?;
        let mut sample = self.points.sample_at(place, found);
        let low = self.heights[e] - BELOW * widths[e];
        for (weight, owner) in sample.weights.iter_mut().zip(sample.points) {
            if self.heights[owner as usize] >= low {
                *weight = 0.0;
            }
        }
        let total: f64 = sample.weights.iter().sum();
        if total <= LEAST {
            return None;
        }

        // Places without weight are those of another one: all must be below.
        let first = sample.weights.iter().position(|weight| *weight > 0.0)?;
        for i in 0..4 {
            sample.weights[i] /= total;
            if sample.weights[i] == 0.0 {
                sample.points[i] = sample.points[first];
            }
        }
        Some(sample)
    }

    /// The neighbor below that is least outside of the cone.
    fn neighbor(&self, e: usize) -> Option<Sample> {
        let Points { places, widths, .. } = self.points;
        let (mut best, mut least) = (None, EXCESS * widths[e]);
        self.list.for_each_within(places[e], |other, distance| {
            let up = self.heights[e] - self.heights[other as usize];
            let out = (distance.powi(2) - up.powi(2)).max(0.0).sqrt();
            let excess = out / self.cone.angle.max(NARROW.to_radians()).tan() - up;
            if up > 1e-9 * widths[e] && distance <= 2.0 * widths[e] && excess < least {
                (best, least) = (Some(other), excess);
            }
        });
        best.map(|other| Sample { points: [other; 4], weights: [1.0, 0.0, 0.0, 0.0] })
    }
}

/// Weight below which a corner of a tetrahedron is one by rounding.
const ROUNDING: f64 = 1e-9;

/// Directions across `up`, of length 1, of the largest and the least extent of `centers`: samples
/// of a thin plate then lie within it.
pub(super) fn tangents(centers: &[[f64; 3]], up: [f64; 3]) -> [[f64; 3]; 2] {
    let [first, second] = across(up);

    let n = centers.len() as f64;
    let mean: [f64; 3] = std::array::from_fn(|i| centers.iter().map(|x| x[i]).sum::<f64>() / n);
    let mut moments = [0.0; 3];
    for &center in centers {
        let arm = difference(center, mean);
        let [a, b] = [dot(arm, first), dot(arm, second)];
        moments = [moments[0] + a * a, moments[1] + a * b, moments[2] + b * b];
    }
    let (sin, cos) = ((2.0 * moments[1]).atan2(moments[0] - moments[2]) / 2.0).sin_cos();
    let along = std::array::from_fn(|i| cos * first[i] + sin * second[i]);
    [along, cross(up, along)]
}

/// Share of an element's width within which a face lies on the plate.
const ON_PLATE: f64 = 0.05;

/// Whether elements of `mesh` stand without support, `[n_elements]`: on a plate across `cone.up`
/// below the part, or, if `anywhere`, at every free face that overhangs.
pub fn standing(mesh: &HexMesh, cone: &OverhangCone, anywhere: bool) -> Vec<bool> {
    let height = |x: &[f64; 3]| dot(*x, cone.up);
    let lowest = mesh.coordinates().iter().map(height).fold(f64::INFINITY, f64::min);
    let allowed = lowest + ON_PLATE * mesh.element_width();
    let mut stand = vec![false; mesh.n_elements()];
    for face in boundary_faces(mesh) {
        let corners = face_coordinates(mesh, face);
        let is_on_plate = corners.iter().all(|corner| height(corner) <= allowed);
        let normal = area_vector(&corners);
        let is_overhanging = dot(normal, cone.up) < -cone.angle.sin() * length(normal);
        if is_on_plate || anywhere && is_overhanging {
            stand[face.element as usize] = true;
        }
    }
    stand
}
