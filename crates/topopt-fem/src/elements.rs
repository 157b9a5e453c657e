//! The elements of a mesh as a kernel takes them.

use std::ops::Range;

use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;
use topopt_mesh::tetrahedron::TetrahedronNodes;

use crate::DIM;

/// Coordinates of the nodes of an element, `[8][3]`.
pub type Corners = [[f64; DIM]; 8];

/// The elements of a mesh, each perhaps stretched along x, y and z by factors of its own, which
/// keep its volume.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    mesh: &'a HexMesh,
    stretches: Option<&'a [[f64; DIM]]>,
}

impl<'a> Elements<'a> {
    /// Takes the elements of `mesh`, with their `stretches`, `[n_elements][3]`, if there are any.
    pub(crate) fn new(mesh: &'a HexMesh, stretches: Option<&'a [[f64; DIM]]>) -> Self {
        Self { mesh, stretches }
    }

    /// Number of elements.
    pub fn n_elements(&self) -> usize {
        self.mesh.n_elements()
    }

    /// The nodes of element `e`.
    pub fn hex(&self, e: usize) -> &'a [u32; 8] {
        &self.mesh.hexes()[e]
    }

    /// The coordinates of its nodes, stretched.
    pub fn corners(&self, e: usize) -> Corners {
        let mut corners = self.mesh.element_coordinates(e);
        if let Some(stretches) = self.stretches {
            let factors = stretches[e];
            corners.iter_mut().for_each(|x| (0..DIM).for_each(|i| x[i] *= factors[i]));
        }
        corners
    }

    /// Whether the elements are tetrahedra.
    pub fn are_tetrahedra(&self) -> bool {
        self.mesh.shape() == Shape::Tetrahedron
    }

    /// The coordinates of the nodes of element `e`, a tetrahedron, which is not stretched.
    pub fn tetrahedron(&self, e: usize) -> TetrahedronNodes {
        debug_assert!(self.stretches.is_none());
        self.mesh.tetrahedron_coordinates(e)
    }

    /// The factors, `[n_elements][3]`.
    pub fn stretches(&self) -> Option<&'a [[f64; DIM]]> {
        self.stretches
    }

    /// Returns the stretches of the elements of a range.
    pub(crate) fn stretches_of(&self, range: Range<usize>) -> Option<&'a [[f64; DIM]]> {
        self.stretches.map(|stretches| &stretches[range])
    }
}

impl<'a> From<&'a HexMesh> for Elements<'a> {
    fn from(mesh: &'a HexMesh) -> Self {
        Self::new(mesh, None)
    }
}
