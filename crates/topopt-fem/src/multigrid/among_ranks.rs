//! The structure of a hierarchy that several ranks share: each groups its own nodes.

use std::collections::BTreeMap;
use std::ops::Range;

use topopt_linalg::{Backend, BackendError, BlockCsr, BlockPattern, Communicator, Halo, Neighbor};
use topopt_mesh::NodeToElements;

use super::Aggregates;
use super::neighbors::Graph;
use super::node_graph::NodeGraph;
use super::numbers::Numbers;
use super::structure::{
    Aggregation, SharedLevel, coarser, is_in_pieces, level_graph, n_pairs, pattern, size,
    straddling,
};
use crate::distributed::node_halo;
use crate::{DIM, Discretization, ElementKernel, Sharing};

impl Aggregation {
    /// Aggregates the nodes of `problem` on a part, around `void`: ranks group their own nodes and
    /// their own rows of large levels; what is below these is of all ranks.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn on_part<'a, B: Backend, K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        sharing: &dyn Sharing<'a, B>,
        void: &[u32],
        direct: usize,
    ) -> Result<Self, BackendError> {
        let (mesh, part, communicator) = (problem.mesh(), sharing.part(), sharing.communicator());
        // What may be solved directly is whole.
        let least_divided = sharing.least_divided().max(direct + 1).div_ceil(K::MODES);
        let ranks = Grouped { communicator, least_divided };
        let adjacency = NodeToElements::new(mesh);
        let graph = NodeGraph::new(mesh, &adjacency, void);
        let full_graph = NodeGraph::new(mesh, &adjacency, &[]);
        let n_own = part.n_own_nodes;
        let positions = &mesh.coordinates()[..n_own];
        let own = Aggregates::greedy(positions, &Own { graph: &graph, n_own })
            .joined(positions, &Own { graph: &full_graph, n_own });

        let mut straddling = Vec::new();
        let mut levels = vec![ranks.level(own, mesh.coordinates(), &node_halo(part), |nodes| {
            straddling = self::straddling(problem, &adjacency, nodes);
            [pattern(mesh, nodes, &straddling), nodes.graph(&graph)]
        })?];
        while let Some(next) = ranks.next(levels.len(), &levels[levels.len() - 1])? {
            levels.push(next);
        }

        let mut sizes = ranks.sizes([n_own, n_pairs(mesh, &adjacency, n_own)], &levels)?;
        let shared = levels.iter().map(|level| level.shared.clone()).collect();
        let (mut coarser, patterns) = with_coarser(levels, direct / K::MODES);
        let n_divided = sizes.len() - 1;
        sizes.extend(patterns[n_divided..].iter().map(size));
        let nodes = coarser.remove(0);
        let unknowns = [N, K::MODES];
        Ok(Self { nodes, shared, coarser, straddling, patterns, unknowns, sizes })
    }
}

/// A level as this rank has it.
struct LevelHere {
    /// Aggregates of the points of the level above: own ones, and those of ghosts or all.
    aggregates: Aggregates,
    /// Patterns of the pairs that are coupled, and of those that hold together.
    patterns: [BlockPattern; 2],
    shared: SharedLevel,
}

impl LevelHere {
    /// Own rows and their blocks, of a level that is divided.
    fn own_size(&self) -> Option<[usize; 2]> {
        match &self.shared {
            SharedLevel::Divided(halo) => {
                Some([halo.own.end, self.patterns[0].offsets()[halo.own.end]])
            }
            SharedLevel::Whole(_) => None,
        }
    }
}

/// The levels `here`, which end with a whole one, and those below it.
fn with_coarser(here: Vec<LevelHere>, direct: usize) -> (Vec<Aggregates>, Vec<BlockPattern>) {
    let n_levels = here.len();
    let (mut groups, mut patterns) = (Vec::new(), Vec::new());
    for LevelHere { aggregates, patterns: [coupled, held], shared } in here {
        let (below, of_all) = match shared {
            SharedLevel::Divided(_) => (Vec::new(), vec![coupled]),
            SharedLevel::Whole(_) => coarser(n_levels, &aggregates, [coupled, held], direct),
        };
        groups.push(aggregates);
        groups.extend(below);
        patterns.extend(of_all);
    }
    (groups, patterns)
}

/// How ranks group points.
struct Grouped<'a> {
    communicator: &'a dyn Communicator,
    /// Aggregates of a level that is divided, at least; and they are not in pieces, which others may join.
    least_divided: usize,
}

