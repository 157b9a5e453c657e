//! Numbers of nodes and elements in the file that a mesh came from.

/// Numbers of the mesh file.
#[derive(Debug, Clone)]
pub struct Tags {
    /// Of the nodes, \[n_nodes\].
    pub nodes: Vec<u64>,
    /// Of the elements, \[n_elements\].
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
