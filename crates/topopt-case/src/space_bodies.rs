//! Bodies of a design space with their faces, and where these lie on its mesh.

use std::collections::BTreeMap;

use rayon::prelude::*;
use topopt_io::gmsh::{Form, PartFace, PartFaces, Triangulation};
use topopt_mesh::surface::{area_vector, boundary_faces, face_center, face_coordinates};
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{cross, difference, dot, length};
use topopt_mesh::{BoundingBox, Face, HexMesh};
use topopt_surface::{Cylinder, TriangleSurface};

/// Body with its faces, which are numbered through all bodies.
#[derive(Debug)]
pub(crate) struct SpaceBody {
    /// Name in the case file.
    pub name: String,
    /// Path of the file, as the case has it.
    pub file: String,
    /// Number before that of its first face.
    pub offset: u32,
    /// Faces as the space has them: a pin that stays free is a bore there.
    pub part: PartFaces,
    /// Surface of the body.
    pub surface: TriangleSurface,
    /// Whether it stays free.
    pub is_free: bool,
}

/// Distance of a face of the space from that of a body, as a share of the diagonal of the space.
const ROUNDING: f64 = 1e-4;

/// Distance of round faces, as a share of the radius: their triangles need not be the same.
const NEAR: f64 = 0.02;

/// Least cosine of the angle between a face of the mesh and the triangles that it lies on.
const ALIKE: f64 = 0.7;

impl SpaceBody {
    /// The body in the `file`, whose faces get numbers behind those of the bodies `before`.
    pub fn behind(before: Option<&Self>, name: String, file: String, mut part: PartFaces) -> Self {
        let offset = before.map_or(0, Self::last);
        part.faces.iter_mut().for_each(|face| face.number += offset);
        let surface = TriangleSurface::new(part.vertices.clone(), part.triangles.clone());
        Self { name, file, offset, part, surface, is_free: false }
    }

    /// Number of its last face.
    pub fn last(&self) -> u32 {
        self.part.faces.last().map_or(self.offset, |face| face.number)
    }

    /// Cylinders that its faces lie on.
    pub fn cylinders(&self) -> impl Iterator<Item = Cylinder> {
        self.part.faces.iter().filter_map(|face| match face.form {
            Form::Cylinder { axis, point, radius } => Some(Cylinder { axis, point, radius }),
            _ => None,
        })
    }

    /// Whether each of its faces is among these `numbers`, `[n_faces]`.
    pub fn among(&self, numbers: &[u32]) -> Vec<bool> {
        self.part.faces.iter().map(|face| numbers.contains(&face.number)).collect()
    }

    /// The surface of the faces with these `numbers`; none if it has none of them.
    pub fn surface_of(&self, numbers: &[u32]) -> Option<TriangleSurface> {
        let is_own = self.among(numbers);
        let triangles = self.part.triangles.iter().zip(&self.part.of_triangles);
        let own = triangles.filter(|(_, face)| is_own[**face as usize]);
        let own: Vec<[u32; 3]> = own.map(|(triangle, _)| *triangle).collect();
        let vertices = || self.part.vertices.clone();
        (!own.is_empty()).then(|| TriangleSurface::new(vertices(), own))
    }

    /// The body as one that stays free, turned inside out: its faces as those of what lies around
    /// it.
    pub fn turned(mut self) -> Self {
        for face in &mut self.part.faces {
            face.is_inner = face.is_inner.map(|is_inner| !is_inner);
            if let Form::Plane { normal, .. } = &mut face.form {
                *normal = normal.map(|x| -x);
            }
        }
        self.part.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        self.is_free = true;
        self
    }
}

/// Boundary faces of the `mesh` of a `space` by the numbers of the faces of `bodies` that they lie
/// on, of each body one at most.
pub(crate) fn faces_on(
    mesh: &HexMesh,
    space: &Triangulation,
    bodies: &[SpaceBody],
) -> BTreeMap<u32, Vec<Face>> {
    let Triangulation { vertices, triangles } = space;
    let surface = Triangles::new(triangles.iter().map(|it| it.map(|v| vertices[v as usize])));
    let rounding = ROUNDING * length(BoundingBox::around(vertices).extent());
    let walls: Vec<Wall> = bodies.iter().map(|body| Wall::of(&body.part, rounding)).collect();
    let numbers_of = |face: &Face| numbers_at(&surface, &walls, &face_coordinates(mesh, *face));
    let found = boundary_faces(mesh).into_par_iter();
    let found: Vec<(Vec<u32>, Face)> = found.map(|face| (numbers_of(&face), face)).collect();
    let mut faces = BTreeMap::<u32, Vec<Face>>::new();
    for (numbers, face) in found {
        numbers.into_iter().for_each(|number| faces.entry(number).or_default().push(face));
    }
    faces
}

/// Numbers of the faces in `walls` that a face of the mesh with the corners `x` lies on.
fn numbers_at(surface: &Triangles, walls: &[Wall], x: &[[f64; 3]; 4]) -> Vec<u32> {
    let Some(point) = surface.nearest(face_center(x)) else { return Vec::new() };
    let found = walls.iter().filter_map(|wall| wall.face_at(point, area_vector(x)));
    found.map(|face| face.number).collect()
}

/// The surface of a body, where points of the space are looked for.
struct Wall<'a> {
    part: &'a PartFaces,
    triangles: Triangles,
    rounding: f64,
}

impl<'a> Wall<'a> {
    fn of(part: &'a PartFaces, rounding: f64) -> Self {
        let corners = part.triangles.iter().map(|it| it.map(|v| part.vertices[v as usize]));
        Self { part, triangles: Triangles::new(corners), rounding }
    }

    /// The face that a `point` of the space lies on, where that has this `normal`, of any length.
    fn face_at(&self, point: [f64; 3], normal: [f64; 3]) -> Option<&'a PartFace> {
        let (triangle, nearest) = self.triangles.nearest_of(point)?;
        let face = &self.part.faces[self.part.of_triangles[triangle] as usize];
        let most = self.rounding + NEAR * face.form.radius().unwrap_or(0.0);
        let [a, b, c] = self.part.triangles[triangle].map(|v| self.part.vertices[v as usize]);
        let own = cross(difference(b, a), difference(c, a));
        let is_alike = dot(own, normal) >= ALIKE * length(own) * length(normal);
        (is_alike && length(difference(point, nearest)) <= most).then_some(face)
    }
}
