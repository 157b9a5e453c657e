//! Renumbering of nodes and elements, and the way back to the user's numbers.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::repeat_n;
use rayon::prelude::*;

use crate::cells::Shape;
use crate::chords::Chords;
use crate::counting_sort::grouped;
use crate::rotation::ROTATIONS;
use crate::{Coloring, Face, HexMesh, NodeToElements, Sets, clusters, hilbert};

/// A permutation of the nodes and one of the elements of a mesh, and a rotation of the local
/// numbers of every element. "Original" is the numbering before it.
///
/// Values go both ways with one entry a node or element; fields of several components are slices
/// of arrays, such as `[n_nodes][3]` (`as_chunks::<3>` and `into_flattened` convert flat ones).
#[derive(Debug, Clone, PartialEq)]
pub struct Renumbering {
    /// Original number of every new node.
    nodes: Vec<u32>,
    /// Original number of every new element.
    elements: Vec<u32>,
    /// Row of [`ROTATIONS`] of every new element.
    rotations: Vec<u8>,
}

impl Renumbering {
    /// The numbering that is computed on: [`Renumbering::along_chords`], or
    /// [`Renumbering::in_clusters`] where the chords are short, and for tetrahedra, which have
    /// none.
    pub fn on_import(mesh: &HexMesh) -> Self {
        let curve = Self::along_curve(mesh);
        if mesh.shape() == Shape::Tetrahedron {
            return Self::of_clusters(&curve.apply_without_sets(mesh)).after(curve);
        }
        let sorted = curve.apply_without_sets(mesh);
        if Chords::mean_length(&sorted) >= LONG {
            Self::of_chords(&sorted, &Chords::of(&sorted, &curve.new_elements()))
        } else {
            Self::of_clusters(&sorted)
        }
        .after(curve)
    }

    /// Elements along chords, chains of elements through opposite faces \[Murdoch1997\], and
    /// rotated so that the first local axis runs along the chord. The nodes of each of its four
    /// lines of edges are consecutive, so that those with the same local number in consecutive
    /// elements are neighbors in memory. The chords follow a Hilbert curve through their middles.
    pub fn along_chords(mesh: &HexMesh) -> Self {
        // On a mesh whose neighbors are neighbors in memory, from the same elements on.
        let curve = Self::along_curve(mesh);
        let sorted = curve.apply_without_sets(mesh);
        Self::of_chords(&sorted, &Chords::of(&sorted, &curve.new_elements())).after(curve)
    }

    /// Elements in clusters of 32 that share many nodes, along a Hilbert curve, and nodes cluster
    /// by cluster. Hexahedra are rotated so that nodes of many elements stand first.
    pub fn in_clusters(mesh: &HexMesh) -> Self {
        let curve = Self::along_curve(mesh);
        Self::of_clusters(&curve.apply_without_sets(mesh)).after(curve)
    }

    /// This renumbering of a mesh that `first` has made.
    fn after(self, first: Self) -> Self {
        let Self { nodes, elements, rotations } = self;
        let [nodes, elements] =
            [(nodes, first.nodes), (elements, first.elements)].map(|(new, old)| gather(&new, &old));
        Self { nodes, elements, rotations }
    }

    /// Nodes and elements, by their centers, along a Hilbert curve. No element is rotated.
    fn along_curve(mesh: &HexMesh) -> Self {
        let nodes = hilbert::order(mesh.coordinates());
        let elements = hilbert::order(&mesh.centers());
        Self { nodes, elements, rotations: vec![0; mesh.n_elements()] }
    }

