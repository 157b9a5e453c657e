//! Places in the elements of a mesh.
//!
//! Reference coordinates are those of [`hexahedron`]; of a tetrahedron the barycentric coordinates
//! of its vertices 1, 2 and 3.

use crate::cells::Shape;
use crate::inverse_map::{TOLERANCE, local_coordinates};
use crate::vector::{difference, dot};
use crate::{HexMesh, hexahedron, tetrahedron};

impl HexMesh {
    /// Coordinates of the eight nodes of `element`, a hexahedron.
    ///
    /// # Panics
    /// If the elements are tetrahedra.
    pub fn element_coordinates(&self, element: usize) -> [[f64; 3]; 8] {
        self.hexes()[element].map(|node| self.coordinates()[node as usize])
    }

    /// Coordinates of the ten nodes of `element`, a tetrahedron.
    ///
    /// # Panics
    /// If the elements are hexahedra.
    pub fn tetrahedron_coordinates(&self, element: usize) -> [[f64; 3]; 10] {
        self.tetrahedra()[element].map(|node| self.coordinates()[node as usize])
    }

    /// Nodes at the corners of `element`: eight, or four of a tetrahedron.
    pub fn corners(&self, element: usize) -> &[u32] {
        &self.element(element)[..self.shape().n_corners()]
    }

    /// Coordinates of the [`HexMesh::corners`] of `element`.
    pub fn corner_coordinates(&self, element: usize) -> impl Iterator<Item = [f64; 3]> + '_ {
        self.corners(element).iter().map(|&node| self.coordinates()[node as usize])
    }

    /// Center of `element`: the mean of its corners.
    pub fn center(&self, element: usize) -> [f64; 3] {
        let corners: Vec<[f64; 3]> = self.corner_coordinates(element).collect();
        hexahedron::center(&corners)
    }

    /// Length of the shortest edge of `element`, without those of a wedge that have no length.
    pub fn shortest_edge(&self, element: usize) -> f64 {
        let x = |a: usize| self.coordinates()[self.corners(element)[a] as usize];
        let edges = self.shape().edges().iter();
        let edges = edges.map(|&[a, b]| difference(x(a), x(b)));
        let squares = edges.map(|edge| dot(edge, edge)).filter(|square| *square > 0.0);
        squares.fold(f64::INFINITY, f64::min).sqrt()
    }

    /// Volume of `element`.
    pub fn volume(&self, element: usize) -> f64 {
        match self.shape() {
            Shape::Tetrahedron => tetrahedron::volume(&self.tetrahedron_coordinates(element)),
            _ => hexahedron::volume(&self.element_coordinates(element)),
        }
    }

    /// Reference coordinates of a `point` of `element`; none outside. A tetrahedron is taken with
    /// straight edges.
    pub fn local_coordinates(&self, element: usize, point: [f64; 3]) -> Option<[f64; 3]> {
        if self.shape() == Shape::Tetrahedron {
            let at = tetrahedron::barycentric(&self.tetrahedron_coordinates(element), point);
            return at.iter().all(|share| *share >= -TOLERANCE).then_some([at[1], at[2], at[3]]);
        }
        local_coordinates(&self.element_coordinates(element), point)
    }

    /// Shape functions of the nodes of an element at the reference coordinates `xi`.
    pub fn shape_functions(&self, xi: [f64; 3]) -> Vec<f64> {
        match self.shape() {
            Shape::Tetrahedron => tetrahedron::shape_functions(tetrahedron::with_first(xi)).into(),
            _ => hexahedron::shape_functions(xi).into(),
        }
    }

    /// Reference coordinates of the center of every element.
    pub fn reference_center(&self) -> [f64; 3] {
        if self.shape() == Shape::Tetrahedron { [0.25; 3] } else { [0.0; 3] }
    }

    /// Reference coordinates of the integration points: eight, or four of a tetrahedron.
    pub fn integration_points(&self) -> Vec<[f64; 3]> {
        match self.shape() {
            Shape::Tetrahedron => tetrahedron::POINTS.map(|[_, b, c, d]| [b, c, d]).into(),
            _ => hexahedron::gauss_points().into(),
        }
    }

    /// The point of `element` at the reference coordinates `xi`.
    pub fn point(&self, element: usize, xi: [f64; 3]) -> [f64; 3] {
        let (shape, nodes) = (self.shape_functions(xi), self.element(element));
        let x = |a: usize| self.coordinates()[nodes[a] as usize];
        std::array::from_fn(|i| (0..nodes.len()).map(|a| shape[a] * x(a)[i]).sum())
    }

    /// The Jacobian of the place by the reference coordinates at `xi` of `element`.
    pub fn jacobian(&self, element: usize, xi: [f64; 3]) -> [[f64; 3]; 3] {
        match self.shape() {
            Shape::Tetrahedron => {
                let x = self.tetrahedron_coordinates(element);
                tetrahedron::jacobian(&x, tetrahedron::with_first(xi))
            }
            _ => hexahedron::jacobian(&self.element_coordinates(element), xi),
        }
    }

    /// det J at the reference coordinates `xi` of `element`.
    pub fn determinant(&self, element: usize, xi: [f64; 3]) -> f64 {
        hexahedron::determinant(&self.jacobian(element, xi))
    }
}
