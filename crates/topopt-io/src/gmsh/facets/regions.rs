//! Faces of a surface of triangles: parts that bend little from triangle to triangle.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rstar::primitives::GeomWithData;
use rstar::{AABB, PointDistance, RTree, RTreeObject};
use topopt_mesh::surface::{area_vector, boundary_faces, face_center, face_coordinates};
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

    /// Nearest point of the triangle, by the regions of its corners, edges and inside
    /// [Ericson2005, 5.1.5].
    fn nearest(&self, x: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = self.0;
        let (ab, ac, bc) = (difference(b, a), difference(c, a), difference(c, b));
        let [ax, bx, cx] = self.0.map(|corner| difference(x, corner));
        let along = |from: [f64; 3], edge: [f64; 3], off: [f64; 3]| {
            let share = (dot(off, edge) / dot(edge, edge)).clamp(0.0, 1.0);
            std::array::from_fn(|i| from[i] + share * edge[i])
        };
        let (d1, d2) = (dot(ab, ax), dot(ac, ax));
        let (d3, d4) = (dot(ab, bx), dot(ac, bx));
        let (d5, d6) = (dot(ab, cx), dot(ac, cx));
        let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
        if va > 0.0 && vb > 0.0 && vc > 0.0 {
            let sum = va + vb + vc;
            return std::array::from_fn(|i| a[i] + (vb * ab[i] + vc * ac[i]) / sum);
        }
        let ends = [along(a, ab, ax), along(a, ac, ax), along(b, bc, bx)];
        let off = |y: &[f64; 3]| length(difference(x, *y));
        ends.into_iter().min_by(|y, z| off(y).total_cmp(&off(z))).unwrap_or(a)
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
        let off = difference(*point, self.nearest(*point));
        dot(off, off)
    }
}
