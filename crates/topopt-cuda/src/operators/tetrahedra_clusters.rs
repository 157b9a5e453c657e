//! Clusters of up to 32 consecutive tetrahedra, one per warp, as `cuda/tetrahedra_clusters.cu`
//! reads them.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;

use super::clusters::{MAX_NODES_OF_MESH, WARP, cut, n_distinct, shares, starts};
use crate::Device;
use crate::kernels::TetrahedraClustersView;

/// Slots of nodes: a round of vertices, then those of middles.
const SLOTS: usize = defined!("common/tetrahedra_clusters.cuh", "ROUNDS") * WARP;

/// Local nodes that are vertices and their slots, and those of middles.
const KINDS: [(Range<usize>, Range<usize>); 2] = [(0..4, 0..WARP), (4..10, WARP..SLOTS)];

/// Least elements of a cluster, on average, for which clusters are faster: in random order nearly
/// every node is met once.
const LEAST: usize = 20;

/// A mesh of tetrahedra in clusters on the device.
pub(crate) struct TetrahedraClusters {
    count: usize,
    /// First element per cluster, and the number of elements, `[count + 1]`.
    starts: CudaSlice<u32>,
    /// [`Cluster::nodes`] with the held components in the upper three bits, `[count][128]`.
    nodes: CudaSlice<u32>,
    /// [`Cluster::spans`], `[count][128]`.
    spans: CudaSlice<u16>,
    /// [`Cluster::places`], four bytes per word, `[count][80]`.
    places: CudaSlice<u32>,
    /// [`Cluster::corners`] that are vertices, four bytes per word, `[count][32]`.
    vertices: CudaSlice<u32>,
    /// Middles of edges among them, six bytes per word, `[count][32]`.
    middles: CudaSlice<u64>,
}

impl TetrahedraClusters {
    /// Threads of a launch over all clusters, a warp per cluster.
    pub fn threads(&self) -> usize {
        WARP * self.count
    }

    /// Bytes on the device for so many tetrahedra at most.
    pub fn bytes(n_elements: usize) -> usize {
        let cluster = 4 + (4 + 2) * SLOTS + 10 * WARP + (4 + 8) * WARP;
        cluster * n_elements.div_ceil(LEAST)
    }

    /// Divides `tetrahedra` into clusters; none if these are small. `held` is as in
    /// [`super::constraints::Constraints`].
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for them.
    pub fn of(
        device: &Arc<Device>,
        tetrahedra: &[[u32; 10]],
        held: &[u8],
    ) -> Result<Option<Self>, BackendError> {
        if held.len() > MAX_NODES_OF_MESH {
            return Ok(None);
        }
        let of_warp = |tetrahedra| cut(tetrahedra, fits, Cluster::new);
        let clusters: Vec<Cluster> = tetrahedra.par_chunks(WARP).flat_map_iter(of_warp).collect();
        if LEAST * clusters.len() > tetrahedra.len().next_multiple_of(WARP) {
            return Ok(None);
        }
        let starts = starts(clusters.iter().map(|cluster| cluster.count));

        let entry = |node: u32| node | u32::from(held[node as usize]) << 29;
        let nodes = clusters.par_iter().flat_map_iter(|c| c.nodes.map(entry));
        let spans = clusters.par_iter().flat_map_iter(|c| c.spans);
        let places = clusters.par_iter().flat_map_iter(|c| c.places.as_chunks().0.iter().copied());
        let corners = |locals: Range<usize>| {
            let word = move |corners: [u8; 10]| packed(&corners[locals.clone()]);
            clusters.par_iter().flat_map_iter(move |c| c.corners.map(word.clone()))
        };
        let [vertices, middles] = KINDS.map(|(locals, _)| corners(locals));
        Ok(Some(Self {
            count: clusters.len(),
            starts: device.upload(&starts)?,
            nodes: device.upload(&nodes.collect::<Vec<u32>>())?,
            spans: device.upload(&spans.collect::<Vec<u16>>())?,
            places: device.upload(&places.map(u32::from_le_bytes).collect::<Vec<u32>>())?,
            vertices: device.upload(&vertices.map(|word| word as u32).collect::<Vec<u32>>())?,
            middles: device.upload(&middles.collect::<Vec<u64>>())?,
        }))
    }
}

