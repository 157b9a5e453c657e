//! Renumbering of nodes and elements, and the way back to the user's numbers.

use rayon::prelude::*;

use crate::{BoundingBox, Face, HexMesh, Sets};

/// A permutation of the nodes and one of the elements of a mesh. "Original" is the numbering
/// before it.
///
/// Values go both ways with one entry a node or element; fields of several components are slices
/// of arrays, such as \[n_nodes\]\[3\] (`as_chunks::<3>` and `into_flattened` convert flat ones).
#[derive(Debug, Clone, PartialEq)]
pub struct Renumbering {
    /// Original number of every new node.
    nodes: Vec<u32>,
    /// Original number of every new element.
    elements: Vec<u32>,
}

impl Renumbering {
    /// Elements along a Hilbert curve through their centres \[Skilling2004\], nodes in the order in
    /// which the elements first touch them: what is near in space is near in memory.
    pub fn hilbert(mesh: &HexMesh) -> Self {
        let (bounds, centres) = (mesh.bounding_box(), mesh.centres());
        let mut keys: Vec<(u64, u32)> = (0..mesh.n_elements())
            .into_par_iter()
            .map(|e| (hilbert_index(quantise(centres[e], &bounds)), e as u32))
            .collect();
        keys.par_sort_unstable();
        let elements: Vec<u32> = keys.into_iter().map(|(_, e)| e).collect();
        let mut touched = vec![false; mesh.n_nodes()];
        let mut nodes = Vec::with_capacity(mesh.n_nodes());
        for node in elements.iter().flat_map(|&e| mesh.hexes()[e as usize]) {
            if !std::mem::replace(&mut touched[node as usize], true) {
                nodes.push(node);
            }
        }
        Self { nodes, elements }
    }

    /// Nodes and elements in an order as random as `seed`: the worst numbering, for tests and
    /// benchmarks. The same seed gives the same order on every machine.
    pub fn shuffled(mesh: &HexMesh, seed: u64) -> Self {
        let mut state = seed;
        let nodes = shuffle(mesh.n_nodes(), &mut state);
        Self { nodes, elements: shuffle(mesh.n_elements(), &mut state) }
    }

    /// Original number of every new node, \[n_nodes\].
    pub fn original_nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Original number of every new element, \[n_elements\].
    pub fn original_elements(&self) -> &[u32] {
        &self.elements
    }

    /// The renumbered mesh. Sets keep the order of their entries, elements that of their nodes.
    ///
    /// # Panics
    /// If `mesh` has not the numbers of nodes and elements that this was made for.
    pub fn apply(&self, mesh: &HexMesh) -> HexMesh {
        let new_node = inverse(&self.nodes);
        let renumber = |&e: &u32| mesh.hexes()[e as usize].map(|n| new_node[n as usize]);
        let hexes = self.elements.par_iter().map(renumber).collect();
        let coordinates = self.nodes_from_original(mesh.coordinates());
        let sets = renumber_sets(mesh.sets(), &new_node, &inverse(&self.elements));
        HexMesh::new(coordinates, hexes, sets).expect("a permutation keeps a valid mesh valid")
    }

    /// Nodal values in the original order, from `values` in the new one.
    ///
    /// # Panics
    /// If there is not one value a node.
    pub fn nodes_to_original<T: Copy + Default>(&self, values: &[T]) -> Vec<T> {
        scatter(&self.nodes, values)
    }

    /// Nodal values in the new order, from `values` in the original one.
    ///
    /// # Panics
    /// If there is not one value a node.
    pub fn nodes_from_original<T: Copy>(&self, values: &[T]) -> Vec<T> {
        gather(&self.nodes, values)
    }

    /// Element values in the original order, from `values` in the new one.
    ///
    /// # Panics
    /// If there is not one value an element.
    pub fn elements_to_original<T: Copy + Default>(&self, values: &[T]) -> Vec<T> {
        scatter(&self.elements, values)
    }

    /// Element values in the new order, from `values` in the original one.
    ///
    /// # Panics
    /// If there is not one value an element.
    pub fn elements_from_original<T: Copy>(&self, values: &[T]) -> Vec<T> {
        gather(&self.elements, values)
    }
}

fn scatter<T: Copy + Default>(original: &[u32], values: &[T]) -> Vec<T> {
    assert_eq!(original.len(), values.len(), "one value for each entity");
    let mut result = vec![T::default(); values.len()];
    for (&old, &value) in original.iter().zip(values) {
        result[old as usize] = value;
    }
    result
}

fn gather<T: Copy>(original: &[u32], values: &[T]) -> Vec<T> {
    assert_eq!(original.len(), values.len(), "one value for each entity");
    original.iter().map(|&old| values[old as usize]).collect()
}

fn inverse(permutation: &[u32]) -> Vec<u32> {
    let identity: Vec<u32> = (0..permutation.len() as u32).collect();
    scatter(permutation, &identity)
}

fn renumber_sets(sets: &Sets, new_node: &[u32], new_element: &[u32]) -> Sets {
    let map = |set: &Vec<u32>, new: &[u32]| set.iter().map(|&i| new[i as usize]).collect();
    let faces = |set: &Vec<Face>| {
        let face = |f: &Face| Face { element: new_element[f.element as usize], ..*f };
        set.iter().map(face).collect()
    };
    Sets {
        nodes: sets.nodes.iter().map(|(k, set)| (k.clone(), map(set, new_node))).collect(),
        faces: sets.faces.iter().map(|(k, set)| (k.clone(), faces(set))).collect(),
        elements: sets.elements.iter().map(|(k, set)| (k.clone(), map(set, new_element))).collect(),
    }
}

