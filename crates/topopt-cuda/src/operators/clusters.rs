//! Clusters of up to 32 consecutive elements and 96 nodes, one per warp, for `mf`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;

use crate::Device;
use crate::kernels::ClustersView;

/// Most elements of a cluster: lanes of a warp.
pub const WARP: usize = defined!("common/cluster_product.cuh", "LANES");

/// Most nodes of a cluster: three per lane.
const MAX_NODES: usize = defined!("common/cluster_product.cuh", "ROUNDS") * WARP;

/// Most nodes of a mesh: three of the 32 bits of a node mark its held components.
pub(super) const MAX_NODES_OF_MESH: usize = 1 << 29;

/// Position of VTK's local nodes in the 2x2x2 grid of nodes, and back.
pub(crate) const POSITION: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

/// Most nodes of 32 consecutive elements, on average, for which clusters are faster.
///
/// A chord of 32 elements has 132 nodes. There the lanes of a warp touch neighboring words, and an
/// H200 computes 9.0 G elements/s element by element. Cut tetrahedra numbered for clusters have
/// some 75 nodes: 8.3 by clusters at 8 million elements, at best 4.1 by elements. Along a Hilbert
/// curve they have 94, in a mesh generator's order 109, in random order 250: few fit one cluster.
const MOST_NODES: f64 = 90.0;

/// A mesh in clusters on the device, as `cuda/mf_clusters.cu` reads it.
pub(crate) struct Clusters {
    count: usize,
    /// First element per cluster, and the number of elements, `[count + 1]`.
    starts: CudaSlice<u32>,
    /// [`Cluster::nodes`] with the held components in the upper three bits, `[count][96]`.
    nodes: CudaSlice<u32>,
    /// [`Cluster::spans`], `[count][96]`.
    spans: CudaSlice<u16>,
    /// [`Cluster::places`], eight bytes per word, `[count][32]`.
    places: CudaSlice<u64>,
    /// [`Cluster::corners`], eight bytes per word, `[count][32]`.
    corners: CudaSlice<u64>,
}

impl Clusters {
    /// Threads of a launch over all clusters, a warp per cluster.
    pub fn threads(&self) -> usize {
        WARP * self.count
    }

    /// Divides `hexes` into clusters; none if they have more than [`MOST_NODES`] nodes. `held` is
    /// as in [`super::constraints::Constraints`].
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

        let of_warp = |hexes| cut(hexes, fits, Cluster::new);
        let clusters: Vec<Cluster> = hexes.par_chunks(WARP).flat_map_iter(of_warp).collect();
        let starts = starts(clusters.iter().map(|cluster| cluster.count));

        let entry = |node: u32| node | u32::from(held[node as usize]) << 29;
        let nodes = clusters.par_iter().flat_map_iter(|c| c.nodes.map(entry));
        let spans = clusters.par_iter().flat_map_iter(|c| c.spans);
        let places = clusters.par_iter().flat_map_iter(|c| c.places.as_chunks().0.iter().copied());
        let corners = clusters.par_iter().flat_map_iter(|c| c.corners);

        Ok(Some(Self {
            count: clusters.len(),
            starts: device.upload(&starts)?,
            nodes: device.upload(&nodes.collect::<Vec<u32>>())?,
            spans: device.upload(&spans.collect::<Vec<u16>>())?,
            places: device.upload(&places.map(u64::from_le_bytes).collect::<Vec<u64>>())?,
            corners: device.upload(&corners.map(u64::from_le_bytes).collect::<Vec<u64>>())?,
        }))
    }
}

impl From<&Clusters> for ClustersView {
    fn from(clusters: &Clusters) -> Self {
        Self {
            n_clusters: clusters.count.into(),
            starts: (&clusters.starts).into(),
            nodes: (&clusters.nodes).into(),
            spans: (&clusters.spans).into(),
            places: (&clusters.places).into(),
            corners: (&clusters.corners).into(),
        }
    }
}

/// Distinct nodes of 32 consecutive elements, on average over every sixteenth group of 32.
fn nodes_of_32(hexes: &[[u32; 8]]) -> f64 {
    let sample = || hexes.chunks(WARP).step_by(16);
    let elements: usize = sample().map(<[_]>::len).sum();
    let nodes: usize = sample().map(n_nodes).sum();
    (WARP * nodes) as f64 / elements as f64
}

/// Whether the nodes of `hexes` have slots in one cluster.
fn fits(hexes: &[[u32; 8]]) -> bool {
    n_nodes(hexes) <= MAX_NODES
}

