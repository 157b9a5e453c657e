//! Connected components: parts of a mesh that share no node.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;

use crate::cells::Shape;
use crate::counting_sort::grouped;
use crate::{Face, HexMesh, NodeToElements};

/// Connected part of every node and every element. Parts are numbered in the order of their first
/// node.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    of_node: Vec<u32>,
    of_element: Vec<u32>,
    n_components: usize,
}

/// Mark of nodes and elements in no part.
pub const NO_PART: u32 = u32::MAX;

/// Parts of a mesh whose elements are joined by faces, see [`Components::joined_by_faces`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaceJoined {
    /// Number of parts.
    pub n_parts: usize,
    /// The first node at which two of them meet, if any do.
    pub hinge: Option<u32>,
}

impl Components {
    /// The components of `mesh`: elements that share a node are connected.
    pub fn of(mesh: &HexMesh) -> Self {
        Self::of_some(mesh, |_| true)
    }

    /// The components of the elements that are `wanted`; others, and nodes of these alone, belong to
    /// [`NO_PART`].
    pub fn of_some(mesh: &HexMesh, wanted: impl Fn(usize) -> bool + Sync) -> Self {
        let nodes = || (0..mesh.n_nodes() as u32).into_par_iter();
        let elements = || mesh.par_elements().enumerate().map(|(e, nodes)| (wanted(e), nodes));
        let parent: Vec<AtomicU32> = nodes().map(AtomicU32::new).collect();
        let is_there: Vec<AtomicBool> = nodes().map(|_| false.into()).collect();
        elements().filter(|(is_wanted, _)| *is_wanted).for_each(|(_, nodes)| {
            for &node in nodes {
                is_there[node as usize].store(true, Ordering::Relaxed);
                join(&parent, nodes[0], node);
            }
        });

        // A root is the smallest node of its part.
        let root_of: Vec<u32> = nodes().map(|node| find(&parent, node)).collect();
        let is_there = |node: u32| is_there[node as usize].load(Ordering::Relaxed);
        let is_root = |&node: &u32| root_of[node as usize] == node && is_there(node);
        let roots: Vec<u32> = nodes().filter(is_root).collect();
        let number = |root: u32| roots.partition_point(|other| *other < root) as u32;
        let part = |&root: &u32| if is_there(root) { number(root) } else { NO_PART };
        let of_node: Vec<u32> = root_of.par_iter().map(part).collect();
        let of_first = |nodes: &[u32]| of_node[nodes[0] as usize];
        let of_element =
            elements().map(|(is_in, nodes)| if is_in { of_first(nodes) } else { NO_PART });
        let of_element = of_element.collect();
        Self { of_node, of_element, n_components: roots.len() }
    }

    /// Parts whose elements are joined by faces, which alone hold them against turning: where these
    /// are more than the [parts](Components::of) that share nodes, one turns about an edge or a
    /// node of another.
    pub fn joined_by_faces(mesh: &HexMesh) -> FaceJoined {
        let root_of = Self::roots_by_faces(mesh, |_| true);
        let elements = || (0..mesh.n_elements() as u32).into_par_iter();
        let n_parts = elements().filter(|&e| root_of[e as usize] == e).count();
        if n_parts == 1 {
            return FaceJoined { n_parts, hinge: None };
        }

        // The first node between two parts: whichever part a node gets, another one has it too.
        let of_node: Vec<AtomicU32> =
            (0..mesh.n_nodes()).into_par_iter().map(|_| u32::MAX.into()).collect();
        let all = || {
            let elements = mesh.par_elements().zip(&root_of);
            elements.flat_map_iter(|(nodes, &root)| nodes.iter().map(move |&node| (node, root)))
        };
        all().for_each(|(node, root)| of_node[node as usize].store(root, Ordering::Relaxed));
        let of_node = |node: u32| of_node[node as usize].load(Ordering::Relaxed);
        let hinge = all().filter(|&(node, root)| of_node(node) != root).map(|(node, _)| node).min();
        FaceJoined { n_parts, hinge }
    }

    /// Number of the first element of every element's part, `[n_elements]`, where faces join the
    /// elements that are `wanted`; every other element is a part of its own.
    pub fn roots_by_faces(mesh: &HexMesh, wanted: impl Fn(u32) -> bool + Sync) -> Vec<u32> {
        let parent = parents_by_faces(mesh, wanted);
        (0..mesh.n_elements() as u32).into_par_iter().map(|e| find(&parent, e)).collect()
    }

    /// Number of parts.
    pub fn n_components(&self) -> usize {
        self.n_components
    }