/// A random permutation of 0..n: Fisher-Yates with the generator SplitMix64.
fn shuffle(n: usize, state: &mut u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(i, ((z ^ (z >> 31)) % (i as u64 + 1)) as usize);
    }
    order
}

/// Bits of the Hilbert curve in each direction; three times as many fit 64.
const BITS: u32 = 21;

/// The cell of `x` in a cube of 2^21 cells in each direction around `bounds`.
fn quantise(x: [f64; 3], bounds: &BoundingBox) -> [u32; 3] {
    let longest = bounds.extent().into_iter().fold(0.0, f64::max);
    let cells = f64::from(1 << BITS);
    [0, 1, 2].map(|d| ((x[d] - bounds.min[d]) / longest * cells).clamp(0.0, cells - 1.0) as u32)
}

/// The index along the Hilbert curve of a cell, [Skilling2004, AxestoTranspose].
fn hilbert_index(mut x: [u32; 3]) -> u64 {
    for bit in (1..BITS).rev() {
        let (q, below) = (1 << bit, (1 << bit) - 1);
        for i in 0..3 {
            if x[i] & q != 0 {
                x[0] ^= below;
            } else {
                let swapped = (x[0] ^ x[i]) & below;
                x[0] ^= swapped;
                x[i] ^= swapped;
            }
        }
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let flips = (1..BITS).filter(|bit| x[2] & (1 << bit) != 0);
    let gray = flips.fold(0, |gray, bit| gray ^ ((1 << bit) - 1));
    let interleave = |index: u64, bit: u32| {
        x.iter().fold(index, |index, &v| index << 1 | u64::from((v ^ gray) >> bit & 1))
    };
    (0..BITS).rev().fold(0, interleave)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::generate::{Benchmark, Resolution};

    fn mesh(benchmark: Benchmark, n_elements: usize) -> HexMesh {
        benchmark.generate(Resolution::Elements(n_elements)).unwrap()
    }

    /// Mean number of distinct nodes an element over runs of 512 consecutive elements.
    fn nodes_per_element(mesh: &HexMesh) -> f64 {
        let distinct = |run: &[[u32; 8]]| run.as_flattened().iter().collect::<HashSet<_>>().len();
        let touched: usize = mesh.hexes().chunks(512).map(distinct).sum();
        touched as f64 / mesh.n_elements() as f64
    }

    #[test]
    fn the_curve_visits_every_cell_once_and_steps_to_neighbours() {
        let mut cells: Vec<(u64, [u32; 3])> = Vec::new();
        for i in 0..512u32 {
            let cell = [i & 7, i >> 3 & 7, i >> 6];
            cells.push((hilbert_index(cell), cell));
        }
        cells.sort_unstable();
        for (i, pair) in cells.windows(2).enumerate() {
            assert_eq!(pair[0].0, i as u64);
            let step: u32 = (0..3).map(|d| pair[0].1[d].abs_diff(pair[1].1[d])).sum();
            assert_eq!(step, 1);
        }
    }

    #[test]
    fn values_and_meshes_come_back() {
        let mesh = mesh(Benchmark::ConnectingRod, 3000);
        for renumbering in [Renumbering::hilbert(&mesh), Renumbering::shuffled(&mesh, 7)] {
            let new = renumbering.apply(&mesh);
            assert_ne!(new.hexes(), mesh.hexes());
            assert_eq!(renumbering.nodes_to_original(new.coordinates()), mesh.coordinates());
            assert_eq!(renumbering.elements_to_original(&new.volumes()), mesh.volumes());
            assert_eq!(renumbering.elements_from_original(&mesh.centres()), new.centres());
            let hexes = renumbering.elements_to_original(new.hexes());
            let node = |n| renumbering.original_nodes()[n as usize];
            assert_eq!(
                hexes.into_iter().map(|hex| hex.map(node)).collect::<Vec<_>>(),
                mesh.hexes()
            );
        }
    }

    #[test]
    fn sets_name_the_same_places() {
        let mesh = mesh(Benchmark::ConnectingRod, 3000);
        let new = Renumbering::shuffled(&mesh, 1).apply(&mesh);
        let points = |mesh: &HexMesh, nodes: &[u32]| -> Vec<[f64; 3]> {
            nodes.iter().map(|&n| mesh.coordinates()[n as usize]).collect()
        };
        let load = |mesh: &HexMesh| points(mesh, &mesh.sets().nodes["load"]);
        assert_eq!(load(&mesh), load(&new));
        let fixed = |mesh: &HexMesh| -> Vec<_> {
            let faces = mesh.sets().faces["fixed"].iter();
            faces.map(|face| points(mesh, &face.nodes(mesh.hexes()))).collect()
        };
        assert_eq!(fixed(&mesh), fixed(&new));
        let solid = |mesh: &HexMesh| -> Vec<[f64; 3]> {
            mesh.sets().elements["solid"].iter().map(|&e| mesh.centres()[e as usize]).collect()
        };
        assert_eq!(solid(&mesh), solid(&new));
    }

    #[test]
    fn hilbert_restores_the_locality_of_a_shuffled_mesh() {
        let sorted = mesh(Benchmark::Cantilever, 54_000);
        let shuffled = Renumbering::shuffled(&sorted, 3).apply(&sorted);
        assert!(nodes_per_element(&shuffled) > 7.0);
        let restored = Renumbering::hilbert(&shuffled).apply(&shuffled);
        let from_sorted = Renumbering::hilbert(&sorted).apply(&sorted);
        assert!(nodes_per_element(&restored) < 1.7);
        assert!(
            (nodes_per_element(&restored) / nodes_per_element(&from_sorted) - 1.0).abs() < 0.01
        );
        let first_touch: Vec<u32> = restored.hexes()[0].to_vec();
        assert_eq!(first_touch, (0..8).collect::<Vec<u32>>());
    }
}