/// Number of distinct nodes of `hexes`.
fn n_nodes(hexes: &[[u32; 8]]) -> usize {
    n_distinct(hexes.as_flattened().to_vec())
}

/// Number of distinct ones among `nodes`.
pub(super) fn n_distinct(mut nodes: Vec<u32>) -> usize {
    nodes.sort_unstable();
    nodes.chunk_by(|a, b| a == b).count()
}

/// First element of each cluster of so many elements, and the end of the last.
pub(super) fn starts(counts: impl Iterator<Item = usize>) -> Vec<u32> {
    let next = |end: &mut u32, count| Some(std::mem::replace(end, *end + count as u32));
    counts.chain([0]).scan(0, next).collect()
}

/// Makes a `new` cluster of all elements, or several of as many as fit where they do not.
pub(super) fn cut<T, C>(mut rest: &[T], fits: fn(&[T]) -> bool, new: fn(&[T]) -> C) -> Vec<C> {
    let mut clusters = Vec::new();
    while !rest.is_empty() {
        let fitting = (1..=rest.len()).rev().find(|&count| fits(&rest[..count]));
        let (own, others) = rest.split_at(fitting.unwrap_or(1));
        clusters.push(new(own));
        rest = others;
    }
    clusters
}

/// Consecutive elements and their nodes. A place is a corner of an element, as 32 times its
/// position plus the number of the element in the cluster.
#[derive(Debug)]
struct Cluster {
    /// Number of elements.
    count: usize,
    /// Nodes, increasing by groups of 32. A node with many places comes several times, and the last
    /// one fills up the 96.
    nodes: [u32; MAX_NODES],
    /// Index of the first of a node's `places`, plus 256 times their number.
    spans: [u16; MAX_NODES],
    /// Places of the nodes, one node after the other.
    places: [u8; 8 * WARP],
    /// Indices in `nodes` of the corners per element, by position; the last one fills up the 32.
    corners: [[u8; 8]; WARP],
}

impl Cluster {
    fn new(hexes: &[[u32; 8]]) -> Self {
        let mut pairs: Vec<(u32, u8)> = Vec::with_capacity(8 * WARP);
        for (lane, hex) in hexes.iter().enumerate() {
            pairs.extend((0..8).map(|m| (hex[POSITION[m]], (WARP * m + lane) as u8)));
        }
        pairs.sort_unstable();

        let found = shares(&pairs, MAX_NODES);
        let last = found.last().map_or(0, |share| share[0].0);
        let mut cluster = Self {
            count: hexes.len(),
            nodes: [last; MAX_NODES],
            spans: [0; MAX_NODES],
            places: [0; 8 * WARP],
            corners: [[0; 8]; WARP],
        };

        let (mut seats, mut first) = (Seats::default(), 0);
        for (round, shares) in found.chunks(WARP).enumerate() {
            let mut slots: [&[(u32, u8)]; WARP] = [&[]; WARP];
            for share in shares {
                let slot = seats.take(round, share);
                cluster.nodes[WARP * round + slot] = share[0].0;
                slots[slot] = share;
                for &(_, place) in *share {
                    let (lane, position) = (place as usize % WARP, place as usize / WARP);
                    cluster.corners[lane][position] = (WARP * round + slot) as u8;
                }
            }

            for (pass, slots) in slots.chunks(LANES_OF_A_PASS).enumerate() {
                let slot = WARP * round + LANES_OF_A_PASS * pass;
                spread(slots, first, &mut cluster.spans[slot..], &mut cluster.places);
                first += slots.iter().map(|share| share.len()).sum::<usize>();
            }
        }

        // Lanes past the last element repeat it, with modulus 0, so that all read nodes that exist.
        let last = cluster.corners[hexes.len() - 1];
        cluster.corners[hexes.len()..].fill(last);
        cluster
    }
}

/// Places that the kernel adds without a branch.
const MOST_PLACES: usize = 4;

/// Splits the sorted pairs of node and place into up to `limit` shares of one node each, of as few
/// places as that allows, but at least four. A warp that sums 32 shares waits for the longest.
pub(super) fn shares(pairs: &[(u32, u8)], limit: usize) -> Vec<&[(u32, u8)]> {
    let nodes = || pairs.chunk_by(|a, b| a.0 == b.0);
    let fits =
        |&most: &usize| nodes().map(|node| node.len().div_ceil(most)).sum::<usize>() <= limit;
    let most = (MOST_PLACES..pairs.len()).find(fits).unwrap_or(pairs.len());
    nodes().flat_map(|node| node.chunks(most)).collect()
}

