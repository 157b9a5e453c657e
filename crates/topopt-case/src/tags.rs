//! Numbers of nodes and elements in the file that a mesh came from.

use topopt_io::vtk::{Array, Values};
use topopt_mesh::HexMesh;

/// Numbers of the mesh file.
#[derive(Debug, Clone)]
pub struct Tags {
    /// Numbers of the nodes, `[n_nodes]`.
    pub nodes: Vec<u64>,
    /// Numbers of the elements, `[n_elements]`.
    pub elements: Vec<u64>,
}

impl Tags {
    /// The number of a node; without tags, in the mesh that `topopt mesh` writes.
    pub fn node(tags: Option<&Self>, node: u32) -> u64 {
        tags.map_or(u64::from(node) + 1, |tags| tags.nodes[node as usize])
    }

    /// The number of an element, as [`Tags::node`].
    pub fn element(tags: Option<&Self>, element: u32) -> u64 {
        tags.map_or(u64::from(element) + 1, |tags| tags.elements[element as usize])
    }
}

/// Numbers of the mesh file as arrays of a file of results, in which nodes and elements have their places.
pub struct NumberArrays {
    nodes: Vec<i64>,
    elements: Vec<i64>,
}

impl NumberArrays {
    /// Collects the numbers of nodes and elements of `mesh`, in the user's numbering.
    pub fn of(tags: Option<&Tags>, mesh: &HexMesh) -> Self {
        let [nodes, elements] = [mesh.n_nodes(), mesh.n_elements()].map(|n| 0..n as u32);
        Self {
            nodes: nodes.map(|node| Tags::node(tags, node) as i64).collect(),
            elements: elements.map(|element| Tags::element(tags, element) as i64).collect(),
        }
    }

    /// The array of the nodes.
    pub fn of_nodes(&self) -> Array<'_> {
        Array { name: "node", components: 1, values: Values::I64(&self.nodes) }
    }

    /// The array of the elements.
    pub fn of_elements(&self) -> Array<'_> {
        Array { name: "element", components: 1, values: Values::I64(&self.elements) }
    }
}
