//! Mirror planes of a part, found on its surface.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, SymmetricEigen};
use rayon::prelude::*;
use topopt_mesh::Plane;

use crate::nearest::Nearest;
use crate::surface::{Surface, Vec3};
use crate::turn::{PlanarFace, SAME, axes, planar_faces};

/// Largest distance, in cells, of the image of a curved face from the surface: triangles leave the
/// true face by about half of it.
const NEAR: f64 = 0.025;
/// Largest distance, in cells, of the image of a planar face from a planar face.
const NEAR_PLANE: f64 = 1e-4;
/// Least extent, in cells, of a part across a mirror plane: fewer cells than two lie across it.
const LEAST_EXTENT: f64 = 1.5;
/// Largest cosine between normals of planes that are orthogonal.
const ORTHOGONAL: f64 = 1e-9;
/// Least share of a face whose image lies on the face that is its image.
const MOST: f64 = 0.9;
/// Largest relative difference of the areas of a face and its image.
const SAME_AREA: f64 = 5e-3;

/// Plane about which a part mirrors itself.
#[derive(Debug, Clone)]
pub(crate) struct Mirror {
    /// The plane.
    pub plane: Plane,
    /// Number of the face across, by the number of each face.
    pub images: BTreeMap<u32, u32>,
}

/// Finds up to three orthogonal planes about which each body of `surface` mirrors itself, as seen
/// by elements of `size`: across the axes of the grid first, then across the principal axes.
pub(crate) fn mirrors(surface: &Surface, size: f64) -> Vec<Mirror> {
    let (center, second) = moments(surface);
    let principal = SymmetricEigen::new(second).eigenvectors;
    let of_grid = axes(surface);
    let normals = of_grid.column_iter().chain(principal.column_iter()).map(|n| n.into_owned());
    let looked = Looked::new(surface, size);

    let mut tried: Vec<Vec3> = Vec::new();
    let mut found: Vec<Mirror> = Vec::new();
    for normal in normals {
        let is_new = tried.iter().all(|n| n.dot(&normal).abs() < 1.0 - 1e-6);
        let is_across =
            |mirror: &Mirror| Vec3::from(mirror.plane.normal).dot(&normal).abs() < ORTHOGONAL;
        if is_new && found.iter().all(is_across) {
            found.extend(looked.across(&normal, normal.dot(&center)));
            tried.push(normal);
        }
    }
    found
}

/// Center of the volume, and its second moments about the middle of the surface.
fn moments(surface: &Surface) -> (Vec3, Matrix3<f64>) {
    let [low, high] = surface.bounds();
    let middle = (low + high) / 2.0;
    let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Matrix3::zeros());
    for t in 0..surface.triangles.len() {
        let x = surface.corners(t).map(|x| x - middle);
        let cone = x[0].dot(&x[1].cross(&x[2])) / 6.0;
        let sum: Vec3 = x.iter().sum();
        let squares = x.iter().map(|x| x * x.transpose()).sum::<Matrix3<f64>>();
        volume += cone;
        first += sum * (cone / 4.0);
        second += (squares + sum * sum.transpose()) * (cone / 20.0);
    }
    let arm = first / volume;
    (middle + arm, second - arm * arm.transpose() * volume)
}

/// Surface on which images are looked for.
struct Looked<'a> {
    surface: &'a Surface,
    /// Triangles of each body, `[n_bodies]`.
    nearest: Vec<Nearest>,
    planar: Vec<PlanarFace>,
    /// Bodies, and centers of triangles, then vertices of these.
    places: Vec<(u32, Vec3)>,
    areas: BTreeMap<u32, f64>,
    size: f64,
}