/// Lanes that shared memory serves at a time with two doubles each: one per group of banks.
const LANES_OF_A_PASS: usize = 8;

/// Assignment of the shares of a cluster to lanes that avoids bank conflicts between lanes reading
/// the same position of their elements: it saves a quarter of the passes.
struct Seats {
    /// Shares read per pass with two doubles per lane, `[position, lanes][bank]`.
    pairs: [[u8; 8]; 4 * 8],
    /// Shares read per pass with two floats per lane, sixteen lanes at a time.
    halves: [[u8; 16]; 2 * 8],
    is_taken: [bool; MAX_NODES],
}

impl Default for Seats {
    fn default() -> Self {
        Self { pairs: [[0; 8]; 32], halves: [[0; 16]; 16], is_taken: [false; MAX_NODES] }
    }
}

impl Seats {
    /// Takes the free lane of 32 with the fewest bank conflicts for a share.
    fn take(&mut self, round: usize, share: &[(u32, u8)]) -> usize {
        let mut met = [0u8; 16];
        for &(_, place) in share {
            let (pairs, halves) =
                (&self.pairs[place as usize / 8], &self.halves[place as usize / 16]);
            for (bank, met) in met.iter_mut().enumerate() {
                *met = met.saturating_add(4 * pairs[bank % 8] + halves[bank]);
            }
        }
        let free = (0..WARP).filter(|slot| !self.is_taken[WARP * round + slot]);
        let slot = free.min_by_key(|slot| met[slot % 16]).unwrap_or(0);
        self.is_taken[WARP * round + slot] = true;
        for &(_, place) in share {
            self.pairs[place as usize / 8][slot % 8] += 1;
            self.halves[place as usize / 16][slot % 16] += 1;
        }
        slot
    }
}

/// Writes `places` from `first` on, and `spans`, for eight shares summed side by side, ordered so
/// that few places are read from the same bank at a time.
fn spread(
    shares: &[&[(u32, u8)]],
    mut first: usize,
    spans: &mut [u16],
    places: &mut [u8; 8 * WARP],
) {
    let longest = shares.iter().map(|share| share.len()).max().unwrap_or(0);
    let mut used = vec![[0u8; LANES_OF_A_PASS]; longest];
    for (share, span) in shares.iter().zip(spans).filter(|(share, _)| !share.is_empty()) {
        *span = (first + 256 * share.len()) as u16;
        let own = &mut places[first..first + share.len()];
        own.iter_mut().zip(*share).for_each(|(place, pair)| *place = pair.1);
        for step in 0..own.len() {
            let bank = |place: u8| place as usize % LANES_OF_A_PASS;
            let next = (step..own.len()).min_by_key(|&k| used[step][bank(own[k])]);
            own.swap(step, next.unwrap_or(step));
            used[step][bank(own[step])] += 1;
        }
        first += share.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements without a node in common, in a row, and two that are one node.
    #[test]
    fn clusters_have_few_nodes_and_a_place_for_every_corner() {
        let apart: Vec<[u32; 8]> =
            (0..30).map(|e| std::array::from_fn(|a| 8 * e + a as u32)).collect();
        let row: Vec<[u32; 8]> =
            (0..22).map(|e| [0, 1, 41, 40, 80, 81, 121, 120].map(|node| node + e)).collect();
        let points = vec![[5; 8], [6; 8]];
        for (hexes, sizes) in [(apart, vec![12, 12, 6]), (row, vec![22]), (points, vec![2])] {
            let clusters = cut(&hexes, fits, Cluster::new);
            assert!(clusters.iter().map(|c| c.count).eq(sizes));
            let mut rest = hexes.as_slice();

            for cluster in clusters {
                let own = rest.split_off(..cluster.count).unwrap();
                let mut found = vec![[u32::MAX; 8]; own.len()];
                for (node, &span) in cluster.nodes.iter().zip(&cluster.spans) {
                    let (first, count) = (span as usize & 255, span as usize >> 8);
                    for &place in &cluster.places[first..][..count] {
                        found[place as usize % WARP][POSITION[place as usize / WARP]] = *node;
                    }
                }
                assert_eq!(found, own);

                let of_corners = |corners: &[u8; 8]| -> [u32; 8] {
                    std::array::from_fn(|a| cluster.nodes[corners[POSITION[a]] as usize])
                };
                assert!(cluster.corners.iter().zip(own).all(|(c, hex)| of_corners(c) == *hex));
            }
        }
    }
}
