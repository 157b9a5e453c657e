//! `MeshError`: why coordinates and connectivity do not make a mesh.

use crate::numbers::place;
use crate::sets::SetKind;

/// Why coordinates and connectivity do not make a [`crate::HexMesh`]. Entities are numbered from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// No element.
    #[error("the mesh has no hexahedra")]
    Empty,
    /// More nodes or elements than 32-bit numbers can name.
    #[error("the mesh has {0} nodes or elements; 4294967295 is the most")]
    TooLarge(usize),
    /// A coordinate that is NaN or infinite.
    #[error("node {node} has a coordinate that is not a finite number: {coordinates:?}")]
    NotFinite {
        /// The node.
        node: u32,
        /// Coordinates of the node.
        coordinates: [f64; 3],
    },
    /// Connectivity out of range.
    #[error("element {element} refers to node {node}, but there are {n_nodes} nodes")]
    NodeOutOfRange {
        /// The element.
        element: u32,
        /// The node it names.
        node: u32,
        /// Number of nodes.
        n_nodes: usize,
    },
    /// Repeated node in an element that is neither a wedge nor a pyramid.
    #[error(
        "element {element} uses node {node} twice and is not a wedge or a pyramid: a tetrahedron or \
         a damaged hexahedron ({count} such element(s) in all)"
    )]
    RepeatedNode {
        /// The first such element.
        element: u32,
        /// The node.
        node: u32,
        /// Number of such elements.
        count: usize,
    },
    /// A Jacobian that is not positive.
    #[error(
        "element {element} at {} is inverted or flat: Jacobian determinant {determinant:.3e} \
         ({count} such element(s) in all)",
        place(*center)
    )]
    Inverted {
        /// The first such element.
        element: u32,
        /// Center of the element.
        center: [f64; 3],
        /// The smallest determinant over its Gauss points.
        determinant: f64,
        /// Number of such elements.
        count: usize,
    },
    /// A node that no element uses.
    #[error("node {node} belongs to no element ({count} such node(s) in all)")]
    Orphan {
        /// The first such node.
        node: u32,
        /// Number of such nodes.
        count: usize,
    },
    /// A set entry out of range.
    #[error("{} set `{name}` names entity {entity}, which is not in the mesh", kind.name())]
    SetOutOfRange {
        /// Kind of the set.
        kind: SetKind,
        /// Name of the set.
        name: String,
        /// The entity.
        entity: u32,
    },
}
