//! The structure of a hierarchy that several ranks share: each groups its own nodes.

use std::ops::Range;

use topopt_linalg::{Backend, BackendError, BlockCsr, BlockPattern, Communicator};
use topopt_mesh::NodeToElements;

use super::aggregates::Aggregates;
use super::neighbors::Graph;
use super::node_graph::NodeGraph;
use super::structure::{Aggregation, coarser, n_pairs, pattern, straddling};
use crate::distributed::node_halo;
use crate::{Discretization, ElementKernel, Sharing};

impl Aggregation {
    /// As [`Aggregation::around`], for `problem` on the part of a mesh that is shared: aggregates of own nodes, numbered
    /// through all ranks, and everything below of all ranks.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn on_part<B: Backend, K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        sharing: &dyn Sharing<B>,
        void: &[u32],
        direct: usize,
    ) -> Result<Self, BackendError> {
        let (mesh, part, communicator) = (problem.mesh(), sharing.part(), sharing.communicator());
        let adjacency = NodeToElements::new(mesh);
        let graph = NodeGraph::new(mesh, &adjacency, void);
        let full_graph = NodeGraph::new(mesh, &adjacency, &[]);
        let n_own = part.n_own_nodes;
        let positions = &mesh.coordinates()[..n_own];
        let own = Aggregates::greedy(positions, &Own { graph: &graph, n_own })
            .joined(positions, &Own { graph: &full_graph, n_own });

        let (nodes, counts) =
            own.of_all_ranks(mesh.coordinates(), &node_halo(part), &communicator)?;
        let straddling = straddling(problem, &adjacency, &nodes);

        let first: usize = counts[..communicator.rank()].iter().sum();
        let rows = first..first + counts[communicator.rank()];
        let finest = gathered(&pattern(mesh, &nodes, &straddling), rows.clone(), communicator)?;
        let graph = gathered(&nodes.graph(&graph), rows, communicator)?;
        let (coarser, patterns) = coarser(&nodes, finest, graph, direct / K::MODES);

        let mut sizes = [n_own, n_pairs(mesh, &adjacency, n_own)].map(|size| size as f64);
        communicator.sum(&mut sizes);
        communicator.check()?;
        let sizes = sizes.map(|size| size as usize);
        let unknowns = [N, K::MODES];
        Ok(Self { nodes, counts, coarser, straddling, patterns, unknowns, sizes })
    }
}

/// A graph among the points that a rank owns.
struct Own<'a> {
    graph: &'a NodeGraph<'a>,
    n_own: usize,
}

impl Graph for Own<'_> {
    fn each_neighbor(&self, point: usize, mut visit: impl FnMut(u32)) {
        self.graph.each_neighbor(point, |other| {
            if (other as usize) < self.n_own {
                visit(other);
            }
        });
    }

    /// So that points beside another part do not count as those on the surface.
    fn n_beyond(&self, point: usize) -> u32 {
        let mut n = 0;
        self.graph.each_neighbor(point, |other| n += u32::from(other as usize >= self.n_own));
        n
    }
}

/// The pattern of which each rank knows its own `rows`.
fn gathered(
    known: &BlockPattern,
    rows: Range<usize>,
    communicator: &dyn Communicator,
) -> Result<BlockPattern, BackendError> {
    let lengths: Vec<f64> = rows.clone().map(|row| known.row(row).len() as f64).collect();
    let columns: Vec<f64> =
        rows.flat_map(|row| known.row(row)).map(|&column| f64::from(column)).collect();
    let lengths = communicator.gather_all(&lengths).concat();
    let columns = communicator.gather_all(&columns).concat();
    communicator.check()?;
    let mut columns = columns.into_iter().map(|column| column as u32);
    let row = |length: f64| columns.by_ref().take(length as usize).collect();
    Ok(BlockPattern::new(lengths.into_iter().map(row).collect()))
}

/// Lets every rank have the rows of a coarse matrix that each has made, of which the ranks have the next
/// `counts`.
pub(super) fn share_rows<const M: usize>(
    communicator: &dyn Communicator,
    counts: &[usize],
    matrix: &mut BlockCsr<M>,
) {
    let offsets = matrix.pattern().offsets();
    let blocks = |first: &mut usize, count: &usize| {
        let rows = *first..*first + count;
        *first = rows.end;
        Some(offsets[rows.start]..offsets[rows.end])
    };
    let ranges: Vec<Range<usize>> = counts.iter().scan(0, blocks).collect();
    let sizes: Vec<usize> = ranges.iter().map(|range| M * M * range.len()).collect();
    let blocks = matrix.blocks_mut();
    let own = blocks[ranges[communicator.rank()].clone()].as_flattened().as_flattened().to_vec();
    communicator.gather(&own, &sizes, blocks.as_flattened_mut().as_flattened_mut());
}
