//! The mesh itself: checked when made, then trusted.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::boundary::Boundary;
use crate::bounding_box::BoundingBox;
use crate::cells::Shape;
use crate::mesh_error::MeshError;
use crate::sets::{Face, SetKind, Sets};
use crate::trilinear::Trilinear;
use crate::{hexahedron, tetrahedron};

/// An unstructured mesh, either of trilinear hexahedra or of [tetrahedra of ten
/// nodes](tetrahedron), that is known to be valid: finite coordinates, indices in range, no node
/// without an element, a positive Jacobian at every integration point, sets that name existing
/// entities. No node stands twice in an element, unless it is a [wedge](hexahedron::wedge) or a
/// [pyramid](hexahedron::pyramid): a hexahedron with a face that is collapsed to an edge or a
/// point. [`HexMesh::linear`] has [tetrahedra](hexahedron::tetrahedron) besides.
#[derive(Debug, Clone, PartialEq)]
pub struct HexMesh {
    // Equations on a mesh have it each, and share what is large.
    coordinates: Arc<Vec<[f64; 3]>>,
    shape: Shape,
    /// Nodes of all elements one after the other, [`HexMesh::nodes_per_element`] each.
    nodes: Arc<Vec<u32>>,
    sets: Sets,
    boundary: Boundary,
}

impl HexMesh {
    /// Checks everything that [`HexMesh`] promises.
    ///
    /// `coordinates`: `[n_nodes][3]`, in the user's unit of length; `hexes`: `[n_elements][8]`.
    ///
    /// # Errors
    /// [`MeshError`], naming the first offending entity.
    pub fn new(
        coordinates: Vec<[f64; 3]>,
        hexes: Vec<[u32; 8]>,
        sets: Sets,
    ) -> Result<Self, MeshError> {
        Self::checked(coordinates, Shape::Hexahedron, hexes.into_flattened(), sets)
    }

    /// Checks everything that [`HexMesh`] promises of a mesh of tetrahedra.
    ///
    /// `coordinates`: `[n_nodes][3]`; `tetrahedra`: `[n_elements][10]`, in the order of
    /// [`tetrahedron`].
    ///
    /// # Errors
    /// [`MeshError`], naming the first offending entity.
    pub fn of_tetrahedra(
        coordinates: Vec<[f64; 3]>,
        tetrahedra: Vec<[u32; 10]>,
        sets: Sets,
    ) -> Result<Self, MeshError> {
        Self::checked(coordinates, Shape::Tetrahedron, tetrahedra.into_flattened(), sets)
    }

    fn checked(
        coordinates: Vec<[f64; 3]>,
        shape: Shape,
        nodes: Vec<u32>,
        sets: Sets,
    ) -> Result<Self, MeshError> {
        let (coordinates, nodes, boundary) =
            (coordinates.into(), nodes.into(), Boundary::default());
        let mesh = Self { coordinates, shape, nodes, sets, boundary };
        mesh.check_size()?;
        check_coordinates(&mesh.coordinates)?;
        mesh.check_connectivity()?;
        mesh.check_sets()?;
        mesh.check_jacobians()?;
        Ok(mesh)
    }

    /// Replaces the sets.
    ///
    /// # Errors
    /// [`MeshError`], naming the first set that holds what is not in the mesh.
    pub fn with_sets(self, sets: Sets) -> Result<Self, MeshError> {
        let mesh = Self { sets, ..self };
        mesh.check_sets()?;
        Ok(mesh)
    }

    /// Node coordinates, `[n_nodes][3]`.
    pub fn coordinates(&self) -> &[[f64; 3]] {
        &self.coordinates
    }

    /// Shape of all elements: a hexahedron or a tetrahedron.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of nodes per element: 8, or 10 of a tetrahedron.
    pub fn nodes_per_element(&self) -> usize {
        nodes_per_element(self.shape)
    }

    /// Nodes of `element`, `[nodes_per_element]`, in the order of the VTK hexahedron or quadratic
    /// tetrahedron.
    pub fn element(&self, element: usize) -> &[u32] {
        let n = self.nodes_per_element();
        &self.nodes[n * element..][..n]
    }

    /// Nodes of the elements, one element after the other; see [`HexMesh::element`].
    pub fn elements(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        self.nodes.chunks_exact(self.nodes_per_element())
    }

    /// The [`HexMesh::elements`], by several threads.
    pub fn par_elements(&self) -> impl IndexedParallelIterator<Item = &[u32]> {
        self.nodes.par_chunks_exact(self.nodes_per_element())
    }

    /// Nodes of the elements without a break, `[n_elements * nodes_per_element]`.
    pub fn connectivity(&self) -> &[u32] {
        &self.nodes
    }

    /// Nodes of the hexahedra, `[n_elements][8]`, in the order of the VTK hexahedron.
    ///
    /// # Panics
    /// If the elements are tetrahedra.
    pub fn hexes(&self) -> &[[u32; 8]] {
        self.of_shape(Shape::Hexahedron)
    }