    /// Part of every node, `[n_nodes]`.
    pub fn of_node(&self) -> &[u32] {
        &self.of_node
    }

    /// Part of every element, `[n_elements]`.
    pub fn of_element(&self) -> &[u32] {
        &self.of_element
    }

    /// The nodes of every part, increasing.
    pub fn nodes_by_component(&self) -> Vec<Vec<u32>> {
        let nodes = (0..self.of_node.len() as u32).into_par_iter();
        let is_in_part = |node: &u32| self.of_node[*node as usize] != NO_PART;
        let nodes: Vec<u32> = nodes.filter(is_in_part).collect();
        let parts: Vec<u32> = nodes.par_iter().map(|&node| self.of_node[node as usize]).collect();
        grouped(&parts, self.n_components, |i| nodes[i]).into_lists()
    }
}

/// Trees of the `wanted` elements that are joined by faces.
fn parents_by_faces(mesh: &HexMesh, wanted: impl Fn(u32) -> bool + Sync) -> Vec<AtomicU32> {
    let elements = || (0..mesh.n_elements() as u32).into_par_iter();
    let parent: Vec<AtomicU32> = elements().map(AtomicU32::new).collect();
    let join = |a: u32, b: u32| {
        if wanted(a) && wanted(b) {
            join(&parent, a, b);
        }
    };
    elements().skip(1).for_each(|e| {
        if goes_on(mesh, e) {
            join(e - 1, e);
        }
    });

    // Few of the nodes join nearly all chords.
    join_around(mesh, join, |node| node % FEW == 0);

    // Then whatever is not with the first element by now.
    let nodes = (0..mesh.n_nodes()).into_par_iter();
    let is_apart: Vec<AtomicBool> = nodes.map(|_| false.into()).collect();
    let Some(first) = elements().find_first(|&e| wanted(e)) else { return parent };
    elements().filter(|e| wanted(*e) && find(&parent, *e) != find(&parent, first)).for_each(|e| {
        let nodes = mesh.element(e as usize).iter();
        nodes.for_each(|&node| is_apart[node as usize].store(true, Ordering::Relaxed));
    });
    join_around(mesh, join, |node| is_apart[node as usize].load(Ordering::Relaxed));
    parent
}

/// Joins the elements that share a face whose smallest node is `wanted`.
fn join_around(
    mesh: &HexMesh,
    join: impl Fn(u32, u32) + Sync,
    wanted: impl Fn(u32) -> bool + Sync,
) {
    let adjacency = NodeToElements::of_some(mesh, wanted);
    (0..mesh.n_nodes()).into_par_iter().for_each_init(Around::default, |around, node| {
        around.each_joint(mesh, &adjacency, node, &join);
    });
}

/// One of so many nodes is looked at first by [`parents_by_faces`].
const FEW: u32 = 8;

/// Whether an element begins with the face that the one before ends with, as along a chord of a
/// renumbered mesh.
fn goes_on(mesh: &HexMesh, next: u32) -> bool {
    let faces = [Face { element: next - 1, local: 1 }, Face { element: next, local: 0 }];
    let [last, first] = faces.map(|face| Face::key(face.nodes(mesh)));
    last == first && last[2] != u32::MAX
}

/// Scratch lists of the faces around a node.
#[derive(Default)]
struct Around {
    /// Faces of elements at the node.
    sides: Vec<(u32, [u32; 4])>,
    /// Keys ([`Face::key`]) of the faces whose smallest node it is, each with its first element.
    faces: Vec<([u32; 4], u32)>,
}

impl Around {
    /// Calls `join` with elements that share a face whose smallest node is `node`. A side that is
    /// collapsed to an edge holds nothing.
    fn each_joint(
        &mut self,
        mesh: &HexMesh,
        adjacency: &NodeToElements,
        node: usize,
        join: impl Fn(u32, u32),
    ) {
        // All loads first, as they may be far away in memory.
        self.sides.clear();
        for (element, local) in adjacency.of(node) {
            let at = sides_at(mesh.shape(), local);
            let nodes = |local| (element, Face { element, local }.nodes(mesh));
            self.sides.extend(at.map(nodes));
        }

        self.faces.clear();
        for &(element, nodes) in &self.sides {
            let smallest = nodes.into_iter().fold(u32::MAX, u32::min);
            if smallest as usize != node {
                continue;
            }
            let key = Face::key(nodes);
            if key[2] == u32::MAX {
                continue;
            }
            match self.faces.iter().find(|(other, _)| *other == key) {
                Some(&(_, first)) => join(first, element),
                None => self.faces.push((key, element)),
            }
        }
    }
}

