//! Sizes of elements: the usual one, smaller ones in places and across walls.

use nalgebra::Matrix3;
use topopt_mesh::Plane;

use crate::surface::{Surface, Vec3};
use crate::turn::{PlanarFace, SAME, grown, planar_faces};

/// Growth of sizes with the distance from a place of smaller ones: neighbors differ by a third.
const GROWTH: f64 = 0.3;
/// Samples of the density of planes in the smallest cell.
const SAMPLES: f64 = 8.0;
/// Excess over a size, as a share of it, that leaves elements undivided.
const NEAR: f64 = 0.05;
/// Distance, in elements after a division, from places that are divided next to elements that are
/// no cubes: a node is marked up to two thirds of an element away, and those at it are divided.
const MARGIN: f64 = 5.0 / 3.0;
/// Share of an element that two may seem to overlap where they touch.
const TOUCH: f64 = 1e-6;

/// Edges of elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// Usual edge (length).
    pub usual: f64,
    /// Least number of elements across walls between parallel planes along the grid.
    pub across: usize,
    /// Boxes along the axes of space with smaller elements.
    pub finer: Vec<Finer>,
}

/// Box of smaller elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finer {
    /// Smallest coordinates.
    pub low: [f64; 3],
    /// Largest coordinates.
    pub high: [f64; 3],
    /// Edge of the elements in it (length).
    pub size: f64,
}

impl From<f64> for Sizes {
    fn from(usual: f64) -> Self {
        Self { usual, across: 1, finer: Vec::new() }
    }
}

impl Sizes {
    /// Smallest edge that is asked for in a box, or the usual one.
    pub fn smallest(&self) -> f64 {
        self.finer.iter().map(|finer| finer.size).fold(self.usual, f64::min)
    }
}

/// Corners of a box that stands in any direction, with smaller elements in it.
#[derive(Debug, Clone)]
struct Zone {
    corners: Vec<Vec3>,
    size: f64,
    /// Times that elements of the grid are divided in three.
    levels: i32,
    /// Direction along which elements are smaller; along all of them if none.
    along: Option<Vec3>,
}

impl Zone {
    /// Zone of a box.
    fn of(finer: &Finer) -> Self {
        Self { corners: corners(finer), size: finer.size, levels: 0, along: None }
    }

    /// Divisions in three after which elements of size `usual` are small enough.
    fn most_levels(&self, usual: f64) -> i32 {
        let of_walls = self.along.is_some();
        let times = ((1.0 - NEAR) * usual / self.size).log(3.0).ceil().max(0.0);
        if of_walls { 0 } else { times as i32 }
    }

    /// Size of the grid in it; smaller by what whole planes may make it larger.
    fn of_grid(&self, usual: f64) -> f64 {
        let size = 3.0_f64.powi(self.levels) * self.size;
        match self.levels {
            0 => size,
            _ if size > (1.0 - NEAR) * usual => usual,
            _ => (1.0 - NEAR) * size,
        }
    }

    /// Whether a part between the corners `ends` of a hexahedron that has been divided `pass` times
    /// needs one more division.
    fn divides(&self, ends: [Vec3; 2], longest: f64, pass: i32) -> bool {
        let margin: f64 =
            (1..self.levels - pass).map(|level| MARGIN * longest / 3.0_f64.powi(level)).sum();
        let is_within = |k: usize| {
            let [low, high] = self.range(k);
            let least = TOUCH * longest * if high - low > 0.0 { 1.0 } else { -1.0 };
            ends[1][k] > low - margin + least && ends[0][k] < high + margin - least
        };
        pass < self.levels && longest > (1.0 + NEAR) * self.size && (0..3).all(is_within)
    }

    /// Ends along an axis.
    fn range(&self, k: usize) -> [f64; 2] {
        let ends = self.corners.iter().fold([self.corners[0]; 2], |ends, x| grown(ends, *x));
        ends.map(|x| x[k])
    }
}

/// Sizes in space.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// Edge of elements outside of all zones.
    pub usual: f64,
    zones: Vec<Zone>,
}

impl Field {
    /// Sizes for `surface` as it lies in space.
    pub fn new(surface: &Surface, sizes: &Sizes) -> Self {
        let own = sizes.finer.iter().filter(|finer| finer.size < sizes.usual).map(Zone::of);
        let zones = own.chain(walls(surface, sizes)).collect();
        Self { usual: sizes.usual, zones }
    }