    /// The clusters of a mesh along a Hilbert curve, and the nodes of each one after the other,
    /// those of most places in it first: a GPU sums them up 32 at a time, in the order of their
    /// places.
    fn of_clusters(mesh: &HexMesh) -> Self {
        let elements = match mesh.shape() {
            Shape::Tetrahedron => clusters::order(mesh.tetrahedra()),
            _ => clusters::order(mesh.hexes()),
        };
        let clusters = elements.par_chunks(clusters::CLUSTER);
        let by_cluster: Vec<u32> =
            clusters.flat_map_iter(|cluster| nodes_by_places(mesh, cluster)).collect();

        let first = FirstPlaces::new(mesh.n_nodes());
        by_cluster.par_iter().enumerate().for_each(|(place, &node)| first.note(node, place));
        let places = by_cluster.par_iter().enumerate();
        let new = places.filter(|(place, node)| first.is(**node, *place));
        let nodes = new.map(|(_, &node)| node).collect();
        let rotations = match mesh.shape() {
            Shape::Tetrahedron => vec![0; elements.len()],
            _ => gather(&elements, &by_valence(mesh)),
        };
        Self { nodes, elements, rotations }
    }

    /// The chords along a Hilbert curve, and the nodes along each.
    fn of_chords(mesh: &HexMesh, chords: &Chords) -> Self {
        let all: Vec<&[u32]> = chords.iter().collect();
        let middle = |chord: &&[u32]| mesh.center(chord[chord.len() / 2] as usize);
        let middles: Vec<[f64; 3]> = all.par_iter().map(middle).collect();

        // Each with the number of places before it: a chord has eight for every element.
        let mut end = 0;
        let after_last = |chord: u32| {
            let chord = all[chord as usize];
            end += 8 * chord.len();
            (end - 8 * chord.len(), chord)
        };
        let sorted: Vec<(usize, &[u32])> =
            hilbert::order(&middles).into_iter().map(after_last).collect();
        let sorted = sorted.par_iter().copied();

        let places = |(start, chord)| (start..).zip(chords.nodes(mesh, chord));
        let first = FirstPlaces::new(mesh.n_nodes());
        sorted.clone().for_each(|chord| {
            places(chord).for_each(|(place, node)| first.note(node, place));
        });
        let is_new = |&(place, node): &(usize, u32)| first.is(node, place);
        let new = |chord| places(chord).filter(is_new).map(|(_, node)| node);
        let nodes = sorted.clone().flat_map_iter(new).collect();

        let elements: Vec<u32> = sorted.flat_map_iter(|(_, chord)| chord.iter().copied()).collect();
        let rotations = gather(&elements, chords.rotations());
        Self { nodes, elements, rotations }
    }

    /// Nodes and elements in an order as random as `seed`: the worst numbering, for tests and
    /// benchmarks. No element is rotated. The same seed gives the same order on every machine.
    pub fn shuffled(mesh: &HexMesh, seed: u64) -> Self {
        let (n_nodes, n_elements) = (mesh.n_nodes(), mesh.n_elements());
        // The elements take the random numbers that come after those of the nodes.
        let after = STEP.wrapping_mul(n_nodes as u64 - 1).wrapping_add(seed);
        let (nodes, elements) =
            rayon::join(|| shuffle(n_nodes, seed), || shuffle(n_elements, after));
        Self { nodes, elements, rotations: vec![0; n_elements] }
    }

    /// This renumbering with the elements then sorted by color ([`Coloring::greedy`]), in their
    /// order within each, and the number of elements of every color.
    ///
    /// # Panics
    /// If `mesh` has not the numbers of nodes and elements that this was made for.
    pub fn by_color(self, mesh: &HexMesh) -> (Self, Vec<usize>) {
        let mesh = self.apply(mesh);
        let coloring = Coloring::greedy(&mesh, &NodeToElements::new(&mesh));
        let colors = coloring.groups().iter().map(Vec::len).collect();
        let order = coloring.groups().concat();
        let elements = gather(&order, &self.elements);
        let rotations = gather(&order, &self.rotations);
        (Self { elements, rotations, ..self }, colors)
    }

    /// Original number of every new node, `[n_nodes]`.
    pub fn original_nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Original number of every new element, `[n_elements]`.
    pub fn original_elements(&self) -> &[u32] {
        &self.elements
    }

    /// New number of every original node, `[n_nodes]`.
    pub fn new_nodes(&self) -> Vec<u32> {
        inverse(&self.nodes)
    }

    /// New number of every original element, `[n_elements]`.
    pub fn new_elements(&self) -> Vec<u32> {
        inverse(&self.elements)
    }

