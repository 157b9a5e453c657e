//! Elements in clusters that share many nodes, for meshes without long chords.

use rayon::prelude::*;

use crate::hexahedron::with_own_nodes;

/// Elements of a cluster: as many as a warp of a GPU has threads.
pub(crate) const CLUSTER: usize = 32;

/// Consecutive elements that are put into clusters among themselves: 128 clusters, so that few lie
/// at their border, and a range fits the cache of one core.
const RANGE: usize = 128 * CLUSTER;

/// The elements of E nodes, which come along a space-filling curve, cluster by cluster.
pub(crate) fn order<const E: usize>(elements: &[[u32; E]]) -> Vec<u32> {
    let mut order = vec![0; elements.len()];
    let ranges = order.par_chunks_mut(RANGE).zip(elements.par_chunks(RANGE)).enumerate();
    ranges.for_each(|(range, (order, elements))| {
        Growth::new(elements).fill(order);
        order.iter_mut().for_each(|e| *e += (range * RANGE) as u32);
    });
    order
}

/// Clusters as they grow, element by element.
struct Growth<const E: usize> {
    /// Nodes of the elements, by numbers of their own.
    nodes: Vec<[u32; E]>,
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

impl<const E: usize> Growth<E> {
    fn new(elements: &[[u32; E]]) -> Self {
        let (distinct, nodes) = with_own_nodes(elements);

        let mut starts = vec![0; distinct.len() + 1];
        for &node in nodes.as_flattened() {
            starts[node as usize + 1] += 1;
        }

        // Before they are summed, the counts are what each node has left.
        let n_left = starts[1..].to_vec();
        for node in 0..distinct.len() {
            starts[node + 1] += starts[node];
        }

        let mut next = starts.clone();
        let mut elements = vec![0; E * nodes.len()];
        for (element, own) in (0..).zip(&nodes) {
            for &node in own {
                elements[next[node as usize] as usize] = element;
                next[node as usize] += 1;
            }
        }

        Self {
            starts,
            elements,
            n_left,
            clusters: vec![u32::MAX; distinct.len()],
            is_taken: vec![false; nodes.len()],
            n_shared: vec![0; nodes.len()],
            candidates: Vec::new(),
            nodes,
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
            let nodes = &self.nodes[e as usize];
            (nodes.iter().map(|&node| self.n_left[node as usize]).sum::<u32>(), e)
        })
    }

    fn take(&mut self, element: u32, cluster: u32) {
        self.is_taken[element as usize] = true;
        for node in self.nodes[element as usize] {
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
        let Self { nodes, n_left, is_taken, n_shared, candidates, .. } = self;
        candidates.retain(|&e| !is_taken[e as usize]);
        let most = candidates.iter().map(|&e| n_shared[e as usize]).max()?;
        let best = candidates.iter().copied().filter(|&e| n_shared[e as usize] == most);
        best.max_by_key(|&e| {
            let own = &nodes[e as usize];
            let closed = own.iter().filter(|&&node| n_left[node as usize] == 1).count();
            (closed, std::cmp::Reverse(e))
        })
    }
}
