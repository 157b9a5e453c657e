//! Elements in clusters that share many nodes, for meshes without long chords.

use rayon::prelude::*;

use crate::hexahedron::with_own_nodes;

/// Elements of a cluster: as many as a warp of a GPU has threads.
pub(crate) const CLUSTER: usize = 32;

/// Consecutive elements that are put into clusters among themselves: 128 clusters, so that few lie
/// at their border, and a range fits the cache of one core.
const RANGE: usize = 128 * CLUSTER;

/// The elements of `hexes`, which come along a space-filling curve, cluster by cluster.
pub(crate) fn order(hexes: &[[u32; 8]]) -> Vec<u32> {
    let mut order = vec![0; hexes.len()];
    let ranges = order.par_chunks_mut(RANGE).zip(hexes.par_chunks(RANGE)).enumerate();
    ranges.for_each(|(range, (order, hexes))| {
        Growth::new(hexes).fill(order);
        order.iter_mut().for_each(|e| *e += (range * RANGE) as u32);
    });
    order
}

/// Clusters as they grow, element by element.
struct Growth {
    /// Nodes by numbers of their own.
    hexes: Vec<[u32; 8]>,
    /// `elements[starts[n]..starts[n + 1]]` are those of node n.
    starts: Vec<u32>,
    elements: Vec<u32>,
    /// Number of elements per node that are in no cluster yet, `[n_nodes]`.
    n_left: Vec<u32>,
    /// The last cluster of each node.
    clusters: Vec<u32>,
    is_taken: Vec<bool>,
    /// Number of nodes per element that are in the growing cluster, `[n_elements]`.
    n_shared: Vec<u8>,
    /// Elements that share nodes with it.
    candidates: Vec<u32>,
}

impl Growth {
    fn new(hexes: &[[u32; 8]]) -> Self {
        let (nodes, hexes) = with_own_nodes(hexes);

        let mut starts = vec![0; nodes.len() + 1];
        for &node in hexes.as_flattened() {
            starts[node as usize + 1] += 1;
        }

        // Before they are summed, the counts are what each node has left.
        let n_left = starts[1..].to_vec();
        for node in 0..nodes.len() {
            starts[node + 1] += starts[node];
        }

        let mut next = starts.clone();
        let mut elements = vec![0; 8 * hexes.len()];
        for (element, hex) in (0..).zip(&hexes) {
            for &node in hex {
                elements[next[node as usize] as usize] = element;
                next[node as usize] += 1;
            }
        }

        Self {
            starts,
            elements,
            n_left,
            clusters: vec![u32::MAX; nodes.len()],
            is_taken: vec![false; hexes.len()],
            n_shared: vec![0; hexes.len()],
            candidates: Vec::new(),
            hexes,
        }
    }

    /// Writes all elements in their order.
    fn fill(mut self, order: &mut [u32]) {
        let mut first_left = 0;
        for (cluster, elements) in (0..).zip(order.chunks_mut(CLUSTER)) {
            // Before the candidates are dropped: the seed is one of those of the last cluster.
            let seed = self.seed();
            for &e in &self.candidates {
                self.n_shared[e as usize] = 0;
            }
            self.candidates.clear();

            let mut next = seed;
            for place in elements {
                // Without candidates, the first free element along the curve.
                let element = next.unwrap_or_else(|| {
                    while self.is_taken[first_left] {
                        first_left += 1;
                    }
                    first_left as u32
                });
                *place = element;
                self.take(element, cluster);
                next = self.best();
            }
        }
    }

    /// Begins beside the last cluster, where fewest elements are left, so that none stay alone.
    fn seed(&self) -> Option<u32> {
        self.candidates.iter().copied().min_by_key(|&e| {
            let hex = &self.hexes[e as usize];
            (hex.iter().map(|&node| self.n_left[node as usize]).sum::<u32>(), e)
        })
    }

    fn take(&mut self, element: u32, cluster: u32) {
        self.is_taken[element as usize] = true;
        for node in self.hexes[element as usize] {
            let node = node as usize;
            self.n_left[node] -= 1;
            if std::mem::replace(&mut self.clusters[node], cluster) != cluster {
                for &e in &self.elements[self.starts[node] as usize..self.starts[node + 1] as usize]
                {
                    if !self.is_taken[e as usize] {
                        if self.n_shared[e as usize] == 0 {
                            self.candidates.push(e);
                        }
                        self.n_shared[e as usize] += 1;
                    }
                }
            }
        }
    }

    /// The candidate that brings fewest nodes, of these the one that is the last of most nodes.
    fn best(&mut self) -> Option<u32> {
        let Self { hexes, n_left, is_taken, n_shared, candidates, .. } = self;
        candidates.retain(|&e| !is_taken[e as usize]);
        let most = candidates.iter().map(|&e| n_shared[e as usize]).max()?;
        let best = candidates.iter().copied().filter(|&e| n_shared[e as usize] == most);
        best.max_by_key(|&e| {
            let hex = &hexes[e as usize];
            let closed = hex.iter().filter(|&&node| n_left[node as usize] == 1).count();
            (closed, std::cmp::Reverse(e))
        })
    }
}
