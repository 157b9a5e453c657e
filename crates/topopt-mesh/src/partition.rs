//! A mesh in parts: consecutive elements, with a layer of ghosts around what each part owns.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::HexMesh;
use crate::counting_sort::{Grouped, grouped};

/// Division of a mesh into parts: the owner of every element and every node.
///
/// Parts are consecutive elements, as many in each as can be: where elements follow a curve through
/// the mesh, parts are compact. A node belongs to the first part that touches it. A part may be
/// empty, and it may own no node.
#[derive(Debug, Clone)]
pub struct Partition {
    /// First element of each part, then the number of elements, `[n_parts + 1]`.
    bounds: Vec<usize>,
    /// Part that owns each node, `[n_nodes]`.
    owners: Vec<u32>,
    /// Number of nodes owned per part.
    node_counts: Vec<usize>,
    /// The nodes of the first part, those of the next, and so on, each increasing.
    node_order: Arc<[u32]>,
}

/// A part of a mesh: its own elements, and as ghosts all others that touch its own nodes, with all
/// their nodes. So everything that elements make at an own node is there.
#[derive(Debug, Clone)]
pub struct Part {
    /// Own elements and then ghosts; own nodes and then ghosts; without sets. A part that owns
    /// nothing has a mesh of nothing.
    pub mesh: HexMesh,
    /// Numbers of the elements in the whole mesh, increasing.
    pub elements: Vec<u32>,
    /// Number of own elements, which come first.
    pub n_own_elements: usize,
    /// Numbers of the nodes in the whole mesh: own ones, increasing, then ghosts, increasing.
    pub nodes: Vec<u32>,
    /// Number of own nodes, which come first.
    pub n_own_nodes: usize,
    /// Parts with which it exchanges nodes or elements, increasing.
    pub neighbors: Vec<Neighborhood>,
}

/// Nodes and elements that a part exchanges with one other part. Numbers are local to this part, in
/// the order of the whole mesh, which is the same on both sides.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Neighborhood {
    /// The other part.
    pub part: usize,
    /// Own nodes that are ghosts there.
    pub sent_nodes: Vec<u32>,
    /// Ghost nodes that it owns.
    pub received_nodes: Vec<u32>,
    /// Own elements that are ghosts there.
    pub sent_elements: Vec<u32>,
    /// Ghost elements that it owns.
    pub received_elements: Vec<u32>,
}

impl Partition {
    /// `mesh` in `n_parts` > 0 parts.
    pub fn new(mesh: &HexMesh, n_parts: usize) -> Self {
        let n = mesh.n_elements();
        let bounds: Vec<usize> = (0..=n_parts).map(|part| n * part / n_parts).collect();

        // Part after part, so that the first one that touches a node stays.
        let nodes = (0..mesh.n_nodes()).into_par_iter();
        let owners: Vec<AtomicU32> = nodes.map(|_| u32::MAX.into()).collect();
        for part in 0..n_parts {
            let n = mesh.nodes_per_element();
            let nodes = &mesh.connectivity()[n * bounds[part]..n * bounds[part + 1]];
            nodes.par_iter().for_each(|&node| {
                let owner = &owners[node as usize];
                if owner.load(Relaxed) == u32::MAX {
                    owner.store(part as u32, Relaxed);
                }
            });
        }

        let owners: Vec<u32> = owners.into_par_iter().map(AtomicU32::into_inner).collect();
        let Grouped { offsets, values } = grouped(&owners, n_parts, |node| node as u32);
        let node_counts = offsets.windows(2).map(|ends| ends[1] - ends[0]).collect();
        Self { bounds, owners, node_counts, node_order: values.into() }
    }

    /// Number of parts.
    pub fn n_parts(&self) -> usize {
        self.node_counts.len()
    }

    /// The own elements of a part.
    pub fn elements(&self, part: usize) -> Range<usize> {
        self.bounds[part]..self.bounds[part + 1]
    }

    /// Number of nodes owned per part.
    pub fn node_counts(&self) -> &[usize] {
        &self.node_counts
    }

    /// The nodes of the first part, those of the next, and so on, each increasing.
    pub fn node_order(&self) -> Arc<[u32]> {
        self.node_order.clone()
    }

