//! The elements of a mesh as a kernel takes them.

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use topopt_mesh::cells::Shape;
use topopt_mesh::tetrahedron::TetrahedronNodes;
use topopt_mesh::{HexMesh, Part};

use crate::{DIM, Laws};

/// Coordinates of the nodes of an element, `[8][3]`.
pub type Corners = [[f64; DIM]; 8];

/// Properties of single elements that integrals depend on.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ElementData {
    /// Factors by which elements are stretched along x, y and z, `[n_elements][3]`, whose product
    /// is 1: orthotropic diffusion, see [`crate::orthotropy`].
    pub stretches: Option<Arc<[[f64; DIM]]>>,
    /// Laws of elasticity in place of the kernel's material.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub laws: Option<Laws>,
}

impl ElementData {
    /// Sets the stretches alone.
    pub fn stretched(stretches: Vec<[f64; DIM]>) -> Self {
        Self { stretches: Some(stretches.into()), ..Self::default() }
    }

    /// Returns the data of the elements of a part.
    pub(crate) fn on_part(&self, part: &Part) -> Self {
        let of_part = |all: &Arc<[[f64; DIM]]>| -> Vec<[f64; DIM]> {
            part.elements.iter().map(|&e| all[e as usize]).collect()
        };
        Self {
            stretches: self.stretches.as_ref().map(|all| of_part(all).into()),
            laws: self.laws.as_ref().map(|laws| laws.of_elements(&part.elements)),
        }
    }
}

/// The elements of a mesh with their data.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    mesh: &'a HexMesh,
    data: Option<&'a ElementData>,
}

impl<'a> Elements<'a> {
    /// Takes the elements of `mesh` with their `data`.
    pub fn new(mesh: &'a HexMesh, data: &'a ElementData) -> Self {
        Self { mesh, data: Some(data) }
    }

    /// The mesh.
    pub fn mesh(&self) -> &'a HexMesh {
        self.mesh
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
        self.stretched(e, self.mesh.element_coordinates(e))
    }

    /// Whether the elements are tetrahedra.
    pub fn are_tetrahedra(&self) -> bool {
        self.mesh.shape() == Shape::Tetrahedron
    }

    /// The coordinates of the nodes of element `e`, a tetrahedron, stretched.
    pub fn tetrahedron(&self, e: usize) -> TetrahedronNodes {
        self.stretched(e, self.mesh.tetrahedron_coordinates(e))
    }

    fn stretched<const E: usize>(&self, e: usize, mut x: [[f64; DIM]; E]) -> [[f64; DIM]; E] {
        if let Some(stretches) = self.stretches() {
            let factors = stretches[e];
            x.iter_mut().for_each(|x| (0..DIM).for_each(|i| x[i] *= factors[i]));
        }
        x
    }

    /// The factors, `[n_elements][3]`.
    pub fn stretches(&self) -> Option<&'a [[f64; DIM]]> {
        self.data?.stretches.as_deref()
    }

    /// Tells whether two elements have one law.
    pub(crate) fn is_of_one_law(&self, [a, b]: [u32; 2]) -> bool {
        self.laws().is_none_or(|laws| laws.number(a as usize) == laws.number(b as usize))
    }

    /// Returns the laws, if elements have their own.
    pub fn laws(&self) -> Option<&'a Laws> {
        self.data?.laws.as_ref()
    }

    /// Returns the stretches of the elements of a range.
    pub(crate) fn stretches_of(&self, range: Range<usize>) -> Option<&'a [[f64; DIM]]> {
        self.stretches().map(|stretches| &stretches[range])
    }
}

impl<'a> From<&'a HexMesh> for Elements<'a> {
    fn from(mesh: &'a HexMesh) -> Self {
        Self { mesh, data: None }
    }
}
