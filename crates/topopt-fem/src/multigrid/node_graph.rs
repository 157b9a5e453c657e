//! Graph of the nodes that hold together, and so may move as one aggregate.

use rayon::prelude::*;
use topopt_mesh::{HexMesh, NodeToElements};

use super::neighbors::Graph;

/// Nodes that share an element. Empty elements hold nothing together except the nodes that have no
/// others: parts beside a gap move apart as if nothing were between them.
///
/// Where solid elements meet in an edge or a node only, one side turns about it freely. The nodes
/// of such a hinge belong to one side: an aggregate of the other one then turns about them, as its
/// own nodes there stay where they are, while an aggregate of both sides could not turn at all.
pub(super) struct NodeGraph<'a> {
    mesh: &'a HexMesh,
    adjacency: &'a NodeToElements,
    void: Option<Void>,
}

/// Elements that are empty, at least one.
struct Void {
    /// `[n_elements]`.
    is_void: Vec<bool>,
    /// Whether a node has no other elements, `[n_nodes]`.
    is_within: Vec<bool>,
    /// Bit a of each element: its local node a belongs to another side of a hinge, `[n_elements]`.
    beyond_hinge: Vec<u8>,
}

impl Void {
    fn new(mesh: &HexMesh, adjacency: &NodeToElements, void: &[u32]) -> Self {
        let mut is_void = vec![false; mesh.n_elements()];
        void.iter().for_each(|&e| is_void[e as usize] = true);
        let is_within = |node| adjacency.elements_of(node).iter().all(|&e| is_void[e as usize]);
        let is_within = (0..mesh.n_nodes()).into_par_iter().map(is_within).collect();
        Self { is_within, beyond_hinge: beyond_hinges(mesh, adjacency, &is_void), is_void }
    }
}

impl<'a> NodeGraph<'a> {
    /// The graph without the elements `void`.
    pub fn new(mesh: &'a HexMesh, adjacency: &'a NodeToElements, void: &[u32]) -> Self {
        let of_elements = || Void::new(mesh, adjacency, void);
        Self { mesh, adjacency, void: (!void.is_empty()).then(of_elements) }
    }

    /// Visits the neighbors of a node where some elements are empty. Not inlined, so that
    /// [`Graph::each_neighbor`] over all nodes without void is one loop.
    #[inline(never)]
    fn each_around(&self, void: &Void, node: usize, mut visit: impl FnMut(u32)) {
        let hexes = self.mesh.hexes();
        if void.is_within[node] {
            let elements = self.adjacency.elements_of(node).iter();
            let nodes = elements.flat_map(|&e| hexes[e as usize]);
            return nodes.filter(|&n| void.is_within[n as usize]).for_each(visit);
        }

        for (e, local) in self.adjacency.of(node).filter(|(e, _)| !void.is_void[*e as usize]) {
            // The local nodes that belong to the side of the element, a bit each.
            let own = !void.beyond_hinge[e as usize];
            if own >> local & 1 == 1 {
                let nodes = (0..8).zip(hexes[e as usize]).filter(|(a, _)| own >> a & 1 == 1);
                nodes.for_each(|(_, other)| visit(other));
            }
        }
    }
}

impl Graph for NodeGraph<'_> {
    #[inline]
    fn each_neighbor(&self, node: usize, mut visit: impl FnMut(u32)) {
        match &self.void {
            Some(void) => self.each_around(void, node, visit),
            None => {
                for &element in self.adjacency.elements_of(node) {
                    self.mesh.hexes()[element as usize].into_iter().for_each(&mut visit);
                }
            }
        }
    }
}

/// See [`NodeGraph`]: of every element that is not empty, the local nodes at which other elements,
/// more of them or the first ones, are not connected with it by faces.
fn beyond_hinges(mesh: &HexMesh, adjacency: &NodeToElements, is_void: &[bool]) -> Vec<u8> {
    let corners = (0..mesh.n_nodes()).into_par_iter().map(|node| {
        let around = adjacency.of(node).filter(|(e, _)| !is_void[*e as usize]);
        let around: Vec<(u32, u8)> = around.collect();
        if around.len() == adjacency.valence(node) || around.len() < 2 {
            return Vec::new();
        }
        let fans = fans(mesh, &around);
        let size = |fan: usize| fans.iter().filter(|other| **other == fan).count();
        let largest = fans.iter().copied().max_by_key(|&fan| (size(fan), usize::MAX - fan));
        let beyond = around.iter().zip(&fans).filter(|(_, fan)| Some(**fan) != largest);
        beyond.map(|(corner, _)| *corner).collect()
    });
    let corners: Vec<Vec<(u32, u8)>> = corners.collect();
    let mut beyond = vec![0; mesh.n_elements()];
    corners.iter().flatten().for_each(|&(e, a)| beyond[e as usize] |= 1 << a);
    beyond
}

/// For the elements `around` a node, the first of them with which each is connected by faces that
/// have the node.
fn fans(mesh: &HexMesh, around: &[(u32, u8)]) -> Vec<usize> {
    let mut fans: Vec<usize> = (0..around.len()).collect();
    for (i, j) in (0..around.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
        let (from, to) = (fans[j], fans[i]);
        let share = || share_face(mesh, around[i].0, around[j].0);
        if from != to && share() {
            let joined = from.min(to);
            fans.iter_mut()
                .filter(|fan| **fan == from || **fan == to)
                .for_each(|fan| *fan = joined);
        }
    }
    fans
}

/// Whether two elements that share a node share a face, or are the same.
fn share_face(mesh: &HexMesh, a: u32, b: u32) -> bool {
    let (a, b) = (&mesh.hexes()[a as usize], &mesh.hexes()[b as usize]);
    let is_first = |k: usize| !a[..k].contains(&a[k]);
    (0..8).filter(|&k| is_first(k) && b.contains(&a[k])).count() >= 3
}
