//! Clusters: consecutive elements with the nodes that they share, for `mf`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;

use crate::Device;

/// Elements of a cluster at most: lanes of a warp.
pub const WARP: usize = 32;

/// Nodes of a cluster at most, as `cuda/mf_clusters.cu` has it.
const MAX_NODES: usize = 192;

/// Nodes that a mesh may have: of the 32 bits of a node three say what is held.
const MAX_NODES_OF_MESH: usize = 1 << 29;

/// Position of VTK's local nodes in the 2x2x2 grid of nodes, and back.
const POSITION: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

/// Nodes that 32 consecutive elements have on average at most, where clusters are computed.
///
/// A chord of 32 elements has 132. There the lanes of a warp touch neighbouring words, and to compute
/// element by element is fastest. Elements in clusters have some 75 nodes, along a Hilbert curve
/// alone 94, in a mesh generator's order 109, in random order 250.
const MOST_NODES: f64 = 115.0;

/// A mesh in clusters on the device, as `cuda/mf_clusters.cu` reads it.
pub(crate) struct Clusters {
    pub count: usize,
    /// First element, first round of nodes: \[count + 1\]\[2\].
    pub starts: CudaSlice<u32>,
    /// \[rounds\]\[32\].
    pub nodes: CudaSlice<u32>,
    /// \[rounds\]\[32\].
    pub spans: CudaSlice<u16>,
    /// \[count\]\[32\]\[8\].
    pub places: CudaSlice<u8>,
    /// \[n_elements\]\[8\].
    pub corners: CudaSlice<u8>,
}

impl Clusters {
    /// The elements in clusters, if there are few nodes in 32 consecutive ones; `held` as in
    /// [`super::MeshOnDevice`].
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for them.
    pub fn of(
        device: &Arc<Device>,
        hexes: &[[u32; 8]],
        held: &[u8],
    ) -> Result<Option<Self>, BackendError> {
        if nodes_of_32(hexes) > MOST_NODES || held.len() > MAX_NODES_OF_MESH {
            return Ok(None);
        }
        let clusters: Vec<Cluster> = hexes.par_chunks(WARP).flat_map_iter(cut).collect();
        let mut starts = vec![0; 2];
        let (mut element, mut round) = (0, 0);
        for cluster in &clusters {
            element += cluster.corners.len();
            round += cluster.nodes.len().div_ceil(WARP);
            starts.extend([element as u32, round as u32]);
        }
        let entry = |node: u32| node | u32::from(held[node as usize]) << 29;
        let nodes: Vec<u32> =
            clusters.par_iter().flat_map_iter(Cluster::padded).map(entry).collect();
        let spans: Vec<u16> = clusters.par_iter().flat_map_iter(Cluster::spans).collect();
        let places: Vec<u8> = clusters.par_iter().flat_map_iter(|c| c.places).collect();
        let corners: Vec<u8> =
            clusters.par_iter().flat_map_iter(|c| c.corners.as_flattened().to_vec()).collect();
        Ok(Some(Self {
            count: clusters.len(),
            starts: device.upload(&starts)?,
            nodes: device.upload(&nodes)?,
            spans: device.upload(&spans)?,
            places: device.upload(&places)?,
            corners: device.upload(&corners)?,
        }))
    }
}

/// Distinct nodes of 32 consecutive elements on average, of every sixteenth 32.
fn nodes_of_32(hexes: &[[u32; 8]]) -> f64 {
    let sample = || hexes.chunks(WARP).step_by(16);
    let elements: usize = sample().map(<[_]>::len).sum();
    let nodes: usize = sample().map(|hexes| valences(hexes).len()).sum();
    (WARP * nodes) as f64 / elements as f64
}

/// The distinct nodes in increasing order, and how many places each has.
fn valences(hexes: &[[u32; 8]]) -> Vec<(u32, usize)> {
    let mut nodes = hexes.as_flattened().to_vec();
    nodes.sort_unstable();
    nodes.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
}

/// Consecutive elements and their nodes.
#[derive(Debug)]
struct Cluster {
    /// Those of most places first, 32 at a time in increasing order: a warp that sums up 32 nodes
    /// waits for that of most places, and adds to neighbouring words in one piece.
    nodes: Vec<u32>,
    /// Number of places of each node.
    valences: Vec<usize>,
    /// Places of the nodes one after the other: 32 times the position in the element, and the element.
    places: [u8; 8 * WARP],
    /// Nodes of the elements in the cluster, by position.
    corners: Vec<[u8; 8]>,
}