    /// The renumbered mesh. Sets keep the order of their entries.
    ///
    /// # Panics
    /// If `mesh` has not the numbers of nodes and elements that this was made for.
    pub fn apply(&self, mesh: &HexMesh) -> HexMesh {
        let new_node = self.new_nodes();
        let sets = self.renumber_sets(mesh.sets(), &new_node);
        self.permuted(mesh, &new_node, sets)
    }

    fn apply_without_sets(&self, mesh: &HexMesh) -> HexMesh {
        self.permuted(mesh, &self.new_nodes(), Sets::default())
    }

    fn permuted(&self, mesh: &HexMesh, new_node: &[u32], sets: Sets) -> HexMesh {
        assert_eq!(self.elements.len(), mesh.n_elements(), "one number for each element");
        let elements = self.elements.par_iter().zip(&self.rotations);
        let connectivity = match mesh.shape() {
            Shape::Tetrahedron => {
                let renumber = |(&e, _): (&u32, &u8)| {
                    mesh.element(e as usize).iter().map(|&node| new_node[node as usize])
                };
                elements.flat_map_iter(renumber).collect()
            }
            _ => {
                let renumber = |(&e, &rotation): (&u32, &u8)| {
                    let hex = &mesh.hexes()[e as usize];
                    ROTATIONS[rotation as usize].nodes.map(|a| new_node[hex[a as usize] as usize])
                };
                elements.map(renumber).collect::<Vec<[u32; 8]>>().into_flattened()
            }
        };
        mesh.permuted(self.nodes_from_original(mesh.coordinates()), connectivity, sets)
    }

    /// Nodal values in the original order, from `values` in the new one.
    ///
    /// # Panics
    /// If there is not one value a node.
    pub fn nodes_to_original<T: Copy + Send + Sync>(&self, values: &[T]) -> Vec<T> {
        scatter(&self.nodes, values)
    }

    /// Nodal values in the new order, from `values` in the original one.
    ///
    /// # Panics
    /// If there is not one value a node.
    pub fn nodes_from_original<T: Copy + Send + Sync>(&self, values: &[T]) -> Vec<T> {
        assert_eq!(self.nodes.len(), values.len(), "one value for each node");
        gather(&self.nodes, values)
    }

    /// Element values in the original order, from `values` in the new one.
    ///
    /// # Panics
    /// If there is not one value an element.
    pub fn elements_to_original<T: Copy + Send + Sync>(&self, values: &[T]) -> Vec<T> {
        scatter(&self.elements, values)
    }

    /// Element values in the new order, from `values` in the original one.
    ///
    /// # Panics
    /// If there is not one value an element.
    pub fn elements_from_original<T: Copy + Send + Sync>(&self, values: &[T]) -> Vec<T> {
        assert_eq!(self.elements.len(), values.len(), "one value for each element");
        gather(&self.elements, values)
    }

    fn renumber_sets(&self, sets: &Sets, new_node: &[u32]) -> Sets {
        let new_element = self.new_elements();
        let map = |set: &Vec<u32>, new: &[u32]| gather(set, new);
        let face = |face: &Face| self.renumber_face(*face, &new_element);
        let Sets { nodes, faces, elements } = sets;
        Sets {
            nodes: nodes.iter().map(|(k, set)| (k.clone(), map(set, new_node))).collect(),
            faces: faces.iter().map(|(k, s)| (k.clone(), s.iter().map(face).collect())).collect(),
            elements: elements.iter().map(|(k, set)| (k.clone(), map(set, &new_element))).collect(),
        }
    }

    fn renumber_face(&self, face: Face, new_element: &[u32]) -> Face {
        let element = new_element[face.element as usize];
        let faces = ROTATIONS[self.rotations[element as usize] as usize].faces;
        let local = (0..).zip(faces).find_map(|(new, old)| (old == face.local).then_some(new));
        Face { element, local: local.unwrap_or(face.local) }
    }
}

/// The first place of every node in a list that has it several times, found by several threads.
struct FirstPlaces(Vec<AtomicUsize>);

