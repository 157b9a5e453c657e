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
        let has_node = |face: &[u32; 4]| face.contains(&(node as u32));
        let is_free = |&element: &u32| {
            (0..self.mesh.n_faces()).any(|local| {
                let nodes = Face { element, local }.nodes(self.mesh);
                let behind = self.neighbors[element as usize][local as usize];
                has_node(&nodes) && !is_own(&behind)
            })
        };
        if patch.iter().any(is_free) {
            let behind = patch.iter().flat_map(|&e| self.neighbors[e as usize]).filter(is_own);
            let behind: Vec<u32> = behind.collect();
            patch.extend(behind);
        }
        patch.sort_unstable();
        patch.dedup();
        patch
    }
}