    /// Whether places of smaller elements mirror themselves about a plane.
    pub fn is_even(&self, plane: &Plane) -> bool {
        let near = |a: Vec3, b: &Vec3| (a - b).norm() < NEAR * self.usual;
        let image = |x: &Vec3| Vec3::from(plane.image((*x).into()));
        let is_image = |own: &Zone, other: &Zone| {
            let mut images = own.corners.iter().map(image);
            own.size == other.size && images.all(|x| other.corners.iter().any(|y| near(x, y)))
        };
        let mut own = self.zones.iter().filter(|zone| zone.along.is_none());
        own.all(|zone| self.zones.iter().any(|other| is_image(zone, other)))
    }

    /// Smallest edge of the grid.
    pub fn smallest(&self) -> f64 {
        self.zones.iter().map(|zone| zone.of_grid(self.usual)).fold(self.usual, f64::min)
    }

    /// Divisions in three after which no zone needs planes of its own in the grid.
    pub fn most_levels(&self) -> i32 {
        self.zones.iter().map(|zone| zone.most_levels(self.usual)).max().unwrap_or_default()
    }

    /// The field with at most so many divisions as `levels`.
    pub fn with_levels(&self, levels: i32) -> Self {
        let of =
            |zone: &Zone| Zone { levels: levels.min(zone.most_levels(self.usual)), ..zone.clone() };
        Self { zones: self.zones.iter().map(of).collect(), ..*self }
    }

    /// Divisions in three after the grid.
    pub fn levels(&self) -> i32 {
        self.zones.iter().map(|zone| zone.levels).max().unwrap_or_default()
    }

    /// Whether a part of a hexahedron that has been divided `pass` times needs one more division:
    /// by smallest and largest coordinates of the part, and the longest edge of the hexahedron.
    pub fn divides(&self, ends: [Vec3; 2], longest: f64, pass: i32) -> bool {
        self.zones.iter().any(|zone| zone.divides(ends, longest, pass))
    }

    /// The field with all edges times `share`.
    pub fn scaled(&self, share: f64) -> Self {
        let zones = self.zones.iter().cloned();
        let zones = zones.map(|zone| Zone { size: share * zone.size, ..zone }).collect();
        Self { usual: share * self.usual, zones }
    }

    /// The field with the images of its zones in a plane.
    pub fn mirrored(&self, plane: &Plane) -> Self {
        let image = |zone: &Zone| Zone {
            corners: zone.corners.iter().map(|x| plane.image((*x).into()).into()).collect(),
            along: zone.along.map(|n| plane.image_of_vector(n.into()).into()),
            ..*zone
        };
        let images: Vec<Zone> = self.zones.iter().map(image).collect();
        Self { zones: [self.zones.clone(), images].concat(), ..*self }
    }

    /// The field in axes that `turn` gives as rows.
    pub fn turned(&self, turn: &Matrix3<f64>) -> Self {
        let turned = |zone: &Zone| Zone {
            corners: zone.corners.iter().map(|x| turn * x).collect(),
            along: zone.along.map(|n| turn * n),
            ..*zone
        };
        Self { zones: self.zones.iter().map(turned).collect(), ..*self }
    }

    /// Sizes along each axis.
    pub fn spacings(&self) -> [Spacing; 3] {
        [0, 1, 2].map(|k| {
            let counts = |zone: &&Zone| zone.along.is_none_or(|along| along[k].abs() > SAME);
            let is_finer = |zone: &&Zone| zone.levels == 0 || zone.of_grid(self.usual) < self.usual;
            let range = |zone: &Zone| {
                let [low, high] = zone.range(k);
                (low, high, zone.of_grid(self.usual))
            };
            let zones = self.zones.iter().filter(counts).filter(is_finer).map(range).collect();
            Spacing { usual: self.usual, zones }
        })
    }
}

/// Zones across walls that would have fewer elements than are asked for.
fn walls(surface: &Surface, sizes: &Sizes) -> Vec<Zone> {
    if sizes.across < 2 {
        return Vec::new();
    }
    let faces = planar_faces(surface);
    faces.iter().filter_map(|face| wall(face, &faces, sizes)).collect()
}

