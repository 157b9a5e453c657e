//! Edges and faces of a mesh, each once.

use rayon::prelude::*;

/// Groups of nodes, each once, by number: in increasing order.
pub(super) struct Unique<const K: usize> {
    keys: Vec<[u32; K]>,
    /// Start of the keys with each first node, then the number of keys, `[n_nodes + 1]`.
    starts: Vec<u32>,
}

impl<const K: usize> Unique<K> {
    /// Sorts `keys`, whose first nodes are below `n_nodes`, and removes duplicates.
    pub fn of(n_nodes: usize, mut keys: Vec<[u32; K]>) -> Self {
        keys.par_sort_unstable();
        keys.dedup();
        keys.shrink_to_fit();

        let mut starts = vec![0; n_nodes + 1];
        for key in &keys {
            starts[key[0] as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            starts[node + 1] += starts[node];
        }
        Self { keys, starts }
    }

    /// The groups, increasing.
    pub fn keys(&self) -> &[[u32; K]] {
        &self.keys
    }

    /// The number of a group, if it is there.
    pub fn number(&self, key: [u32; K]) -> Option<usize> {
        let start = *self.starts.get(key[0] as usize)? as usize;
        let end = *self.starts.get(key[0] as usize + 1)? as usize;
        self.keys[start..end].binary_search(&key).ok().map(|at| start + at)
    }
}

/// An edge by its nodes, the same from both ends.
pub(super) fn edge(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}
