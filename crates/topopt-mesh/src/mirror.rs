//! Elements that are mirror images of each other.

use std::sync::atomic::{AtomicU32, Ordering};

use nalgebra::{Matrix3, SymmetricEigen};
use rayon::prelude::*;

use crate::numbers::{place, shown};
use crate::vector::{difference, dot, length};
use crate::{CellList, HexMesh};

/// A plane in which things may mirror each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// A point in the plane.
    pub point: [f64; 3],
    /// Direction across it, of length 1.
    pub normal: [f64; 3],
}

impl Plane {
    /// Returns the axis, 0 to 2, that the plane lies across, if it is exactly across one.
    pub fn axis(&self) -> Option<usize> {
        (0..3).find(|&axis| self.normal[axis].abs() == 1.0)
    }

    /// Returns the plane as people name it: `x = 2`, if it lies across an axis.
    pub fn name(&self) -> String {
        match self.axis() {
            Some(k) => format!("{} = {}", ["x", "y", "z"][k], shown(self.point[k])),
            None => {
                format!("the plane through {} across {}", place(self.point), place(self.normal))
            }
        }
    }

    /// Distance of a point from the plane, signed along the normal.
    pub fn distance(&self, point: [f64; 3]) -> f64 {
        dot(difference(point, self.point), self.normal)
    }

    /// Returns the image of a point.
    pub fn image(&self, point: [f64; 3]) -> [f64; 3] {
        let distance = self.distance(point);
        std::array::from_fn(|i| point[i] - 2.0 * distance * self.normal[i])
    }

    /// Returns the place that is the image of each of `places` within `tolerance` (length),
    /// `[n_places]`; those as near to the plane are their own. None where some have no image.
    ///
    /// Only the places on one side are sorted, and searched from the other.
    pub fn paired(&self, places: &[[f64; 3]], tolerance: f64) -> Option<Vec<u32>> {
        let all = || (0..places.len() as u32).into_par_iter();
        let side = |sign: f64| {
            let is_there = |&k: &u32| sign * self.distance(places[k as usize]) > tolerance;
            all().filter(is_there).collect::<Vec<u32>>()
        };
        let (below, above) = rayon::join(|| side(-1.0), || side(1.0));
        if below.len() != above.len() {
            return None;
        }

        let of = |side: &[u32]| side.par_iter().map(|&k| places[k as usize]).collect::<Vec<_>>();
        let images = Reflections::new(&of(&below), tolerance).images(&of(&above), self);
        let images: Vec<u32> = images.into_par_iter().collect::<Option<_>>()?;
        let paired: Vec<AtomicU32> = all().map(AtomicU32::new).collect();
        above.par_iter().zip(images).for_each(|(&k, image)| {
            let image = below[image as usize];
            paired[k as usize].store(image, Ordering::Relaxed);
            paired[image as usize].store(k, Ordering::Relaxed);
        });
        Some(paired.into_par_iter().map(AtomicU32::into_inner).collect())
    }

    /// Returns the image of a direction or a force.
    pub fn image_of_vector(&self, vector: [f64; 3]) -> [f64; 3] {
        let across = dot(vector, self.normal);
        std::array::from_fn(|i| vector[i] - 2.0 * across * self.normal[i])
    }
}

/// Places among which mirror images are looked for.
pub struct Reflections {
    list: CellList,
}

impl Reflections {
    /// Sorts `places`, of which one is the image of another within `tolerance` (length).
    pub fn new(places: &[[f64; 3]], tolerance: f64) -> Self {
        Self { list: CellList::new(places, tolerance) }
    }

    /// Returns the index of the place nearest to the mirror image in `plane` of each one of
    /// `others`; none where it is farther than the tolerance.
    pub fn images(&self, others: &[[f64; 3]], plane: &Plane) -> Vec<Option<u32>> {
        others.par_iter().map(|place| self.nearest(plane.image(*place))).collect()
    }

    fn nearest(&self, place: [f64; 3]) -> Option<u32> {
        let (mut nearest, mut least) = (None, f64::INFINITY);
        self.list.for_each_within(place, |id, distance| {
            if distance < least {
                (nearest, least) = (Some(id), distance);
            }
        });
        nearest
    }
}