/// Zone between a planar face and the nearest one behind it, where the material lies.
fn wall(face: &PlanarFace, faces: &[PlanarFace], sizes: &Sizes) -> Option<Zone> {
    let thickness = |other: &PlanarFace| (face.point - other.point).dot(&face.normal);
    let is_behind = |other: &&PlanarFace| {
        other.normal.dot(&face.normal) < -SAME && thickness(other) > 0.0 && face.faces(other)
    };
    let behind = faces.iter().filter(|other| other.body == face.body).filter(is_behind);
    let nearest = behind.min_by(|a, b| thickness(a).total_cmp(&thickness(b)))?;
    let size = thickness(nearest) / sizes.across as f64;
    // Of its corners those along the normal alone count.
    let corners = vec![face.point, nearest.point];
    (size < sizes.usual).then_some(Zone { corners, size, levels: 0, along: Some(face.normal) })
}

fn corners(finer: &Finer) -> Vec<Vec3> {
    let ends = [finer.low, finer.high];
    (0..8).map(|v| Vec3::from_fn(|k, _| ends[v >> k & 1][k])).collect()
}

/// Sizes along one axis.
#[derive(Debug, Clone)]
pub(crate) struct Spacing {
    /// Size outside of all zones.
    pub usual: f64,
    /// Ends of zones and the size in each.
    zones: Vec<(f64, f64, f64)>,
}

impl Spacing {
    /// Size at `x`.
    pub fn at(&self, x: f64) -> f64 {
        let of =
            |&(low, high, size): &(f64, f64, f64)| size + GROWTH * (low - x).max(x - high).max(0.0);
        self.zones.iter().map(of).fold(self.usual, f64::min)
    }

    /// Bound of the number of cells between two places.
    pub fn most_cells(&self, low: f64, high: f64) -> f64 {
        let of = |&(from, to, size): &(f64, f64, f64)| {
            let inside = (to.min(high) - from.max(low)).max(0.0) / size;
            inside + 2.0 * (self.usual / size).ln() / GROWTH
        };
        (high - low) / self.usual + self.zones.iter().map(of).sum::<f64>()
    }

    /// Planes that divide the way from `low` to `high` by the sizes there, without the first.
    pub fn planes(&self, low: f64, high: f64) -> Vec<f64> {
        let is_even = [low, high].map(|x| self.at(x)) == [self.usual; 2]
            && self.zones.iter().all(|&(from, to, _)| to < low || from > high);
        if is_even {
            let n = ((high - low) / self.usual).round().max(1.0) as usize;
            let step = (high - low) / n as f64;
            return (1..n).map(|i| low + step * i as f64).chain([high]).collect();
        }

        // Cells from the start to each sample.
        let smallest = self.zones.iter().map(|zone| zone.2).fold(self.usual, f64::min);
        let n_samples = ((high - low) / smallest * SAMPLES).ceil().max(SAMPLES) as usize;
        let step = (high - low) / n_samples as f64;
        let mut cells = vec![0.0];
        for sample in 0..n_samples {
            cells.push(cells[sample] + step / self.at(low + step * (sample as f64 + 0.5)));
        }

        let n = cells[n_samples].round().max(1.0);
        let wanted = (1..n as usize).map(|i| cells[n_samples] * i as f64 / n);
        wanted.map(|count| low + step * reached(&cells, count)).chain([high]).collect()
    }
}

/// Place, in samples, at which there are so many cells as `count`.
fn reached(cells: &[f64], count: f64) -> f64 {
    let after = cells.partition_point(|&other| other < count).max(1);
    after as f64 - 1.0 + (count - cells[after - 1]) / (cells[after] - cells[after - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_even_away_from_zones_and_grow_from_them() {
        let spacing = Spacing { usual: 1.0, zones: vec![(0.0, 2.0, 0.25)] };
        assert_eq!(spacing.planes(20.0, 23.75), [20.9375, 21.875, 22.8125, 23.75]);

        let planes = [vec![0.0], spacing.planes(0.0, 20.0)].concat();
        let widths: Vec<f64> = planes.windows(2).map(|ends| ends[1] - ends[0]).collect();
        assert!((widths[0] - 0.25).abs() < 0.01 && (widths[7] - 0.25).abs() < 0.01, "{widths:?}");
        assert!((widths[widths.len() - 1] - 1.0).abs() < 0.05, "{widths:?}");
        let jump = widths.windows(2).map(|w| (w[1] / w[0]).max(w[0] / w[1])).fold(0.0, f64::max);
        assert!(jump < 1.4, "{widths:?}");
        assert!((widths.len() as f64) <= spacing.most_cells(0.0, 20.0));
    }
}
