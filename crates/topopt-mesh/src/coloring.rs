//! Greedy coloring: elements of one color share no node.

use crate::{HexMesh, NodeToElements};

/// Elements grouped by color; within a color no two elements share a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Coloring {
    groups: Vec<Vec<u32>>,
}

impl Coloring {
    /// Colors the elements of `mesh` in their order, each with the smallest color that no
    /// neighbor has [Ratnakar2022, 5.3].
    pub fn greedy(mesh: &HexMesh, adjacency: &NodeToElements) -> Self {
        const NONE: u32 = u32::MAX;
        let mut color = vec![NONE; mesh.n_elements()];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut taken: Vec<u32> = Vec::new(); // taken[c] == e: a neighbor of e has color c

        for (e, nodes) in mesh.elements().enumerate() {
            for &node in nodes {
                for &neighbor in adjacency.elements_of(node as usize) {
                    let c = color[neighbor as usize];
                    if c != NONE {
                        taken[c as usize] = e as u32;
                    }
                }
            }

            // Entries of other elements are stale, so `taken` is never cleared.
            let free = (0..groups.len()).find(|&c| taken[c] != e as u32);
            let c = free.unwrap_or_else(|| {
                groups.push(Vec::new());
                taken.push(NONE);
                groups.len() - 1
            });

            color[e] = c as u32;
            groups[c].push(e as u32);
        }

        Self { groups }
    }

    /// The elements of each color.
    pub fn groups(&self) -> &[Vec<u32>] {
        &self.groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Renumbering;
    use crate::generate::{Benchmark, Resolution};

    /// Checks that every element has one color and that no color touches a node twice.
    fn color(mesh: &HexMesh) -> Coloring {
        let coloring = Coloring::greedy(mesh, &NodeToElements::new(mesh));
        let mut last = vec![usize::MAX; mesh.n_nodes()];
        for (c, group) in coloring.groups().iter().enumerate() {
            for node in group.iter().flat_map(|&e| mesh.hexes()[e as usize]) {
                assert_ne!(std::mem::replace(&mut last[node as usize], c), c);
            }
        }
        let mut elements = coloring.groups().concat();
        elements.sort_unstable();
        assert!(elements.into_iter().eq(0..mesh.n_elements() as u32));
        coloring
    }

    #[test]
    fn a_box_in_natural_order_needs_eight_colors() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(2000)).unwrap();
        assert_eq!(color(&mesh).groups().len(), 8);
    }

    #[test]
    fn irregular_and_shuffled_meshes_need_few_more() {
        let mesh = Benchmark::Michell.generate(Resolution::Size(1)).unwrap();
        assert!(color(&mesh).groups().len() <= 16);
        let shuffled = Renumbering::shuffled(&mesh, 5).apply(&mesh);
        assert!(color(&shuffled).groups().len() <= 27);
    }
}
