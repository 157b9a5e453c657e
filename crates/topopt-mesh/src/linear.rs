//! Linear tetrahedra between the vertices of a mesh of tetrahedra.

use crate::cells::Shape;
use crate::{HexMesh, Neighborhood, Part, hexahedron};

impl HexMesh {
    /// Returns the linear tetrahedra between the vertices of a mesh of tetrahedra, as hexahedra that
    /// are [collapsed](hexahedron::of_tetrahedron), without sets; none of a mesh of hexahedra.
    /// Elements keep their numbers, and vertices their order.
    pub fn linear(&self) -> Option<Self> {
        let numbers = (self.shape() == Shape::Tetrahedron).then(|| Numbers::of(self))?;
        Some(numbers.linear(self))
    }

    /// Number of nodes at corners of elements.
    pub fn n_vertices(&self) -> usize {
        match self.shape() {
            Shape::Tetrahedron => Numbers::of(self).vertices.len(),
            _ => self.n_nodes(),
        }
    }
}

impl Part {
    /// Returns the same part of [`HexMesh::linear`]; none of a mesh of hexahedra. Vertices are
    /// numbered through all parts, those of the first one before those of the next.
    pub fn linear(&self) -> Option<Self> {
        let numbers = (self.mesh.shape() == Shape::Tetrahedron).then(|| Numbers::of(&self.mesh))?;
        let is_own = |node: &&u32| (**node as usize) < self.n_own_nodes;
        Some(Self {
            mesh: numbers.linear(&self.mesh),
            elements: self.elements.clone(),
            n_own_elements: self.n_own_elements,
            nodes: numbers.vertices.iter().map(|&node| self.nodes[node as usize]).collect(),
            n_own_nodes: numbers.vertices.iter().filter(is_own).count(),
            neighbors: self.neighbors.iter().map(|neighbor| numbers.between(neighbor)).collect(),
        })
    }
}

/// Vertices among the nodes of a mesh.
struct Numbers {
    /// Nodes that are vertices, increasing.
    vertices: Vec<u32>,
    /// Number of the vertex that a node is, `[n_nodes]`.
    of_node: Vec<Option<u32>>,
}

impl Numbers {
    fn of(mesh: &HexMesh) -> Self {
        let mut is_vertex = vec![false; mesh.n_nodes()];
        let corners = mesh.tetrahedra().iter().flat_map(|nodes| &nodes[..4]);
        corners.for_each(|&node| is_vertex[node as usize] = true);
        let nodes = 0..mesh.n_nodes() as u32;
        let vertices: Vec<u32> = nodes.filter(|&node| is_vertex[node as usize]).collect();
        let mut of_node = vec![None; mesh.n_nodes()];
        for (&node, number) in vertices.iter().zip(0..) {
            of_node[node as usize] = Some(number);
        }
        Self { vertices, of_node }
    }

    /// Exchange with a neighbor of the vertices among the nodes.
    fn between(&self, neighbor: &Neighborhood) -> Neighborhood {
        Neighborhood {
            sent_nodes: self.among(&neighbor.sent_nodes),
            received_nodes: self.among(&neighbor.received_nodes),
            ..neighbor.clone()
        }
    }

    /// Numbers of the vertices among `nodes`.
    fn among(&self, nodes: &[u32]) -> Vec<u32> {
        nodes.iter().filter_map(|&node| self.of_node[node as usize]).collect()
    }

    fn linear(&self, mesh: &HexMesh) -> HexMesh {
        let number = |node: u32| self.of_node[node as usize].unwrap_or_default();
        let vertices = mesh.tetrahedra().iter().map(|&[a, b, c, d, ..]| [a, b, c, d].map(number));
        let hexes: Vec<[u32; 8]> = vertices.map(hexahedron::of_tetrahedron).collect();
        let x = self.vertices.iter().map(|&node| mesh.coordinates()[node as usize]).collect();
        HexMesh::of_part(Shape::Hexahedron, x, hexes.into_flattened())
    }
}
