//! `Places` of a surface's vertices in its mesh, to take fields of the mesh there.

use rayon::prelude::*;
use topopt_mesh::{HexMesh, hexahedron};

use crate::cut::Cut;
use crate::iso_surface::Key;

/// Places of the vertices of a surface: on edges of the tetrahedra, in shares of these.
#[derive(Debug, Clone)]
pub struct Places<'a> {
    mesh: &'a HexMesh,
    /// Ends of the edge of each vertex, and its share from the first one, `[n_vertices]`.
    edges: Vec<(Key, f64)>,
}

impl<'a> Places<'a> {
    pub(crate) fn of(mesh: &'a HexMesh, cut: &Cut, keys: Vec<Key>) -> Self {
        let place =
            |key: Key| (key, if key[0] == key[1] { 0.0 } else { cut.share(key[0], key[1]) });
        Self { mesh, edges: keys.into_iter().map(place).collect() }
    }

    /// The `values` of the nodes, `[n_nodes][N]`, at the vertices, `[n_vertices][N]`: linear on the
    /// tetrahedra, with the mean of its nodes at the center of an element.
    pub fn values<const N: usize>(&self, values: &[[f64; N]]) -> Vec<[f64; N]> {
        let edges = self.edges.par_iter().map(|&([a, b], share)| {
            let [start, end] = [a, b].map(|vertex| self.value(values, vertex as usize));
            std::array::from_fn(|i| start[i] + share * (end[i] - start[i]))
        });
        edges.collect()
    }

    fn value<const N: usize>(&self, values: &[[f64; N]], vertex: usize) -> [f64; N] {
        let Some(element) = vertex.checked_sub(self.mesh.n_nodes()) else { return values[vertex] };
        let nodes: Vec<u32> = hexahedron::distinct(self.mesh.element(element)).collect();
        let sum = |i: usize| nodes.iter().map(|&node| values[node as usize][i]).sum::<f64>();
        std::array::from_fn(|i| sum(i) / nodes.len() as f64)
    }
}