impl<'a> Looked<'a> {
    fn new(surface: &'a Surface, size: f64) -> Self {
        let all = 0..surface.triangles.len();
        let vertices = |t: usize| surface.triangles[t].map(|v| (surface.bodies[t], v));
        let mut used: Vec<(u32, u32)> = all.clone().flat_map(vertices).collect();
        used.sort_unstable();
        used.dedup();
        let center = |t: usize| surface.corners(t).iter().sum::<Vec3>() / 3.0;
        let places = all.clone().map(|t| (surface.bodies[t], center(t)));
        let place = |(body, v): (u32, u32)| (body, surface.points[v as usize]);
        let of_body = |body: usize| {
            let own = all.clone().filter(|&t| surface.bodies[t] as usize == body);
            Nearest::new(own.map(|t| (t, surface.corners(t))))
        };
        let mut areas = BTreeMap::new();
        for (face, area) in surface.faces.iter().zip(&surface.areas) {
            *areas.entry(*face).or_insert(0.0) += area;
        }
        Self {
            places: places.chain(used.into_iter().map(place)).collect(),
            nearest: (0..surface.n_bodies()).map(of_body).collect(),
            planar: planar_faces(surface),
            surface,
            areas,
            size,
        }
    }

    /// Plane across `normal` near the center of the volume: through the origin, where CAD puts it;
    /// through the middle between the ends of the part; or through the center itself, which curved
    /// faces move by the errors of their triangles.
    fn across(&self, normal: &Vec3, center: f64) -> Option<Mirror> {
        let along = || self.surface.points.iter().map(|x| x.dot(normal));
        let low = along().fold(f64::INFINITY, f64::min);
        let high = along().fold(f64::NEG_INFINITY, f64::max);
        let near = [0.0, (low + high) / 2.0, center].into_iter();
        if (high - low) / self.size < LEAST_EXTENT {
            return None;
        }
        near.filter(|x| (x - center).abs() < NEAR * self.size).find_map(|x| {
            let plane = Plane { point: (normal * x).into(), normal: (*normal).into() };
            Some(Mirror { images: self.images(&plane)?, plane })
        })
    }

    /// The face across of each face, if the part mirrors itself about `plane`.
    fn images(&self, plane: &Plane) -> Option<BTreeMap<u32, u32>> {
        let image = |x: &Vec3| Vec3::from(plane.image((*x).into()));
        let turned = |n: &Vec3| Vec3::from(plane.image_of_vector((*n).into()));
        let is_image = |own: &PlanarFace, other: &PlanarFace| {
            let off = other.normal.dot(&(other.point - image(&own.point))).abs();
            other.normal.dot(&turned(&own.normal)) > SAME && off < NEAR_PLANE * self.size
        };
        let has_image = |own: &PlanarFace| {
            let mut in_body = self.planar.iter().filter(|other| other.body == own.body);
            in_body.any(|other| is_image(own, other))
        };
        if !self.planar.iter().all(has_image) {
            return None;
        }

        let foot = |(body, x): &(u32, Vec3)| {
            let image = image(x);
            let foot = self.nearest[*body as usize].foot(&image);
            ((foot.point - image).norm() < NEAR * self.size).then_some(foot.index)
        };
        let across: Vec<usize> = self.places.par_iter().map(foot).collect::<Option<_>>()?;
        let mut votes: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
        for (t, &other) in across.iter().enumerate().take(self.surface.triangles.len()) {
            let [own, other_face] = [t, other].map(|t| self.surface.faces[t]);
            let vote = votes.entry(own).or_default().entry(other_face).or_insert(0.0);
            if self.surface.normals[other].dot(&turned(&self.surface.normals[t])) > 0.5 {
                *vote += self.surface.areas[t];
            }
        }
        self.pairs(&votes)
    }

    /// Faces that exchange places by what most of their triangles say.
    fn pairs(&self, votes: &BTreeMap<u32, BTreeMap<u32, f64>>) -> Option<BTreeMap<u32, u32>> {
        let pairs = votes.iter().map(|(face, votes)| Some((*face, self.elected(*face, votes)?)));
        let images: BTreeMap<u32, u32> = pairs.collect::<Option<_>>()?;
        images.iter().all(|(face, other)| images.get(other) == Some(face)).then_some(images)
    }

    /// Face that most of a face lies on, if it is as large.
    fn elected(&self, face: u32, votes: &BTreeMap<u32, f64>) -> Option<u32> {
        let area = self.areas[&face];
        let (&other, &vote) = votes.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        let is_alike = (self.areas[&other] - area).abs() <= SAME_AREA * area;
        (vote >= MOST * area && is_alike).then_some(other)
    }
}
