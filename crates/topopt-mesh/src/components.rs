//! Connected components: parts of a mesh that share no node.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::HexMesh;

/// Which connected part every node and element belongs to. Parts are numbered in the order of
/// their first node.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    of_node: Vec<u32>,
    of_element: Vec<u32>,
    n_components: usize,
}

impl Components {
    /// The components of `mesh`: elements that share a node are connected.
    pub fn of(mesh: &HexMesh) -> Self {
        let parent: Vec<AtomicU32> =
            (0..mesh.n_nodes() as u32).into_par_iter().map(AtomicU32::new).collect();
        mesh.hexes().par_iter().for_each(|hex| {
            hex[1..].iter().for_each(|&node| join(&parent, hex[0], node));
        });
        // A root is the smallest node of its part.
        let root_of: Vec<u32> =
            (0..mesh.n_nodes() as u32).into_par_iter().map(|node| find(&parent, node)).collect();
        let is_root = |&node: &u32| root_of[node as usize] == node;
        let roots: Vec<u32> = (0..mesh.n_nodes() as u32).into_par_iter().filter(is_root).collect();
        let part = |root: &u32| roots.partition_point(|other| other < root) as u32;
        let of_node: Vec<u32> = root_of.par_iter().map(part).collect();
        let of_element = mesh.hexes().par_iter().map(|hex| of_node[hex[0] as usize]).collect();
        Self { of_node, of_element, n_components: roots.len() }
    }

    /// Number of parts.
    pub fn n_components(&self) -> usize {
        self.n_components
    }

    /// Part of every node, \[n_nodes\].
    pub fn of_node(&self) -> &[u32] {
        &self.of_node
    }

    /// Part of every element, \[n_elements\].
    pub fn of_element(&self) -> &[u32] {
        &self.of_element
    }

    /// The nodes of every part, increasing.
    pub fn nodes_by_component(&self) -> Vec<Vec<u32>> {
        let mut parts = vec![Vec::new(); self.n_components];
        for (node, &part) in self.of_node.iter().enumerate() {
            parts[part as usize].push(node as u32);
        }
        parts
    }
}

/// The root of the tree of `node`, with path halving. A node never gets a larger parent, so that
/// several threads may look and [`join`] at a time.
fn find(parent: &[AtomicU32], mut node: u32) -> u32 {
    let of = |node: u32| parent[node as usize].load(Ordering::Relaxed);
    loop {
        let above = of(node);
        if above == node {
            return node;
        }
        let next = of(above);
        if next != above {
            parent[node as usize].fetch_min(next, Ordering::Relaxed);
        }
        node = next;
    }
}

/// Makes one tree of those of `a` and `b`: the larger root gets the smaller one as its parent.
fn join(parent: &[AtomicU32], mut a: u32, mut b: u32) {
    loop {
        (a, b) = (find(parent, a), find(parent, b));
        let (low, high) = (a.min(b), a.max(b));
        let place = &parent[high as usize];
        let (set, is_root) = (Ordering::Relaxed, Ordering::Relaxed);
        if low == high || place.compare_exchange(high, low, set, is_root).is_ok() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Benchmark, Resolution};
    use crate::{Renumbering, Sets, hexahedron};

    #[test]
    fn separate_cubes_are_parts_and_glued_ones_are_one() {
        let cube = |x: f64| hexahedron::NODES.map(|n| [x + n[0], n[1], n[2]]);
        let far_face = [1, 2, 5, 6].map(|a| cube(2.0)[a]);
        let coordinates = [&cube(0.0)[..], &cube(9.0), &far_face].concat();
        let glued = [1, 16, 17, 2, 5, 18, 19, 6];
        let hexes = vec![[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], glued];
        let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
        let components = Components::of(&mesh);
        assert_eq!(components.n_components(), 2);
        assert_eq!(components.of_element(), [0, 1, 0]);
        assert_eq!(components.of_node()[16..], [0; 4]);
        assert_eq!(components.nodes_by_component()[1], (8..16).collect::<Vec<u32>>());
    }

    #[test]
    fn a_connected_mesh_in_random_order_is_one_part() {
        let mesh = Benchmark::LBeam.generate(Resolution::Elements(1000)).unwrap();
        for seed in 0..5 {
            let shuffled = Renumbering::shuffled(&mesh, seed).apply(&mesh);
            assert_eq!(Components::of(&shuffled).n_components(), 1);
        }
    }
}
