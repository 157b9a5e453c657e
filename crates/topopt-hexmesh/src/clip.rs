//! The part of bodies on one side of a plane, closed by a cap of each in it.

use std::collections::{BTreeMap, BTreeSet};

use manifold_rust::linalg::Vec2;
use manifold_rust::polygon::triangulate;
use topopt_mesh::Plane;

use crate::surface::{Surface, Vec3};

/// Cuts `surface` along `plane` and keeps what its normal points away from. The cap has the face
/// number `cap`; vertices within `snap` (length) of the plane are moved into it. None where what is
/// cut is no set of simple polygons.
pub(crate) fn clipped(surface: &Surface, plane: &Plane, cap: u32, snap: f64) -> Option<Surface> {
    let mut cut = Cut::new(surface, plane, snap);
    let twin = |t: usize| surface.twins[t].map(|twin| twin as usize);
    for t in (0..surface.triangles.len()).filter(|&t| twin(t).is_none_or(|twin| twin > t)) {
        let polygon = cut.polygon(&surface.triangles[t]);
        for k in 2..polygon.len() {
            cut.triangles.push([polygon[0], polygon[k - 1], polygon[k]]);
            cut.faces.push(surface.faces[t]);
            let before = twin(t).map(|twin| surface.bodies[twin]);
            cut.bodies.push([Some(surface.bodies[t]), before]);
        }
    }
    for body in 0..surface.n_bodies() as u32 {
        let loops = cut.loops(body)?;
        cut.close(&loops, cap, body);
    }
    cut.finished()
}

struct Cut<'a> {
    plane: &'a Plane,
    /// Old vertices, then those on the plane.
    points: Vec<Vec3>,
    /// Distance of each vertex from the plane, along its normal.
    distances: Vec<f64>,
    /// New vertex on each edge that crosses the plane, smaller vertex first.
    on_edges: BTreeMap<[u32; 2], u32>,
    triangles: Vec<[u32; 3]>,
    faces: Vec<u32>,
    /// Bodies behind and before each triangle.
    bodies: Vec<[Option<u32>; 2]>,
}

impl<'a> Cut<'a> {
    fn new(surface: &Surface, plane: &'a Plane, snap: f64) -> Self {
        let (point, normal) = (Vec3::from(plane.point), Vec3::from(plane.normal));
        let mut points = surface.points.clone();
        let mut distances: Vec<f64> = points.iter().map(|x| (x - point).dot(&normal)).collect();
        for (x, distance) in points.iter_mut().zip(&mut distances) {
            if distance.abs() < snap {
                *x -= normal * *distance;
                *distance = 0.0;
            }
        }
        let (on_edges, triangles, faces) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { plane, points, distances, on_edges, triangles, faces, bodies: Vec::new() }
    }

    /// Vertices of what is kept of a triangle; none if only an edge or a vertex of it is.
    fn polygon(&mut self, triangle: &[u32; 3]) -> Vec<u32> {
        let at = |v: u32| self.distances[v as usize];
        if triangle.iter().all(|&v| at(v) >= 0.0) {
            return Vec::new();
        }
        let mut kept = Vec::new();
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
            let [from, to] = [a, b].map(|v| self.distances[v as usize]);
            if from <= 0.0 {
                kept.push(a);
            }
            if from * to < 0.0 {
                kept.push(self.crossing([a.min(b), a.max(b)]));
            }
        }
        kept
    }

    /// Vertex where an edge crosses the plane.
    fn crossing(&mut self, edge: [u32; 2]) -> u32 {
        if let Some(&known) = self.on_edges.get(&edge) {
            return known;
        }
        let [a, b] = edge.map(|v| self.points[v as usize]);
        let [from, to] = edge.map(|v| self.distances[v as usize]);
        let (point, normal) = (Vec3::from(self.plane.point), Vec3::from(self.plane.normal));
        let x = a + (b - a) * (from / (from - to));
        let new = self.points.len() as u32;
        self.points.push(x - normal * (x - point).dot(&normal));
        self.on_edges.insert(edge, new);
        new
    }

    /// Borders of what is kept of a body, with the cap on the left of each.
    fn loops(&self, body: u32) -> Option<Vec<Vec<u32>>> {
        let own = self.triangles.iter().zip(&self.bodies);
        let behind = own.clone().filter(|(_, sides)| sides[0] == Some(body));
        let before = own.filter(|(_, sides)| sides[1] == Some(body));
        let outward = behind.map(|(&[a, b, c], _)| [a, b, c]);
        let outward = outward.chain(before.map(|(&[a, b, c], _)| [a, c, b]));
        let edges: BTreeSet<(u32, u32)> =
            outward.flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
        let mut next = BTreeMap::new();
        for &(a, b) in edges.iter().filter(|(a, b)| !edges.contains(&(*b, *a))) {
            if next.insert(b, a).is_some() {
                return None;
            }
        }
        let mut loops = Vec::new();
        while let Some((start, mut vertex)) = next.pop_first() {
            let mut own = vec![start];
            while vertex != start {
                own.push(vertex);
                vertex = next.remove(&vertex)?;
            }
            loops.push(own);
        }
        Some(loops)
    }

    /// Closes the loops of a body by triangles of face number `cap`.
    fn close(&mut self, loops: &[Vec<u32>], cap: u32, body: u32) {
        let normal = Vec3::from(self.plane.normal);
        let right = normal.cross(&Vec3::ith(normal.iamin(), 1.0)).normalize();
        let up = normal.cross(&right);
        let flat = |&v: &u32| {
            let x = self.points[v as usize] - Vec3::from(self.plane.point);
            Vec2::new(x.dot(&right), x.dot(&up))
        };
        let polygons: Vec<Vec<Vec2>> =
            loops.iter().map(|own| own.iter().map(flat).collect()).collect();
        let vertices = loops.concat();
        let of_cap = triangulate(&polygons, -1.0, false).into_iter();
        self.triangles.extend(of_cap.map(|t| [t.x, t.y, t.z].map(|v| vertices[v as usize])));
        self.faces.resize(self.triangles.len(), cap);
        self.bodies.resize(self.triangles.len(), [Some(body), None]);
    }

    /// The surface of the vertices that are used, if it is closed.
    fn finished(self) -> Option<Surface> {
        let mut used = self.triangles.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        let number = |v: u32| used.binary_search(&v).expect("a vertex that is used") as u32;
        let triangles = self.triangles.iter().map(|own| own.map(number)).collect();
        let points = used.iter().map(|&v| self.points[v as usize].into()).collect();
        Surface::of_bodies(points, triangles, self.faces, &self.bodies).ok()
    }
}