impl FirstPlaces {
    fn new(n_nodes: usize) -> Self {
        Self((0..n_nodes).into_par_iter().map(|_| usize::MAX.into()).collect())
    }

    /// `node` stands in `place`.
    fn note(&self, node: u32, place: usize) {
        let first = &self.0[node as usize];
        // Most places are not the first, and a look is cheaper.
        if first.load(Ordering::Relaxed) > place {
            first.fetch_min(place, Ordering::Relaxed);
        }
    }

    /// Whether `place` is the first of `node`, of all that were noted.
    fn is(&self, node: u32, place: usize) -> bool {
        self.0[node as usize].load(Ordering::Relaxed) == place
    }
}

/// Rotations after which the first node of every element is its node of most elements, and the
/// second the node of most beside it: of elements that share nodes, the same nodes then have the
/// same places, and one word is read for all of them. In cut tetrahedra it saves a seventh of the
/// reads.
fn by_valence(mesh: &HexMesh) -> Vec<u8> {
    let starts = grouped(mesh.hexes().as_flattened(), mesh.n_nodes(), |_| ()).offsets;
    let rank = |node: u32| (starts[node as usize + 1] - starts[node as usize], node);
    mesh.hexes().par_iter().map(|hex| rotation_by(hex.map(rank))).collect()
}

/// Returns the first rotation after which the first node has the largest of `ranks`, and the second
/// the largest that then remains.
fn rotation_by(ranks: [(usize, u32); 8]) -> u8 {
    let rotations = 0..ROTATIONS.len() as u8;
    let best = rotations.max_by_key(|&rotation| {
        let [a, b, ..] = ROTATIONS[rotation as usize].nodes;
        (ranks[a as usize], ranks[b as usize], std::cmp::Reverse(rotation))
    });
    best.unwrap_or(0)
}

/// Returns the nodes of the elements of a `cluster`, those of most places in it first.
fn nodes_by_places(mesh: &HexMesh, cluster: &[u32]) -> Vec<u32> {
    let elements = cluster.iter().map(|&e| mesh.element(e as usize));
    let mut places: Vec<u32> = elements.flatten().copied().collect();
    places.sort_unstable();
    let mut nodes: Vec<&[u32]> = places.chunk_by(|a, b| a == b).collect();
    nodes.sort_by_key(|places| std::cmp::Reverse(places.len()));
    nodes.iter().map(|places| places[0]).collect()
}

/// Mean length of chords from which on the numbering follows them: in tetrahedra cut into hexahedra
/// it is 2.2, in the benchmarks 8.6 and more.
const LONG: f64 = 5.0;

/// Every thread writes its own range of the original numbers.
fn scatter<T: Copy + Send + Sync>(original: &[u32], values: &[T]) -> Vec<T> {
    assert_eq!(original.len(), values.len(), "one value for each entity");
    let Some(first) = values.first() else { return Vec::new() };
    // All threads touch its pages first, which takes longer than the values do.
    let mut result: Vec<T> = repeat_n(*first, values.len()).collect();
    let share = values.len().div_ceil(rayon::current_num_threads()).max(1);
    result.par_chunks_mut(share).enumerate().for_each(|(range, result)| {
        for (&old, value) in original.iter().zip(values) {
            if let Some(place) = result.get_mut((old as usize).wrapping_sub(range * share)) {
                *place = *value;
            }
        }
    });
    result
}

/// The value of each of `original`.
fn gather<T: Copy + Send + Sync>(original: &[u32], values: &[T]) -> Vec<T> {
    original.par_iter().map(|&old| values[old as usize]).collect()
}

fn inverse(permutation: &[u32]) -> Vec<u32> {
    let identity: Vec<u32> = (0..permutation.len() as u32).collect();
    scatter(permutation, &identity)
}

/// Increment of the state of the generator SplitMix64 per random number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A random permutation of 0..n: Fisher-Yates with the generator SplitMix64.
fn shuffle(n: usize, mut state: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        state = state.wrapping_add(STEP);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(i, ((z ^ (z >> 31)) % (i as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests;
