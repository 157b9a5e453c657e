//! Elements that are mirror images of each other.

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

    /// Returns the image of a point.
    pub fn image(&self, point: [f64; 3]) -> [f64; 3] {
        let distance = dot(difference(point, self.point), self.normal);
        std::array::from_fn(|i| point[i] - 2.0 * distance * self.normal[i])
    }

    /// Returns the image of a direction or a force.
    pub fn image_of_vector(&self, vector: [f64; 3]) -> [f64; 3] {
        let across = dot(vector, self.normal);
        std::array::from_fn(|i| vector[i] - 2.0 * across * self.normal[i])
    }
}

/// Places among which mirror images are looked for.
pub struct Reflections {
    places: Vec<[f64; 3]>,
    list: CellList,
}

impl Reflections {
    /// Sorts `places`, of which one is the image of another within `tolerance` (length).
    pub fn new(places: Vec<[f64; 3]>, tolerance: f64) -> Self {
        Self { list: CellList::new(&places, tolerance), places }
    }

    /// Returns the index of the place nearest to the mirror image in `plane` of each one of
    /// `others`; none where it is farther than the tolerance.
    pub fn images(&self, others: &[[f64; 3]], plane: &Plane) -> Vec<Option<u32>> {
        others.par_iter().map(|place| self.nearest(plane.image(*place))).collect()
    }

    /// Returns the place that is the mirror image in `plane` of each place, `[n_places]`.
    ///
    /// # Errors
    /// The first place whose image is farther than the tolerance from every place, and that image.
    pub fn mirrored(&self, plane: &Plane) -> Result<Vec<u32>, (u32, [f64; 3])> {
        let found = self.images(&self.places, plane);
        match found.iter().position(Option::is_none) {
            Some(place) => Err((place as u32, plane.image(self.places[place]))),
            None => Ok(found.into_iter().flatten().collect()),
        }
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
    let total: f64 = volumes.iter().sum();
    let weighted = || centers.iter().zip(volumes);
    let point = std::array::from_fn(|i| weighted().map(|(x, v)| v * x[i]).sum::<f64>() / total);

    // Moments of the second and the third order, from which those across any plane follow.
    let mut second = Matrix3::zeros();
    let mut third = [[[0.0; 3]; 3]; 3];
    for (&center, &volume) in weighted() {
        let arm = difference(center, point);
        for (i, j) in PAIRS {
            second[(i, j)] += volume * arm[i] * arm[j];
            (0..3).for_each(|k| third[i][j][k] += volume * arm[i] * arm[j] * arm[k]);
        }
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
        let centers = Reflections::new(mesh.centers(), 1e-9);
        let across = centers.mirrored(&plane).unwrap();
        for (element, &image) in across.iter().enumerate() {
            let [[x, y, z], [u, v, w]] = [element, image as usize].map(|e| mesh.center(e));
            assert!((x - u).abs() < 1e-9 && (z - w).abs() < 1e-9);
            assert!((y + v - 2.0 * middle[1]).abs() < 1e-9);
            assert_eq!(across[image as usize] as usize, element);
        }

        let aside = Plane { point: [middle[0], middle[1] + 0.1, middle[2]], ..plane };
        let (element, image) = centers.mirrored(&aside).unwrap_err();
        let expected = 2.0 * aside.point[1] - mesh.center(element as usize)[1];
        assert!((image[1] - expected).abs() < 1e-9);
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
        let centers = Reflections::new(mesh.centers(), 1e-6);
        for normal in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(turned) {
            let plane = planes.iter().find(|plane| dot(plane.normal, normal).abs() > 1.0 - 1e-9);
            let plane = plane.unwrap_or_else(|| panic!("{normal:?} is not among {planes:?}"));
            assert!(centers.mirrored(plane).is_ok());
        }
    }
}
