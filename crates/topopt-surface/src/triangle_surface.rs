//! A closed surface of triangles.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_mesh::counting_sort::{Grouped, grouped};
use topopt_mesh::hexahedron::determinant;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{cross, difference, length};

/// A closed surface of triangles, counter-clockwise seen from outside.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TriangleSurface {
    pub(crate) vertices: Vec<[f64; 3]>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) on_boundary: Vec<bool>,
}

/// A triangle of a surface.
#[derive(Debug, Clone, Copy)]
pub struct Facet {
    /// Mean of its corners.
    pub center: [f64; 3],
    /// Area, as a vector outwards.
    pub area: [f64; 3],
}

/// Moves that fill a surface to a volume, and the relative difference that counts as none.
const FILLS: usize = 4;
const FILLED: f64 = 1e-5;

impl TriangleSurface {
    /// A surface of given triangles, none of them on the boundary of a part.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Self {
        Self { on_boundary: vec![false; vertices.len()], vertices, triangles }
    }

    /// Coordinates of the vertices, `[n_vertices][3]`.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// Vertices of the triangles, `[n_triangles][3]`.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Whether each vertex lies on the boundary of the part, `[n_vertices]`.
    pub fn on_boundary(&self) -> &[bool] {
        &self.on_boundary
    }

    /// Computes the enclosed volume, by the divergence theorem.
    pub fn volume(&self) -> f64 {
        self.cone_volumes().iter().sum()
    }

    /// Rounds coordinates to single precision, as STL holds them; also returns the largest change
    /// of a coordinate, in the unit of the mesh.
    pub fn in_single_precision(&self) -> (Self, f64) {
        let round = |x: &[f64; 3]| x.map(|x| f64::from(x as f32));
        let surface = self.with(self.vertices.par_iter().map(round).collect());
        let coordinates = self.vertices.as_flattened().par_iter();
        let changes = coordinates.zip(surface.vertices.as_flattened()).map(|(a, b)| (a - b).abs());
        let largest = changes.reduce(|| 0.0, f64::max);
        (surface, largest)
    }

    /// Yields the triangles.
    pub fn facets(&self) -> impl Iterator<Item = Facet> + '_ {
        self.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(|vertex| self.vertices[vertex as usize]);
            let center = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
            Facet { center, area: self.area_vector(triangle) }
        })
    }

    /// Area of the triangles with a vertex off the boundary of the part.
    pub(crate) fn free_area(&self) -> f64 {
        let is_free = |t: &&[u32; 3]| t.iter().any(|&vertex| !self.on_boundary[vertex as usize]);
        let areas = self.triangles.par_iter().filter(is_free).map(|t| length(self.area_vector(t)));
        areas.collect::<Vec<f64>>().iter().sum()
    }

    /// The surface with its vertices in other places.
    fn with(&self, vertices: Vec<[f64; 3]>) -> Self {
        let Self { triangles, on_boundary, .. } = self;
        Self { vertices, triangles: triangles.clone(), on_boundary: on_boundary.clone() }
    }

    /// Unit normals of the vertices outwards, by the areas around: 0 where these cancel.
    pub(crate) fn normals(&self) -> Vec<[f64; 3]> {
        let areas: Vec<[f64; 3]> = self.triangles.par_iter().map(|t| self.area_vector(t)).collect();
        let around = self.triangles_around();
        let add = |sum: [f64; 3], t: &u32| [0, 1, 2].map(|i| sum[i] + areas[*t as usize][i]);
        let unit = |x: [f64; 3]| x.map(|n| n / length(x).max(f64::MIN_POSITIVE));
        let vertices = (0..self.vertices.len()).into_par_iter();
        vertices.map(|vertex| unit(around.of(vertex).iter().fold([0.0; 3], add))).collect()
    }

    /// Triangles around each vertex, in rising order.
    pub(crate) fn triangles_around(&self) -> Grouped<u32> {
        let corners = self.triangles.as_flattened();
        grouped(corners, self.vertices.len(), |corner| corner as u32 / 3)
    }

    /// The surface with every vertex moved outwards by a `distance`.
    pub(crate) fn offset(&self, distance: f64) -> Self {
        let moved = self.vertices.par_iter().zip(self.normals());
        let moved = moved.map(|(x, n)| [0, 1, 2].map(|i| x[i] + distance * n[i]));
        self.with(moved.collect())
    }

    /// The surface with the `volume`, its vertices moved along their normals by at most `most`
    /// (length); none if that is not enough. Vertices on the surface of the `part`, or nearer to it
    /// than that, stay.
    pub(crate) fn filled_to(&self, volume: f64, most: f64, part: &Self) -> Option<Self> {
        let first = (volume - self.volume()) / self.free_area();
        if first.is_nan() || first.abs() > most {
            return None;
        }

        let walls = part.tree();
        let vertices = self.vertices.par_iter().zip(&self.on_boundary);
        let stays: Vec<bool> = vertices.map(|(x, is_on)| *is_on || walls.reach(*x, most)).collect();

        let (mut filled, mut moved) = (self.clone(), 0.0_f64);
        for _ in 0..FILLS {
            let missing = volume - filled.volume();
            if missing.abs() <= FILLED * volume {
                return Some(filled);
            }
            let step = missing / filled.free_area();
            moved += step;
            if moved.is_nan() || moved.abs() > most {
                return None;
            }
            let offset = filled.offset(step).vertices;
            let places = filled.vertices.iter_mut().zip(offset).zip(&stays);
            places.filter(|(_, stays)| !**stays).for_each(|((x, offset), _)| *x = offset);
        }
        None
    }

    /// The surface without vertices that no triangle uses.
    pub(crate) fn compact(&self) -> Self {
        self.part(self.triangles.clone())
    }

    /// Returns the surface of some of the triangles, with the vertices that they use.
    pub(crate) fn part(&self, mut triangles: Vec<[u32; 3]>) -> Self {
        let mut used = vec![false; self.vertices.len()];
        triangles.as_flattened().iter().for_each(|&vertex| used[vertex as usize] = true);
        let kept: Vec<usize> = (0..used.len()).filter(|&vertex| used[vertex]).collect();
        let mut numbers = vec![0; used.len()];
        (0..).zip(&kept).for_each(|(number, &vertex)| numbers[vertex] = number);
        for vertex in triangles.as_flattened_mut() {
            *vertex = numbers[*vertex as usize];
        }
        Self {
            triangles,
            vertices: kept.iter().map(|&vertex| self.vertices[vertex]).collect(),
            on_boundary: kept.iter().map(|&vertex| self.on_boundary[vertex]).collect(),
        }
    }

    /// Area vector of a triangle, outwards.
    pub(crate) fn area_vector(&self, triangle: &[u32; 3]) -> [f64; 3] {
        let [a, b, c] = triangle.map(|vertex| self.vertices[vertex as usize]);
        cross(difference(b, a), difference(c, a)).map(|twice| 0.5 * twice)
    }

    /// The triangles, to be searched.
    pub(crate) fn tree(&self) -> Triangles {
        Triangles::of_surface(&self.vertices, &self.triangles)
    }

    /// Corners of the triangles, `[n_triangles][3][3]`.
    pub(crate) fn corners_of_all(&self) -> impl IndexedParallelIterator<Item = [[f64; 3]; 3]> + '_ {
        self.triangles.par_iter().map(|triangle| triangle.map(|v| self.vertices[v as usize]))
    }

    /// Signed volumes of the cones of all triangles, `[n_triangles]`; see [`Self::cone_volume`].
    pub(crate) fn cone_volumes(&self) -> Vec<f64> {
        self.triangles.par_iter().map(|triangle| self.cone_volume(triangle)).collect()
    }

    /// Signed volume of the cone of a triangle with the first vertex of all as its apex.
    fn cone_volume(&self, triangle: &[u32; 3]) -> f64 {
        let apex = self.vertices[0];
        let [a, b, c] = triangle.map(|vertex| {
            let x = self.vertices[vertex as usize];
            std::array::from_fn(|i| x[i] - apex[i])
        });
        determinant(&[a, b, c]) / 6.0
    }
}
