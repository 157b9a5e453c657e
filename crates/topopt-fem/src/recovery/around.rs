//! Patches of elements around nodes.

use topopt_mesh::surface::face_neighbors;
use topopt_mesh::{Face, HexMesh, NodeToElements};

/// The elements around nodes.
pub(super) struct Around<'a> {
    pub mesh: &'a HexMesh,
    materials: &'a [Option<u32>],
    pub adjacency: NodeToElements,
    neighbors: Vec<[u32; 6]>,
}

impl<'a> Around<'a> {
    /// The elements around the nodes of `mesh`, with `materials` as in a
    /// [`Samples`](super::Samples).
    pub fn new(mesh: &'a HexMesh, materials: &'a [Option<u32>]) -> Self {
        let (adjacency, neighbors) = (NodeToElements::new(mesh), face_neighbors(mesh));
        Self { mesh, materials, adjacency, neighbors }
    }

    /// The materials around `node`, ascending.
    pub fn materials_at(&self, node: usize) -> Vec<u32> {
        let around = self.adjacency.elements_of(node).iter();
        let mut found: Vec<u32> = around.filter_map(|&e| self.materials[e as usize]).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The elements of `material` around `node`; where it lies on their surface, those behind too:
    /// a patch of one layer says nothing of the direction across.
    pub fn patch(&self, node: usize, material: u32) -> Vec<u32> {
        let is_own = |e: &u32| self.materials.get(*e as usize) == Some(&Some(material));
        let around = self.adjacency.elements_of(node).iter().copied().filter(is_own);
        let mut patch: Vec<u32> = around.collect();
        let ends = |&element: &u32| self.ends_at(element, node, is_own);
        if patch.iter().any(ends) {
            let behind = patch.iter().flat_map(|&e| self.neighbors[e as usize]).filter(is_own);
            let behind: Vec<u32> = behind.collect();
            patch.extend(behind);
        }
        patch.sort_unstable();
        patch.dedup();
        patch
    }

    /// Whether an element has a face with `node` that none of its own elements is behind.
    fn ends_at(&self, element: u32, node: usize, is_own: impl Fn(&u32) -> bool) -> bool {
        (0..self.mesh.n_faces()).any(|local| {
            let nodes = Face { element, local }.nodes(self.mesh);
            let behind = self.neighbors[element as usize][local as usize];
            nodes.contains(&(node as u32)) && !is_own(&behind)
        })
    }
}