    /// Builds a part of `mesh`, which this partition divides.
    pub fn part(&self, mesh: &HexMesh, part: usize) -> Part {
        let own = self.elements(part);
        let owner = |node: u32| self.owners[node as usize] as usize;

        // A node belongs to the first part that touches it, so ghosts come after the own elements.
        let touches = |e: &usize| mesh.element(*e).iter().any(|&node| owner(node) == part);
        let ghosts = (own.end..mesh.n_elements()).into_par_iter().filter(touches);
        let ghosts: Vec<u32> = ghosts.map(|e| e as u32).collect();
        let elements: Vec<u32> =
            (own.start as u32..own.end as u32).chain(ghosts.iter().copied()).collect();

        // Own nodes are known; the others are what these elements have besides.
        let first: usize = self.node_counts[..part].iter().sum();
        let mut nodes = self.node_order[first..][..self.node_counts[part]].to_vec();
        let n_own_nodes = nodes.len();
        let all = (0..mesh.n_nodes() as u32).into_par_iter();
        let is_other: Vec<AtomicBool> = all.clone().map(|_| false.into()).collect();
        elements.par_iter().for_each(|&e| {
            let others = mesh.element(e as usize).iter().filter(|&&node| owner(node) != part);
            others.for_each(|&node| is_other[node as usize].store(true, Relaxed));
        });
        let others = all.clone().filter(|&node| is_other[node as usize].load(Relaxed));
        nodes.par_extend(others);
        drop(is_other);

        let local: Vec<AtomicU32> = all.map(|_| 0.into()).collect();
        let number = |(k, &node): (usize, &u32)| local[node as usize].store(k as u32, Relaxed);
        nodes.par_iter().enumerate().for_each(number);
        let local = |node: u32| local[node as usize].load(Relaxed);
        let of_element = |&e: &u32| mesh.element(e as usize).iter().map(|&node| local(node));
        let connectivity = elements.par_iter().flat_map_iter(of_element).collect();
        let coordinates = nodes.par_iter().map(|&node| mesh.coordinates()[node as usize]).collect();
        let made = Part {
            mesh: mesh.part_of(coordinates, connectivity),
            elements,
            n_own_elements: own.len(),
            nodes,
            n_own_nodes,
            neighbors: Vec::new(),
        };
        Part { neighbors: self.neighbors(part, &made), ..made }
    }

    /// Returns the exchange of `part`, which has that number, with each part that touches it.
    fn neighbors(&self, number: usize, part: &Part) -> Vec<Neighborhood> {
        let mut neighbors: Vec<Neighborhood> =
            (0..self.n_parts()).map(|part| Neighborhood { part, ..Default::default() }).collect();
        for (local, &e) in (0..).zip(&part.elements).skip(part.n_own_elements) {
            neighbors[self.part_of(e)].received_elements.push(local);
        }
        for (local, &node) in (0..).zip(&part.nodes).skip(part.n_own_nodes) {
            neighbors[self.owners[node as usize] as usize].received_nodes.push(local);
        }

        self.add_sent(number, part, &mut neighbors);
        neighbors.retain(|neighbor| {
            let Neighborhood { sent_nodes, received_nodes, .. } = neighbor;
            let elements = [&neighbor.sent_elements, &neighbor.received_elements];
            elements.into_iter().chain([sent_nodes, received_nodes]).any(|list| !list.is_empty())
        });
        neighbors
    }

    /// Adds what `part` sends to each other part that has an element of it or a node of the
    /// element: the element, if it is the part's own, and its own nodes.
    fn add_sent(&self, number: usize, part: &Part, neighbors: &mut [Neighborhood]) {
        let is_own = |node: &u32| (*node as usize) < part.n_own_nodes;
        let is_ghost = |local: usize| local >= part.n_own_elements;
        let owner = |node: u32| self.owners[part.nodes[node as usize] as usize] as usize;

        let all = part.mesh.par_elements().enumerate();
        let border = all.filter(|(local, nodes)| is_ghost(*local) || !nodes.iter().all(is_own));
        for (local, nodes) in border.collect::<Vec<_>>() {
            let home = self.part_of(part.elements[local]);
            let mut there: Vec<usize> =
                nodes.iter().map(|&node| owner(node)).chain([home]).collect();
            there.retain(|&other| other != number);
            there.sort_unstable();
            there.dedup();
            for other in there {
                if !is_ghost(local) {
                    neighbors[other].sent_elements.push(local as u32);
                }
                neighbors[other].sent_nodes.extend(nodes.iter().copied().filter(is_own));
            }
        }

        for neighbor in neighbors {
            neighbor.sent_nodes.sort_unstable();
            neighbor.sent_nodes.dedup();
        }
    }

    /// Part that has an element as its own.
    fn part_of(&self, element: u32) -> usize {
        self.bounds.partition_point(|&bound| bound <= element as usize) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Benchmark, Resolution};
    use crate::{NodeToElements, Renumbering};