/// One cluster of up to 32 elements, or several where they have too many nodes.
fn cut(hexes: &[[u32; 8]]) -> Vec<Cluster> {
    match valences(hexes) {
        nodes if nodes.len() <= MAX_NODES => vec![Cluster::new(hexes, nodes)],
        _ => {
            let (first, second) = hexes.split_at(hexes.len() / 2);
            [cut(first), cut(second)].into_iter().flatten().collect()
        }
    }
}

impl Cluster {
    fn new(hexes: &[[u32; 8]], mut nodes: Vec<(u32, usize)>) -> Self {
        nodes.sort_by_key(|&(_, valence)| std::cmp::Reverse(valence));
        nodes.chunks_mut(WARP).for_each(<[_]>::sort_unstable);
        let (nodes, valences): (Vec<u32>, Vec<usize>) = nodes.into_iter().unzip();
        let mut slots: Vec<(u32, u8)> = nodes.iter().copied().zip(0..).collect();
        slots.sort_unstable();
        let slot = |node: u32| {
            let place = slots.binary_search_by_key(&node, |&(node, _)| node);
            slots[place.unwrap_or_default()].1
        };
        let corners: Vec<[u8; 8]> =
            hexes.iter().map(|hex| POSITION.map(|a| slot(hex[a]))).collect();
        let mut next: Vec<usize> = starts(&valences).collect();
        let mut places = [0; 8 * WARP];
        for (lane, element) in corners.iter().enumerate() {
            for (position, &slot) in element.iter().enumerate() {
                places[next[slot as usize]] = (WARP * position + lane) as u8;
                next[slot as usize] += 1;
            }
        }
        Self { nodes, valences, places, corners }
    }

    /// The nodes, and the last again until the round is full.
    fn padded(&self) -> impl Iterator<Item = u32> {
        let n = self.nodes.len();
        (0..n.next_multiple_of(WARP)).map(move |slot| self.nodes[slot.min(n - 1)])
    }

    /// First place and 256 times the number of places of every node.
    fn spans(&self) -> impl Iterator<Item = u16> {
        let spans = starts(&self.valences).zip(&self.valences);
        let spans = spans.map(|(start, valence)| (start + 256 * valence) as u16);
        let n = self.nodes.len();
        spans.chain(std::iter::repeat_n(0, n.next_multiple_of(WARP) - n))
    }
}

/// Where as many as `counts` begin, one after the other.
fn starts(counts: &[usize]) -> impl Iterator<Item = usize> {
    counts.iter().scan(0, |end, &count| Some(std::mem::replace(end, *end + count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements without a node in common, in a row, and two that are one node.
    #[test]
    fn clusters_have_few_nodes_and_a_place_for_every_corner() {
        let apart: Vec<[u32; 8]> = (0..30).map(|e| std::array::from_fn(|a| 8 * e + a as u32)).collect();
        let row: Vec<[u32; 8]> =
            (0..32).map(|e| [0, 1, 41, 40, 80, 81, 121, 120].map(|node| node + e)).collect();
        let points = vec![[5; 8], [6; 8]];
        for (hexes, sizes) in [(apart, vec![15, 15]), (row, vec![32]), (points, vec![2])] {
            let clusters = cut(&hexes);
            assert!(clusters.iter().map(|c| c.corners.len()).eq(sizes));
            let mut rest = hexes.as_slice();
            for cluster in clusters {
                let own = rest.split_off(..cluster.corners.len()).unwrap();
                let nodes: Vec<u32> = cluster.padded().collect();
                let mut found = vec![[u32::MAX; 8]; own.len()];
                for (node, span) in nodes.iter().zip(cluster.spans()) {
                    let (first, count) = (span as usize & 255, span as usize >> 8);
                    for &place in &cluster.places[first..first + count] {
                        found[place as usize % WARP][POSITION[place as usize / WARP]] = *node;
                    }
                }
                assert_eq!(found, own);
                let of_corners = |corners: &[u8; 8]| -> [u32; 8] {
                    std::array::from_fn(|a| nodes[corners[POSITION[a]] as usize])
                };
                assert!(cluster.corners.iter().map(of_corners).eq(own.iter().copied()));
            }
        }
    }
}