/// Planes through the center of mass of a mesh whose elements have these `volumes`, about which
/// their third moment vanishes, as it does where elements mirror each other within `tolerance`
/// (length).
///
/// Tried are the planes across the axes, across the diagonals between two of them, and across the
/// principal axes of inertia.
pub fn balanced_planes(mesh: &HexMesh, volumes: &[f64], tolerance: f64) -> Vec<Plane> {
    let centers = mesh.centers();
    let weighted = || centers.iter().zip(volumes);
    // Sums of single threads, so that they have the same bits on any number of them.
    let firsts = [0, 1, 2].into_par_iter().map(|i| weighted().map(|(x, v)| v * x[i]).sum::<f64>());
    let (total, firsts) =
        rayon::join(|| volumes.iter().sum::<f64>(), || firsts.collect::<Vec<_>>());
    let point = [0, 1, 2].map(|i| firsts[i] / total);

    // Moments of the second and the third order, from which those across any plane follow.
    let of_pairs: Vec<_> =
        PAIRS.into_par_iter().map(|pair| moments(weighted(), point, pair)).collect();
    let mut second = Matrix3::zeros();
    let mut third = [[[0.0; 3]; 3]; 3];
    for ((i, j), of_pair) in PAIRS.into_iter().zip(of_pairs) {
        (second[(i, j)], third[i][j]) = of_pair;
    }
    let principal = SymmetricEigen::new(second).eigenvectors;
    let principal = principal.column_iter().map(|axis| [axis[0], axis[1], axis[2]]);

    let mut planes: Vec<Plane> = Vec::new();
    for normal in AXES.into_iter().chain(principal) {
        let normal = normal.map(|x| x / length(normal));
        let is_new = planes.iter().all(|plane| dot(plane.normal, normal).abs() < 1.0 - 1e-9);
        let squares = PAIRS.map(|(i, j)| second[(i, j)] * normal[i] * normal[j]);
        let cubes = PAIRS.map(|(i, j)| dot(third[i][j], normal) * normal[i] * normal[j]);
        // A distance t that is wrong by the tolerance changes t^3 by three times t^2 of it.
        let allowed = 3.0 * tolerance * squares.iter().sum::<f64>();
        if is_new && cubes.iter().sum::<f64>().abs() <= allowed {
            planes.push(Plane { point, normal });
        }
    }
    planes
}

/// Sums of arms from `point` along both axes of a pair, and of these along each axis too, of places
/// and what they weigh.
fn moments<'a>(
    weighted: impl Iterator<Item = (&'a [f64; 3], &'a f64)>,
    point: [f64; 3],
    (i, j): (usize, usize),
) -> (f64, [f64; 3]) {
    let (mut second, mut third) = (0.0, [0.0; 3]);
    for (&center, &volume) in weighted {
        let arm = difference(center, point);
        let square = volume * arm[i] * arm[j];
        second += square;
        (0..3).for_each(|k| third[k] += square * arm[k]);
    }
    (second, third)
}

/// Pairs of the three axes.
const PAIRS: [(usize, usize); 9] =
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)];

/// Directions of the axes and of the diagonals between two of them.
const AXES: [[f64; 3]; 9] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0],
    [1.0, -1.0, 0.0],
    [0.0, 1.0, 1.0],
    [0.0, 1.0, -1.0],
    [1.0, 0.0, 1.0],
    [-1.0, 0.0, 1.0],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sets;
    use crate::generate::{Benchmark, Resolution};

    #[test]
    fn images_lie_across_the_plane() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let bounds = mesh.bounding_box();
        let middle: [f64; 3] = std::array::from_fn(|i| (bounds.min[i] + bounds.max[i]) / 2.0);
        let plane = Plane { point: middle, normal: [0.0, 1.0, 0.0] };
        let across = plane.paired(&mesh.centers(), 1e-9).unwrap();
        for (element, &image) in across.iter().enumerate() {
            let [[x, y, z], [u, v, w]] = [element, image as usize].map(|e| mesh.center(e));
            assert!((x - u).abs() < 1e-9 && (z - w).abs() < 1e-9);
            assert!((y + v - 2.0 * middle[1]).abs() < 1e-9);
            assert_eq!(across[image as usize] as usize, element);
        }

        let aside = Plane { point: [middle[0], middle[1] + 0.1, middle[2]], ..plane };
        assert_eq!(aside.paired(&mesh.centers(), 1e-9), None);
    }

    #[test]
    fn planes_are_found_through_the_middle_of_a_turned_bar() {
        let bar = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let angle = 0.4_f64;
        let turned = |[x, y, z]: [f64; 3]| {
            [x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos(), z]
        };
        let nodes = bar.coordinates().iter().map(|&node| turned(node)).collect();
        let mesh = HexMesh::new(nodes, bar.hexes().to_vec(), Sets::default()).unwrap();
        let planes = balanced_planes(&mesh, &mesh.volumes(), 1e-6);
        for normal in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(turned) {
            let plane = planes.iter().find(|plane| dot(plane.normal, normal).abs() > 1.0 - 1e-9);
            let plane = plane.unwrap_or_else(|| panic!("{normal:?} is not among {planes:?}"));
            assert!(plane.paired(&mesh.centers(), 1e-6).is_some());
        }
    }
}