    /// Nodes of the tetrahedra, `[n_elements][10]`, in the order of [`tetrahedron`].
    ///
    /// # Panics
    /// If the elements are hexahedra.
    pub fn tetrahedra(&self) -> &[[u32; 10]] {
        self.of_shape(Shape::Tetrahedron)
    }

    fn of_shape<const E: usize>(&self, shape: Shape) -> &[[u32; E]] {
        assert_eq!(self.shape, shape, "elements of the shape that is asked for");
        self.nodes.as_chunks().0
    }

    /// Named sets.
    pub fn sets(&self) -> &Sets {
        &self.sets
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.coordinates.len()
    }

    /// Number of elements.
    pub fn n_elements(&self) -> usize {
        self.nodes.len() / self.nodes_per_element()
    }

    /// Number of faces per element: six, or four of a tetrahedron.
    pub fn n_faces(&self) -> u8 {
        self.shape.faces().len() as u8
    }

    /// Number of elements that are [wedges](hexahedron::wedge) or [pyramids](hexahedron::pyramid).
    pub fn n_degenerate(&self) -> usize {
        match self.shape {
            Shape::Tetrahedron => 0,
            _ => self.hexes().par_iter().filter(|hex| hexahedron::is_degenerate(hex)).count(),
        }
    }

    /// The smallest axis-aligned box around the mesh.
    pub fn bounding_box(&self) -> BoundingBox {
        BoundingBox::around(&self.coordinates)
    }

    /// This mesh in another numbering of nodes, elements and local nodes.
    pub(crate) fn permuted(
        &self,
        coordinates: Vec<[f64; 3]>,
        connectivity: Vec<u32>,
        sets: Sets,
    ) -> Self {
        debug_assert_eq!(coordinates.len(), self.n_nodes());
        debug_assert_eq!(connectivity.len(), self.nodes.len());
        Self { sets, ..Self::of_part(self.shape, coordinates, connectivity) }
    }

    /// Consecutive elements as a mesh of their own, with nodes in the same order; without sets.
    pub(crate) fn part(&self, elements: Range<usize>) -> Self {
        let n = self.nodes_per_element();
        let own = self.nodes[n * elements.start..n * elements.end].as_chunks::<1>().0;
        let (nodes, own) = hexahedron::with_own_nodes(own);
        let coordinates = nodes.iter().map(|&node| self.coordinates[node as usize]).collect();
        self.part_of(coordinates, own.into_flattened())
    }

    /// Elements of this mesh, by the `nodes` that they have, as a mesh of their own; without sets.
    pub fn part_of(&self, coordinates: Vec<[f64; 3]>, nodes: Vec<u32>) -> Self {
        Self::of_part(self.shape, coordinates, nodes)
    }

    /// Elements of a mesh that was checked, with the nodes that they have, perhaps none, one
    /// element after the other; without sets.
    pub fn of_part(shape: Shape, coordinates: Vec<[f64; 3]>, nodes: Vec<u32>) -> Self {
        let (coordinates, nodes, sets) = (coordinates.into(), nodes.into(), Sets::default());
        Self { coordinates, shape, nodes, sets, boundary: Boundary::default() }
    }

    pub(crate) fn boundary(&self) -> &Boundary {
        &self.boundary
    }

    fn check_size(&self) -> Result<(), MeshError> {
        if self.nodes.is_empty() {
            return Err(MeshError::Empty);
        }
        let largest = self.n_nodes().max(self.n_elements());
        if largest > u32::MAX as usize { Err(MeshError::TooLarge(largest)) } else { Ok(()) }
    }

    fn check_connectivity(&self) -> Result<(), MeshError> {
        let n_nodes = self.n_nodes();
        let used: Vec<AtomicBool> = (0..n_nodes).into_par_iter().map(|_| false.into()).collect();
        let outside = self.par_elements().enumerate().find_map_first(|(element, nodes)| {
            let mark =
                |node: &&u32| used.get(**node as usize).map(|u| u.store(true, Ordering::Relaxed));
            nodes.iter().find(|node| mark(node).is_none()).map(|&node| (element as u32, node))
        });

        if let Some((element, node)) = outside {
            return Err(MeshError::NodeOutOfRange { element, node, n_nodes });
        }

        let repeated = self.par_elements().enumerate();
        let repeated = repeated.filter_map(|(e, nodes)| Some((e as u32, repeated_node(nodes)?)));
        let repeated: Vec<(u32, u32)> = repeated.collect();
        if let Some(&(element, node)) = repeated.first() {
            return Err(MeshError::RepeatedNode { element, node, count: repeated.len() });
        }

        // Only now: without an element outside, the first search has marked the nodes of all
        // elements.
        let is_orphan = |used: &AtomicBool| !used.load(Ordering::Relaxed);
        match used.par_iter().position_first(is_orphan) {
            None => Ok(()),
            Some(node) => Err(MeshError::Orphan {
                node: node as u32,
                count: used.par_iter().filter(|used| is_orphan(used)).count(),
            }),
        }
    }