/// Up to eight bytes as one word, the first one lowest.
fn packed(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl From<&TetrahedraClusters> for TetrahedraClustersView {
    fn from(clusters: &TetrahedraClusters) -> Self {
        Self {
            n_clusters: clusters.count.into(),
            starts: (&clusters.starts).into(),
            nodes: (&clusters.nodes).into(),
            spans: (&clusters.spans).into(),
            places: (&clusters.places).into(),
            vertices: (&clusters.vertices).into(),
            middles: (&clusters.middles).into(),
        }
    }
}

/// Distinct nodes of `tetrahedra` that have one of the local numbers.
fn n_nodes(tetrahedra: &[[u32; 10]], locals: &Range<usize>) -> usize {
    let own = tetrahedra.iter().flat_map(|nodes| &nodes[locals.clone()]);
    n_distinct(own.copied().collect())
}

/// Whether the nodes of `tetrahedra` have slots in one cluster.
fn fits(tetrahedra: &[[u32; 10]]) -> bool {
    KINDS.iter().all(|(locals, slots)| n_nodes(tetrahedra, locals) <= slots.len())
}

/// Consecutive elements and their nodes. A place is a local node of an element, as 32 times its
/// number among those of its kind plus the number of the element in the cluster.
#[derive(Debug)]
struct Cluster {
    /// Number of elements.
    count: usize,
    /// Vertices, then middles, both increasing. A node with many places comes several times, and
    /// the last one of its kind fills up its slots.
    nodes: [u32; SLOTS],
    /// Index of the first of a node's `places`, plus 512 times their number.
    spans: [u16; SLOTS],
    /// Places of the nodes, one node after the other.
    places: [u8; 10 * WARP],
    /// Slots of the nodes per element; the last one fills up the 32.
    corners: [[u8; 10]; WARP],
}

impl Cluster {
    fn new(tetrahedra: &[[u32; 10]]) -> Self {
        let mut cluster = Self {
            count: tetrahedra.len(),
            nodes: [0; SLOTS],
            spans: [0; SLOTS],
            places: [0; 10 * WARP],
            corners: [[0; 10]; WARP],
        };
        for (locals, slots) in KINDS {
            cluster.add(tetrahedra, &locals, slots);
        }
        // Lanes past the last element repeat it, with modulus 0, so that all read nodes that exist.
        let last = cluster.corners[tetrahedra.len() - 1];
        cluster.corners[tetrahedra.len()..].fill(last);
        cluster
    }

    /// Adds the nodes of one kind, by their local numbers, to their slots.
    fn add(&mut self, tetrahedra: &[[u32; 10]], locals: &Range<usize>, slots: Range<usize>) {
        let mut pairs: Vec<(u32, u8)> = Vec::with_capacity(locals.len() * WARP);
        for (lane, nodes) in tetrahedra.iter().enumerate() {
            let places = (0..).map(|m| (WARP * m + lane) as u8);
            pairs.extend(nodes[locals.clone()].iter().copied().zip(places));
        }
        pairs.sort_unstable();

        let found = shares(&pairs, slots.len());
        let last = found.last().map_or(0, |share| share[0].0);
        self.nodes[slots.clone()].fill(last);
        let mut first = WARP * locals.start;
        for (slot, share) in slots.zip(found) {
            self.nodes[slot] = share[0].0;
            self.spans[slot] = (first + 512 * share.len()) as u16;
            for (k, &(_, place)) in (first..).zip(share) {
                let (lane, m) = (place as usize % WARP, place as usize / WARP);
                self.places[k] = place;
                self.corners[lane][locals.start + m] = slot as u8;
            }
            first += share.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::Renumbering;
    use topopt_testing::distorted_tetrahedra;

    use super::*;

    /// Tetrahedra without a node in common, and those of a cube.
    #[test]
    fn clusters_have_a_slot_and_a_place_for_every_node() {
        let apart: Vec<[u32; 10]> =
            (0..20).map(|e| std::array::from_fn(|a| 10 * e + a as u32)).collect();
        let mesh = distorted_tetrahedra(4, 0.2, true);
        let mesh = Renumbering::on_import(&mesh).apply(&mesh);
        for tetrahedra in [&apart[..], mesh.tetrahedra()] {
            let clusters: Vec<Cluster> =
                tetrahedra.chunks(WARP).flat_map(|own| cut(own, fits, Cluster::new)).collect();
            let mut rest = tetrahedra;
            for cluster in clusters {
                let own = rest.split_off(..cluster.count).unwrap();
                let mut found = vec![[u32::MAX; 10]; own.len()];
                for (locals, slots) in KINDS {
                    for slot in slots {
                        let span = cluster.spans[slot] as usize;
                        for &place in &cluster.places[span & 511..][..span >> 9] {
                            let (lane, m) = (place as usize % WARP, place as usize / WARP);
                            found[lane][locals.start + m] = cluster.nodes[slot];
                        }
                    }
                }
                assert_eq!(found, own);
                let of = |corners: &[u8; 10]| corners.map(|slot| cluster.nodes[slot as usize]);
                assert!(cluster.corners.iter().zip(own).all(|(c, nodes)| of(c) == *nodes));
            }
            assert!(rest.is_empty());
        }
    }
}