/// The faces of an element that meet at a local node; of a node in the middle of an edge, none.
fn sides_at(shape: Shape, local: u8) -> impl Iterator<Item = u8> {
    let faces = (0..).zip(shape.faces());
    faces.filter(move |(_, face)| face.contains(&local.into())).map(|(side, _)| side)
}

/// The root of the tree of `node`, with path halving. A node never gets a larger parent, so that
/// several threads may look and [`join`] at a time.
pub(crate) fn find(parent: &[AtomicU32], mut node: u32) -> u32 {
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
pub(crate) fn join(parent: &[AtomicU32], mut a: u32, mut b: u32) {
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
    use crate::surface::{NO_NEIGHBOR, face_neighbors};
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

        let beside = Components::of_some(&mesh, |element| element != 1);
        assert_eq!(beside.n_components(), 1);
        assert_eq!(beside.of_element(), [0, NO_PART, 0]);
        assert_eq!(beside.of_node()[8..16], [NO_PART; 8]);
        let others: Vec<u32> = (0..8).chain(16..20).collect();
        assert_eq!(beside.nodes_by_component(), [others]);
        let none = Components::of_some(&mesh, |_| false);
        assert!(none.n_components() == 0 && none.nodes_by_component().is_empty());
    }

    #[test]
    fn solids_that_meet_in_an_edge_or_a_node_are_not_joined() {
        let cube = |[x, y, z]: [f64; 3]| hexahedron::NODES.map(|n| [x + n[0], y + n[1], z + n[2]]);
        for (place, shared) in [
            ([2.0, 0.0, 0.0], None), // a face
            ([2.0, 2.0, 0.0], Some(2)),
            ([2.0, 2.0, 2.0], Some(6)),
            ([9.0, 0.0, 0.0], None),
        ] {
            let mut coordinates = cube([0.0; 3]).to_vec();
            let second = cube(place).map(|x| {
                let known = coordinates.iter().position(|other| *other == x);
                coordinates.extend(known.is_none().then_some(x));
                known.unwrap_or(coordinates.len() - 1) as u32
            });
            let hexes = vec![std::array::from_fn(|a| a as u32), second];
            let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();

            let n_parts = if place == [2.0, 0.0, 0.0] { 1 } else { 2 };
            let joined = Components::joined_by_faces(&mesh);
            assert_eq!(joined, FaceJoined { n_parts, hinge: shared }, "{place:?}");
        }
    }

    #[test]
    fn a_connected_mesh_in_random_order_is_one_part() {
        let mesh = Benchmark::LBeam.generate(Resolution::Elements(1000)).unwrap();
        for seed in 0..5 {
            let shuffled = Renumbering::shuffled(&mesh, seed).apply(&mesh);
            assert_eq!(Components::of(&shuffled).n_components(), 1);
        }
    }

    #[test]
    fn pieces_are_what_a_walk_through_faces_reaches() {
        let mesh = Benchmark::Michell.generate(Resolution::Elements(2000)).unwrap();
        let mesh = Renumbering::shuffled(&mesh, 3).apply(&mesh);
        for eighths in [3, 5, 7] {
            let is_kept = |&e: &usize| (e as u32).wrapping_mul(2_654_435_761) >> 29 < eighths;
            let kept = (0..mesh.n_elements()).filter(is_kept).map(|e| mesh.hexes()[e]);
            let (nodes, hexes) = hexahedron::with_own_nodes(&kept.collect::<Vec<_>>());
            let coordinates = nodes.iter().map(|&n| mesh.coordinates()[n as usize]).collect();
            let mesh = mesh.part_of(coordinates, hexes.into_flattened());

            let neighbors = face_neighbors(&mesh);
            let (mut of, mut n_parts) = (vec![None; mesh.n_elements()], 0);
            for seed in 0..mesh.n_elements() {
                let mut next = vec![seed as u32];
                n_parts += usize::from(of[seed].is_none());
                while let Some(element) = next.pop() {
                    if of[element as usize].is_none() {
                        of[element as usize] = Some(n_parts);
                        let beyond = neighbors[element as usize].into_iter();
                        next.extend(beyond.filter(|&other| other != NO_NEIGHBOR));
                    }
                }
            }
            let adjacency = NodeToElements::new(&mesh);
            let is_hinge = |&node: &usize| {
                let around = adjacency.elements_of(node);
                around.iter().any(|&e| of[e as usize] != of[around[0] as usize])
            };
            let hinge = (0..mesh.n_nodes()).find(is_hinge).map(|node| node as u32);
            assert_eq!(Components::joined_by_faces(&mesh), FaceJoined { n_parts, hinge });
        }
    }
}