    fn check_jacobians(&self) -> Result<(), MeshError> {
        let least = match self.shape {
            Shape::Tetrahedron => {
                self.of_elements(|_: &[u32; 10], x| tetrahedron::least_determinant(x))
            }
            _ => self.of_elements(|_, x| least_determinant(x)),
        };
        let least = least.into_par_iter().enumerate();
        let bad: Vec<(usize, f64)> = least.filter(|(_, det)| *det <= 0.0).collect();
        match bad.first() {
            None => Ok(()),
            Some(&(e, determinant)) => {
                let (element, count, center) = (e as u32, bad.len(), self.center(e));
                Err(MeshError::Inverted { element, center, determinant, count })
            }
        }
    }

    fn check_sets(&self) -> Result<(), MeshError> {
        let (n_nodes, n_elements, n_faces) = (self.n_nodes(), self.n_elements(), self.n_faces());
        let outside = |kind, name: &String, entity| {
            Err(MeshError::SetOutOfRange { kind, name: name.clone(), entity })
        };
        for (name, set) in &self.sets.nodes {
            if let Some(&n) = set.par_iter().find_first(|n| **n as usize >= n_nodes) {
                return outside(SetKind::Node, name, n);
            }
        }
        let has_no = |face: &&Face| face.element as usize >= n_elements || face.local >= n_faces;
        for (name, set) in &self.sets.faces {
            if let Some(f) = set.iter().find(has_no) {
                return outside(SetKind::Face, name, f.element);
            }
        }
        for (name, set) in &self.sets.elements {
            if let Some(&e) = set.par_iter().find_first(|e| **e as usize >= n_elements) {
                return outside(SetKind::Element, name, e);
            }
        }
        Ok(())
    }
}

fn nodes_per_element(shape: Shape) -> usize {
    if shape == Shape::Tetrahedron { tetrahedron::N_NODES } else { 8 }
}

fn check_coordinates(coordinates: &[[f64; 3]]) -> Result<(), MeshError> {
    match coordinates.par_iter().position_first(|x| x.iter().any(|v| !v.is_finite())) {
        None => Ok(()),
        Some(node) => {
            Err(MeshError::NotFinite { node: node as u32, coordinates: coordinates[node] })
        }
    }
}

/// The smallest determinant of the Jacobian of a hexahedron at its Gauss points.
fn least_determinant(x: &[[f64; 3]; 8]) -> f64 {
    let map = Trilinear::of(x);
    let dets = hexahedron::gauss_points().map(|xi| map.determinant(xi));
    dets.into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns the first node that stands twice in an element, unless that is a wedge or a pyramid.
fn repeated_node(nodes: &[u32]) -> Option<u32> {
    if let Ok(hex) = <&[u32; 8]>::try_from(nodes)
        && (!hexahedron::has_twice(hex) || hexahedron::is_degenerate(hex))
    {
        return None;
    }
    (1..nodes.len()).find(|&a| nodes[..a].contains(&nodes[a])).map(|a| nodes[a])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> (Vec<[f64; 3]>, Vec<[u32; 8]>) {
        let corners = hexahedron::NODES.map(|n| n.map(|v| 0.5 * (v + 1.0)));
        (corners.to_vec(), vec![[0, 1, 2, 3, 4, 5, 6, 7]])
    }

    fn error_of(
        change: impl FnOnce(&mut Vec<[f64; 3]>, &mut Vec<[u32; 8]>, &mut Sets),
    ) -> MeshError {
        let (mut x, mut hexes) = cube();
        let mut sets = Sets::default();
        change(&mut x, &mut hexes, &mut sets);
        HexMesh::new(x, hexes, sets).unwrap_err()
    }

    #[test]
    fn unit_cube_is_valid() {
        let (x, hexes) = cube();
        let mesh = HexMesh::new(x, hexes, Sets::default()).unwrap();
        assert!((mesh.volumes()[0] - 1.0).abs() < 1e-15);
        assert_eq!(mesh.centers()[0], [0.5; 3]);
        assert_eq!(mesh.bounding_box().extent(), [1.0; 3]);
    }

    #[test]
    fn every_promise_is_checked() {
        assert_eq!(error_of(|_, h, _| h.clear()), MeshError::Empty);

        assert!(matches!(
            error_of(|x, _, _| x[3][1] = f64::NAN),
            MeshError::NotFinite { node: 3, .. }
        ));

        assert!(matches!(
            error_of(|_, h, _| h[0][2] = 8),
            MeshError::NodeOutOfRange { element: 0, node: 8, n_nodes: 8 }
        ));

        assert!(matches!(
            error_of(|_, h, _| h[0][2] = 1),
            MeshError::RepeatedNode { element: 0, node: 1, count: 1 }
        ));
        assert!(matches!(
            error_of(|_, h, _| h[0].rotate_left(4)),
            MeshError::Inverted { element: 0, count: 1, .. }
        ));
        assert!(matches!(
            error_of(|x, _, _| x.push([9.0; 3])),
            MeshError::Orphan { node: 8, count: 1 }
        ));
        assert!(matches!(
            error_of(|_, _, s| drop(s.nodes.insert("load".into(), vec![0, 8]))),
            MeshError::SetOutOfRange { kind: SetKind::Node, entity: 8, .. }
        ));
    }
}
