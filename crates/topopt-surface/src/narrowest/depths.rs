//! `Depths`: distances of points from the surface of a solid.

use rayon::prelude::*;
use topopt_distance::Triangles;
use topopt_mesh::surface::face_neighbors;
use topopt_mesh::vector::{difference, length};
use topopt_mesh::{HexMesh, NodeToElements, tetrahedra};

use crate::cut::Cut;
use crate::iso_surface::with_keys;

/// Largest slope of the depth between opposite walls. Where the depth rises by more than this share
/// of the way, walls meet at an angle of more than 15 degrees: a corner.
pub(super) const CORNER: f64 = 0.13;

/// A point in the mesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub at: [f64; 3],
    pub depth: f64,
    pub element: u32,
}

/// The distances of points from the surface of the solid of a cut.
pub(super) struct Depths<'a> {
    pub mesh: &'a HexMesh,
    cut: Cut<'a>,
    walls: Triangles,
    /// Vertices of the tetrahedra: nodes, then centers of elements, `[n_nodes + n_elements]`.
    pub points: Vec<[f64; 3]>,
    /// Depths of these `points`, `[n_nodes + n_elements]`.
    pub of_vertex: Vec<f64>,
    /// Elements across the faces of each, `[n_elements]`.
    pub neighbors: Vec<[u32; 6]>,
    around: NodeToElements,
}

impl<'a> Depths<'a> {
    /// Computes the depths for a `cut`; none if it has no surface.
    pub fn of(cut: Cut<'a>) -> Option<Self> {
        let (surface, _) = with_keys(&cut);
        let corners = |triangle: &[u32; 3]| triangle.map(|v| surface.vertices()[v as usize]);
        let walls = Triangles::new(surface.triangles().iter().map(corners));
        if walls.is_empty() {
            return None;
        }

        let mesh = cut.mesh;
        let mut points = mesh.coordinates().to_vec();
        points.extend(mesh.centers());
        let of_vertex = points.par_iter().map(|&point| walls.distance(point)).collect();
        let (neighbors, around) = (face_neighbors(mesh), NodeToElements::new(mesh));
        Some(Self { mesh, cut, walls, points, of_vertex, neighbors, around })
    }

    pub fn at(&self, x: [f64; 3]) -> f64 {
        self.walls.distance(x)
    }

    /// The direction from the nearest wall to `x`, a unit vector, if it is not on that.
    pub fn away(&self, x: [f64; 3]) -> Option<[f64; 3]> {
        let way = difference(x, self.walls.nearest(x)?);
        let length = length(way);
        (length > 0.0).then(|| way.map(|w| w / length))
    }

    /// Whether a vertex is in the solid.
    pub fn is_inside(&self, vertex: u32) -> bool {
        self.cut.is_inside(vertex)
    }

    pub fn center(&self, element: u32) -> u32 {
        self.mesh.n_nodes() as u32 + element
    }

    /// An element that a vertex belongs to.
    pub fn element(&self, vertex: u32) -> Option<u32> {
        match (vertex as usize).checked_sub(self.mesh.n_nodes()) {
            None => self.around.elements_of(vertex as usize).first().copied(),
            Some(element) => Some(element as u32),
        }
    }

    /// The element that `x` lies in, `element` or one that shares a node with it, and whether `x`
    /// is in the solid; none if it is not in the mesh.
    pub fn locate(&self, element: u32, x: [f64; 3]) -> Option<(u32, bool)> {
        let nodes = self.mesh.element(element as usize).iter();
        let around = nodes.flat_map(|&node| self.around.elements_of(node as usize)).copied();
        let mut elements = std::iter::once(element).chain(around);
        elements.find_map(|element| Some((element, self.is_solid_at(element, x)?)))
    }

    /// Whether `x` in `element` is in the solid; none if it is not in the element.
    fn is_solid_at(&self, element: u32, x: [f64; 3]) -> Option<bool> {
        let mut tetrahedra = tetrahedra::of_element(self.mesh, element as usize);
        tetrahedra.find_map(|vertices| {
            let shares = shares(vertices.map(|v| self.points[v as usize]), x)?;
            let values = vertices.iter().zip(shares).map(|(&v, s)| s * self.cut.field.at(v));
            Some(values.sum::<f64>() >= self.cut.threshold)
        })
    }
}

/// The shares of the corners of a tetrahedron in `x`, if that lies in it.
fn shares(corners: [[f64; 3]; 4], x: [f64; 3]) -> Option<[f64; 4]> {
    let whole = tetrahedra::volume(corners);
    let share = |corner: usize| {
        let mut part = corners;
        part[corner] = x;
        tetrahedra::volume(part) / whole
    };
    let shares = [0, 1, 2, 3].map(share);
    shares.iter().all(|share| *share >= -1e-9).then_some(shares)
}