impl Grouped<'_> {
    /// The level of the `own` aggregates of points at `positions`, which ranks exchange by `halo`;
    /// `patterns` are those of the rows of own ones.
    fn level(
        &self,
        own: Aggregates,
        positions: &[[f64; DIM]],
        halo: &Halo,
        patterns: impl FnOnce(&Aggregates) -> [BlockPattern; 2],
    ) -> Result<LevelHere, BackendError> {
        let (communicator, n_own) = (self.communicator, own.len());
        let [n_points, n_rows] = [self.sum(halo.own.end)?, self.sum(n_own)?];
        let is_divided = n_rows >= self.least_divided && !is_in_pieces(n_points, n_rows);
        let (aggregates, numbers) = own.among_ranks(positions, halo, &communicator, is_divided)?;
        let [coupled, held] = patterns(&aggregates);

        if !is_divided {
            let rows = numbers.own(communicator.rank());
            let coupled = gathered(&coupled, rows.clone(), communicator)?;
            let patterns = [coupled, gathered(&held, rows, communicator)?];
            return Ok(LevelHere {
                aggregates,
                patterns,
                shared: SharedLevel::Whole(numbers.counts),
            });
        }

        let halo = self.halo(&coupled, n_own, &numbers);
        let patterns = [across(&coupled, n_own), held];
        Ok(LevelHere { aggregates, patterns, shared: SharedLevel::Divided(halo) })
    }

    /// The level below one that is divided, which is level `number` below the nodes.
    fn next(&self, number: usize, level: &LevelHere) -> Result<Option<LevelHere>, BackendError> {
        let SharedLevel::Divided(halo) = &level.shared else { return Ok(None) };
        let (centers, n_own) = (level.aggregates.centers(), halo.own.end);
        let greedy =
            |graph: &BlockPattern| Aggregates::greedy(&centers[..n_own], &Own { graph, n_own });
        let [coupled, held] = &level.patterns;
        let mut graph = held;
        let mut own = greedy(&level_graph(number, held, centers));
        if is_in_pieces(self.sum(n_own)?, self.sum(own.len())?) {
            graph = coupled;
            own = greedy(coupled);
        }
        self.level(own, centers, halo, |next| [coupled, graph].map(|pattern| next.graph(pattern)))
            .map(Some)
    }

    /// How ranks exchange what they have of rows: own ones, and the ghosts that `pattern` has there.
    fn halo(&self, pattern: &BlockPattern, n_own: usize, numbers: &Numbers) -> Halo {
        let mut neighbors: BTreeMap<usize, Neighbor> = BTreeMap::new();
        for row in 0..n_own {
            for &column in pattern.row(row).iter().filter(|&&column| column as usize >= n_own) {
                let rank = numbers.rank_of(column as usize - n_own);
                let neighbor = neighbors.entry(rank).or_insert_with(|| Neighbor {
                    rank,
                    sent: Vec::new(),
                    received: Vec::new(),
                });
                neighbor.sent.push(row as u32);
                neighbor.received.push(column);
            }
        }
        for list in neighbors.values_mut().flat_map(|n| [&mut n.sent, &mut n.received]) {
            list.sort_unstable();
            list.dedup();
        }
        let neighbors = neighbors.into_values().collect();
        Halo { own: 0..n_own, n_points: pattern.n_rows(), neighbors }
    }

    /// Points and pairs of the finest level and of divided ones over all ranks, from those of this one.
    fn sizes(
        &self,
        finest: [usize; 2],
        levels: &[LevelHere],
    ) -> Result<Vec<[usize; 2]>, BackendError> {
        let own = std::iter::once(finest).chain(levels.iter().filter_map(LevelHere::own_size));
        let mut sizes: Vec<f64> = own.flatten().map(|size| size as f64).collect();
        self.communicator.sum(&mut sizes);
        self.communicator.check()?;
        let sizes = sizes.as_chunks::<2>().0.iter();
        Ok(sizes.map(|size| size.map(|size| size as usize)).collect())
    }

    /// The sum over all ranks.
    fn sum(&self, n: usize) -> Result<usize, BackendError> {
        let mut sum = [n as f64];
        self.communicator.sum(&mut sum);
        self.communicator.check()?;
        Ok(sum[0] as usize)
    }
}

/// The pattern with the blocks of ghosts' rows that are across the diagonal from those of the first
/// `n_own` ones.
fn across(pattern: &BlockPattern, n_own: usize) -> BlockPattern {
    let mut rows: Vec<Vec<u32>> =
        (0..pattern.n_rows()).map(|row| pattern.row(row).to_vec()).collect();
    for row in 0..n_own {
        for &ghost in pattern.row(row).iter().filter(|&&column| column as usize >= n_own) {
            rows[ghost as usize].push(row as u32);
        }
    }
    BlockPattern::new(rows)
}

/// A graph among the points that a rank owns.
struct Own<'a, G> {
    graph: &'a G,
    n_own: usize,
}

impl<G: Graph> Graph for Own<'_, G> {
    fn each_neighbor(&self, point: usize, mut visit: impl FnMut(u32)) {
        self.graph.each_neighbor(point, |other| {
            if (other as usize) < self.n_own {
                visit(other);
            }
        });
    }

    /// Counts neighbors in other parts, which distinguish points next to a part from the surface.
    fn n_beyond(&self, point: usize) -> u32 {
        let mut n = 0;
        self.graph.each_neighbor(point, |other| n += u32::from(other as usize >= self.n_own));
        n
    }
}

/// Gathers the global pattern from the `rows` that each rank owns.
pub(crate) fn gathered(
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

/// Gives every rank all rows of a coarse matrix, which the ranks have made in turn, `counts` each.
pub(crate) fn share_rows<const M: usize>(
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