    /// Meshes as a run has them, and one in no order.
    fn meshes() -> Vec<HexMesh> {
        let made = [Benchmark::Cantilever, Benchmark::Michell].map(|benchmark| {
            let mesh = benchmark.generate(Resolution::Elements(1)).unwrap();
            Renumbering::on_import(&mesh).apply(&mesh)
        });
        let shuffled = Renumbering::shuffled(&made[0], 3).apply(&made[0]);
        made.into_iter().chain([shuffled]).collect()
    }

    #[test]
    fn everything_is_owned_once_and_all_elements_of_own_nodes_are_there() {
        for mesh in meshes() {
            let adjacency = NodeToElements::new(&mesh);
            for n_parts in [1, 2, 3, 8] {
                let partition = Partition::new(&mesh, n_parts);
                let parts: Vec<Part> = (0..n_parts).map(|p| partition.part(&mesh, p)).collect();

                let mut owned = vec![0; mesh.n_nodes()];
                for (p, part) in parts.iter().enumerate() {
                    let n = part.n_own_elements;
                    assert!(
                        part.elements[..n].iter().map(|&e| e as usize).eq(partition.elements(p))
                    );
                    assert!(part.elements.is_sorted());
                    for (local, hex) in part.mesh.hexes().iter().enumerate() {
                        let whole = mesh.hexes()[part.elements[local] as usize];
                        assert_eq!(hex.map(|node| part.nodes[node as usize]), whole);
                    }
                    for (local, &node) in part.nodes.iter().enumerate() {
                        let [there, here] =
                            [mesh.coordinates()[node as usize], part.mesh.coordinates()[local]];
                        assert_eq!(there, here);
                    }
                    for &node in &part.nodes[..part.n_own_nodes] {
                        owned[node as usize] += 1;
                        let mut around = adjacency.elements_of(node as usize).iter();
                        assert!(around.all(|e| part.elements.binary_search(e).is_ok()));
                    }
                }

                assert!(owned.iter().all(|&times| times == 1));
                let in_order = partition.node_order();
                let own = parts.iter().flat_map(|part| &part.nodes[..part.n_own_nodes]);
                assert!(in_order.iter().eq(own));
                assert_eq!(
                    parts.iter().map(|part| part.n_own_elements).sum::<usize>(),
                    mesh.n_elements()
                );
            }
        }
    }

    #[test]
    fn what_a_part_sends_is_what_the_other_receives() {
        for mesh in meshes() {
            let partition = Partition::new(&mesh, 5);
            let parts: Vec<Part> = (0..5).map(|p| partition.part(&mesh, p)).collect();
            let whole = |list: &[u32], numbers: &[u32]| -> Vec<u32> {
                list.iter().map(|&local| numbers[local as usize]).collect()
            };

            for (p, part) in parts.iter().enumerate() {
                let mut ghosts = [0; 2];
                for neighbor in &part.neighbors {
                    let other = &parts[neighbor.part];
                    let back = other.neighbors.iter().find(|back| back.part == p).unwrap();
                    assert_eq!(
                        whole(&neighbor.received_nodes, &part.nodes),
                        whole(&back.sent_nodes, &other.nodes),
                    );
                    assert_eq!(
                        whole(&neighbor.received_elements, &part.elements),
                        whole(&back.sent_elements, &other.elements),
                    );
                    let mut sent = neighbor.sent_nodes.iter().chain(&neighbor.sent_elements);
                    assert!(neighbor.sent_nodes.iter().all(|&n| (n as usize) < part.n_own_nodes));
                    assert!(
                        sent.all(|&n| (n as usize) < part.n_own_nodes.max(part.n_own_elements))
                    );
                    ghosts[0] += neighbor.received_nodes.len();
                    ghosts[1] += neighbor.received_elements.len();
                }

                assert_eq!(ghosts[0], part.nodes.len() - part.n_own_nodes);
                assert_eq!(ghosts[1], part.elements.len() - part.n_own_elements);
            }
        }
    }

    #[test]
    fn there_may_be_more_parts_than_elements() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let few = mesh.part(0..3);
        let partition = Partition::new(&few, 8);
        let parts: Vec<Part> = (0..8).map(|p| partition.part(&few, p)).collect();
        let sizes: Vec<usize> = parts.iter().map(|part| part.n_own_elements).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 3);
        assert_eq!(sizes.iter().filter(|&&size| size == 0).count(), 5);
        let nothing = parts.iter().find(|part| part.n_own_elements == 0).unwrap();
        assert_eq!((nothing.mesh.n_nodes(), nothing.mesh.n_elements()), (0, 0));
        assert!(nothing.neighbors.is_empty());
        assert_eq!(partition.node_counts().iter().sum::<usize>(), few.n_nodes());
    }
}
