//! Faces of a surface of triangles: parts that bend little from triangle to triangle.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rstar::primitives::GeomWithData;
use rstar::{AABB, PointDistance, RTree, RTreeObject};
use topopt_mesh::surface::{area_vector, boundary_faces, face_center, face_coordinates};
use topopt_mesh::triangles::nearest_in;
use topopt_mesh::vector::{cross, difference, dot, length};
use topopt_mesh::{Face, HexMesh};

use super::shells::joined;
use super::triangles::Side;

/// Cosine of the angle between triangles of different faces: 40 degrees, at which the mesher begins
/// a new surface, too.
const BENT: f64 = 0.766_044_443_118_978;

/// Triangles with their regions.
type Tree = RTree<GeomWithData<Triangle, u32>>;

/// Triangles near a face of a mesh among which one looks in its direction.
const MOST_NEAR: usize = 12;

/// Number of the region of each triangle, from 1, `[n_triangles]`.
pub(super) fn of(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<u32> {
    let normals: Vec<[f64; 3]> = triangles.iter().map(|it| area(vertices, it)).collect();
    let is_smooth = |at: &[Side]| {
        let [one, other] = at else { return false };
        let [one, other] = [one, other].map(|side| normals[side.facet as usize]);
        dot(one, other) >= BENT * length(one) * length(other)
    };
    joined(triangles, is_smooth).into_iter().map(|region| region + 1).collect()
}

/// Boundary faces of `mesh` by the region of the nearest triangle that looks in their direction.
pub(super) fn of_mesh(
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    mesh: &HexMesh,
) -> BTreeMap<u32, Vec<Face>> {
    let regions = of(vertices, triangles);
    let corners = triangles.iter().map(|it| Triangle(it.map(|v| vertices[v as usize])));
    let corners = corners.zip(regions).map(|(it, region)| GeomWithData::new(it, region));
    let tree = RTree::bulk_load(corners.collect());

    let numbers: Vec<(u32, Face)> = (boundary_faces(mesh).par_iter())
        .filter_map(|&face| Some((nearest(&tree, mesh, face)?, face)))
        .collect();
    let mut faces = BTreeMap::<u32, Vec<Face>>::new();
    for (number, face) in numbers {
        faces.entry(number).or_default().push(face);
    }
    faces
}

/// The region of the triangle nearest to a face of a mesh.
fn nearest(tree: &Tree, mesh: &HexMesh, face: Face) -> Option<u32> {
    let x = face_coordinates(mesh, face);
    let (center, normal) = (face_center(&x), area_vector(&x));
    let near = || tree.nearest_neighbor_iter(center).take(MOST_NEAR);
    let is_alike = |it: &&GeomWithData<Triangle, u32>| dot(it.geom().area(), normal) > 0.0;
    near().find(is_alike).or_else(|| near().next()).map(|it| it.data)
}

fn area(vertices: &[[f64; 3]], triangle: &[u32; 3]) -> [f64; 3] {
    Triangle(triangle.map(|v| vertices[v as usize])).area()
}

/// A triangle by its corners.
struct Triangle([[f64; 3]; 3]);

impl Triangle {
    /// Vector along the normal, as long as twice the area.
    fn area(&self) -> [f64; 3] {
        let [a, b, c] = self.0;
        cross(difference(b, a), difference(c, a))
    }
}

impl RTreeObject for Triangle {
    type Envelope = AABB<[f64; 3]>;

    fn envelope(&self) -> Self::Envelope {
        AABB::from_points(self.0.iter())
    }
}

impl PointDistance for Triangle {
    fn distance_2(&self, point: &[f64; 3]) -> f64 {
        let off = difference(*point, nearest_in(self.0, *point));
        dot(off, off)
    }
}
