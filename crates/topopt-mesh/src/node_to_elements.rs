//! Node-to-element adjacency: the reverse connectivity C_rev of [Ratnakar2022, 3.1.2.1].

use crate::{HexMesh, counting_sort};

/// For every node, its elements and its local number in each, in compressed rows. An element that
/// has the node twice stands there twice.
/// Built by counting sort and prefix sum over the flattened connectivity.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeToElements {
    offsets: Vec<usize>,
    elements: Vec<u32>,
    locals: Vec<u8>,
}

impl NodeToElements {
    /// The adjacency of `mesh`. The elements of a node come in increasing order.
    pub fn new(mesh: &HexMesh) -> Self {
        let nodes = mesh.hexes().as_flattened();
        let offsets = counting_sort::offsets(nodes, mesh.n_nodes());
        let elements = counting_sort::sorted(nodes, &offsets, |item| (item / 8) as u32);
        let locals = counting_sort::sorted(nodes, &offsets, |item| (item % 8) as u8);
        Self { offsets, elements, locals }
    }

    /// The elements of `node` with its local number in each.
    pub fn of(&self, node: usize) -> impl Iterator<Item = (u32, u8)> + '_ {
        let row = self.offsets[node]..self.offsets[node + 1];
        self.elements[row.clone()].iter().copied().zip(self.locals[row].iter().copied())
    }

    /// The elements of `node`, increasing.
    pub fn elements_of(&self, node: usize) -> &[u32] {
        &self.elements[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Length of the row of `node`.
    pub fn valence(&self, node: usize) -> usize {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Renumbering;
    use crate::generate::{Benchmark, Resolution};

    #[test]
    fn it_is_the_inverse_of_the_connectivity() {
        let mesh = Benchmark::Michell.generate(Resolution::Elements(1)).unwrap();
        let mesh = Renumbering::shuffled(&mesh, 11).apply(&mesh);
        let adjacency = NodeToElements::new(&mesh);
        assert_eq!(adjacency.n_nodes(), mesh.n_nodes());
        for node in 0..mesh.n_nodes() {
            let mut expected = Vec::new();
            for (e, hex) in mesh.hexes().iter().enumerate() {
                let local = hex.iter().position(|&n| n as usize == node);
                expected.extend(local.map(|a| (e as u32, a as u8)));
            }
            assert_eq!(adjacency.of(node).collect::<Vec<_>>(), expected);
            assert_eq!(adjacency.valence(node), expected.len());
            assert!(adjacency.elements_of(node).iter().eq(expected.iter().map(|(e, _)| e)));
        }
    }
}
