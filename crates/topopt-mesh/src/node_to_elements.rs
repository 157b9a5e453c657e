//! Node-to-element adjacency: the reverse connectivity C_rev of [Ratnakar2022, 3.1.2.1].

use rayon::prelude::*;

use crate::HexMesh;
use crate::counting_sort::{Grouped, grouped, parts};

/// For every node, its elements and its local number in each, in compressed rows. An element that
/// has the node twice stands there twice.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeToElements {
    offsets: Vec<usize>,
    elements: Vec<u32>,
    locals: Vec<u8>,
}

impl NodeToElements {
    /// The adjacency of `mesh`. The elements of a node come in increasing order.
    pub fn new(mesh: &HexMesh) -> Self {
        Self::of_rows(mesh, elements_around(mesh))
    }

    /// Builds the adjacency of the `wanted` nodes only; the rows of all others are empty.
    pub(crate) fn of_some(mesh: &HexMesh, wanted: impl Fn(u32) -> bool + Sync) -> Self {
        let (nodes, n) = (mesh.connectivity(), mesh.nodes_per_element());
        let items: Vec<usize> =
            (0..nodes.len()).into_par_iter().filter(|item| wanted(nodes[*item])).collect();
        let keys: Vec<u32> = items.par_iter().map(|&item| nodes[item]).collect();
        Self::of_rows(mesh, grouped(&keys, mesh.n_nodes(), |k| (items[k] / n) as u32))
    }

    /// With the elements of every node.
    fn of_rows(mesh: &HexMesh, Grouped { offsets, values: elements }: Grouped<u32>) -> Self {
        let locals = locals(mesh, &offsets, &elements);
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

    /// The elements that have one of `nodes`, increasing.
    pub fn elements_around(&self, nodes: &[u32]) -> Vec<u32> {
        let all = nodes.iter().flat_map(|&node| self.elements_of(node as usize));
        let mut elements: Vec<u32> = all.copied().collect();
        elements.sort_unstable();
        elements.dedup();
        elements
    }

    /// Returns the start of each node's row, then the end of the last row, `[n_nodes + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The elements of all rows.
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }

    /// The local number of its node in each of these.
    pub fn locals(&self) -> &[u8] {
        &self.locals
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

/// The elements of every node, increasing.
pub(crate) fn elements_around(mesh: &HexMesh) -> Grouped<u32> {
    let (nodes, n) = (mesh.connectivity(), mesh.nodes_per_element());
    grouped(nodes, mesh.n_nodes(), |item| (item / n) as u32)
}

/// Nodes whose local numbers are found by one thread at a time.
const CHUNK: usize = 4096;

/// The local number of the node in each of `elements`; in one that has it several times, one after
/// the other.
fn locals(mesh: &HexMesh, offsets: &[usize], elements: &[u32]) -> Vec<u8> {
    let n = mesh.nodes_per_element() as u8;
    let mut locals = vec![0; elements.len()];
    let ends = offsets[1..].chunks(CHUNK).filter_map(|ends| ends.last().copied());
    let (_, chunks) = parts(&mut locals, ends);
    chunks.into_par_iter().enumerate().for_each(|(chunk, mut locals)| {
        let first = chunk * CHUNK;
        for (node, row) in (first..).zip(offsets[first..].windows(2).take(CHUNK)) {
            let elements = &elements[row[0]..row[1]];
            let (own, others) = locals.split_at_mut(elements.len());
            for (i, &element) in elements.iter().enumerate() {
                let is_again = i > 0 && elements[i - 1] == element;
                let from = if is_again { own[i - 1] + 1 } else { 0 };
                let nodes = mesh.element(element as usize);
                let is_node = |a: &u8| nodes[*a as usize] as usize == node;
                own[i] = (from..n).find(is_node).expect("a node of the element");
            }
            locals = others;
        }
    });
    locals
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
