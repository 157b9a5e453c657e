//! The connected pieces of a shape, and what holds and loads them.

use topopt_fem::{FreePart, Problem};
use topopt_mesh::{Components, HexMesh, NO_PART};

use crate::nodal_loads::size;
use crate::physics::Physics;

/// Solid elements in pieces that share no node: those that share one hold each other.
pub struct Pieces {
    /// Piece of every node, [`NO_PIECE`] where it has no solid element, `[n_nodes]`.
    pub of_node: Vec<u32>,
    /// Nodes of every piece, increasing.
    nodes: Vec<Vec<u32>>,
}

/// Mark in [`Pieces::of_node`] of a node without solid elements.
pub const NO_PIECE: u32 = NO_PART;

impl Pieces {
    /// Finds the pieces of the elements `is_solid`, `[n_elements]`, in the order of their first
    /// nodes.
    pub fn of(mesh: &HexMesh, is_solid: &[bool]) -> Self {
        let parts = Components::of_some(mesh, |element| is_solid[element]);
        Self { nodes: parts.nodes_by_component(), of_node: parts.of_node().to_vec() }
    }

    /// The nodes of every piece, increasing.
    pub fn nodes(&self) -> &[Vec<u32>] {
        &self.nodes
    }

    /// Whether what is held by `problem` holds a piece against motions without energy,
    /// `[n_pieces]`; the largest piece may have as many of these as a free part, whose inertia
    /// balances them.
    pub fn held<K: Physics<N>, const N: usize>(&self, problem: &Problem<K, N>) -> Vec<bool> {
        let (held, mesh) = (problem.held(), problem.mesh());
        let balanced = problem.free_part().map_or(0, FreePart::n_motions);
        let largest = self.nodes.iter().map(Vec::len).max();
        let most = |nodes: &[u32]| if largest == Some(nodes.len()) { balanced } else { 0 };
        let n_free = |nodes: &[u32]| problem.kernel().free_motions(held, mesh, nodes).len();
        self.nodes.iter().map(|nodes| n_free(nodes) <= most(nodes)).collect()
    }

    /// Whether a load case of `problem` acts on a piece, `[n_pieces]`.
    pub fn loaded<K: Physics<N>, const N: usize>(&self, problem: &Problem<K, N>) -> Vec<bool> {
        let cases = problem.load_cases();
        if cases.iter().any(|case| !case.body_force.is_zero() || case.thermal.is_some()) {
            return vec![true; self.nodes.len()];
        }
        let acts = |values: &[f64], node: u32| {
            values[N * node as usize..][..N].iter().any(|value| *value != 0.0)
        };
        let is_loaded = |nodes: &Vec<u32>| {
            cases.iter().any(|case| {
                let given = [Some(&case.forces), case.prescribed.as_ref()];
                given.into_iter().flatten().any(|v| nodes.iter().any(|&node| acts(v, node)))
            })
        };
        self.nodes.iter().map(is_loaded).collect()
    }

    /// Returns the sizes of the `forces`, `[n_nodes][N]`, of a load case added up: of all that
    /// `acts`, `[n_nodes]`, of those on pieces that are not held, and of those where no piece is.
    pub fn loose<const N: usize>(
        &self,
        forces: &[f64],
        acts: &[bool],
        is_held: &[bool],
    ) -> [f64; 3] {
        let [mut all, mut loose, mut empty] = [0.0; 3];
        let nodes = forces.as_chunks::<N>().0.iter().zip(&self.of_node).zip(acts);
        for ((force, &piece), _) in nodes.filter(|(_, acts)| **acts) {
            let size = size(force);
            all += size;
            match piece {
                NO_PIECE => empty += size,
                piece if !is_held[piece as usize] => loose += size,
                _ => {}
            }
        }
        [all, loose, empty]
    }

    /// Sums the `volumes` of elements per piece, `[n_pieces]`; an element that is not solid counts
    /// for the piece that it touches.
    pub fn volumes(&self, mesh: &HexMesh, volumes: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.nodes.len()];
        for (nodes, volume) in mesh.elements().zip(volumes) {
            let piece = self.of_node[nodes[0] as usize] as usize;
            sums.get_mut(piece).into_iter().for_each(|sum| *sum += volume);
        }
        sums
    }
}
