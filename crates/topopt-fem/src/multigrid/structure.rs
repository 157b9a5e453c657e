//! Structure of a hierarchy, which depends on the mesh alone: made once per run, for every backend.

use std::borrow::Cow;

use rayon::prelude::*;
use topopt_linalg::{BlockPattern, Halo};
use topopt_mesh::{HexMesh, NodeToElements};

use super::Aggregates;
use super::distinct::Distinct;
use super::neighbors::Neighbors;
use super::node_graph::NodeGraph;
use crate::{DIM, Discretization, ElementKernel, Level};

/// Largest distance of a near neighbor, as a multiple of the distance of the four nearest ones. A
/// cantilever takes 15.8 iterations per solve with 1.2, and 13.9 with 1.25.
const NEAR: f64 = 1.25;

/// Least factor by which the number of aggregates falls from level to level.
const SHRINKS: usize = 2;

/// The aggregates of every level, and where the blocks of the coarse matrices stand.
#[derive(Debug, Clone)]
pub struct Aggregation {
    /// Aggregates of the nodes.
    pub nodes: Aggregates,
    /// How ranks share the first levels below the finest: divided ones, and then a whole one. On
    /// all levels below, and with one rank on all, each rank has and does everything.
    pub shared: Vec<SharedLevel>,
    /// Aggregates of those aggregates, and so on.
    pub coarser: Vec<Aggregates>,
    /// Elements that make the coarse stiffness of each aggregate of nodes: those of its elements
    /// that touch several aggregates or a support.
    pub straddling: Vec<Vec<u32>>,
    /// Pattern of the coarse matrix of `nodes`, then of each of `coarser`.
    pub patterns: Vec<BlockPattern>,
    /// Unknowns per node and per aggregate.
    pub(super) unknowns: [usize; 2],
    /// Points and pairs of coupled ones of all ranks, by level.
    pub(super) sizes: Vec<[usize; 2]>,
}

/// How ranks share a level below the finest; each makes its own rows.
#[derive(Debug, Clone)]
pub enum SharedLevel {
    /// Each rank has its own rows, and as ghosts those that these are coupled with; the rows of
    /// ghosts are there as far as they are across the diagonal from own ones.
    Divided(Halo),
    /// All rows on each rank, which computes a share of them: the numbers of rows by rank.
    Whole(Vec<usize>),
}

impl Aggregation {
    /// Aggregates of the nodes of `problem`, then of aggregates until at most `direct` unknowns are
    /// left.
    pub fn new<K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        direct: usize,
    ) -> Self {
        Self::around(problem, problem.void(), direct)
    }

    /// Builds the structure with the elements `void` as those that hold nothing together.
    pub fn around<K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        void: &[u32],
        direct: usize,
    ) -> Self {
        let mesh = problem.mesh();
        let adjacency = NodeToElements::new(mesh);
        let node_graph = NodeGraph::new(mesh, &adjacency, void);
        let positions = mesh.coordinates();
        let neighbors = Neighbors::of(mesh.n_nodes(), &node_graph);

        // Without void, these are all that share an element.
        let n_pairs = match void {
            [] => neighbors.n_pairs(),
            _ => n_pairs(mesh, &adjacency, mesh.n_nodes()),
        };
        let nodes = Aggregates::greedy_by(&neighbors, positions, &node_graph)
            .joined(positions, &NodeGraph::new(mesh, &adjacency, &[]));
        // Without void, all that an element couples it holds together.
        let graph = (!void.is_empty()).then(|| nodes.graph(&neighbors));
        drop(neighbors);

        let straddling = straddling(problem, &adjacency, &nodes);
        let finest = pattern(mesh, &nodes, &straddling);
        let graph = graph.unwrap_or_else(|| finest.clone());

        let (coarser, patterns) = coarser(1, &nodes, [finest, graph], direct / K::MODES);
        let (unknowns, shared) = ([N, K::MODES], Vec::new());
        let sizes = std::iter::once([mesh.n_nodes(), n_pairs]).chain(patterns.iter().map(size));
        let sizes = sizes.collect();
        Self { nodes, shared, coarser, straddling, patterns, unknowns, sizes }
    }

    /// Unknowns per aggregate.
    pub fn modes(&self) -> usize {
        self.unknowns[1]
    }

    /// The size of every level, the finest first.
    pub fn levels(&self) -> Vec<Level> {
        let [of_node, modes] = self.unknowns;
        let level = |(k, &[points, pairs]): (usize, &[usize; 2])| {
            let unknowns = if k == 0 { of_node } else { modes };
            Level { unknowns: unknowns * points, entries: unknowns * unknowns * pairs }
        };
        self.sizes.iter().enumerate().map(level).collect()
    }
}

/// Rows and blocks.
pub(super) fn size(pattern: &BlockPattern) -> [usize; 2] {
    [pattern.n_rows(), pattern.n_blocks()]
}

/// Aggregates of the `finest`, which are level `level` below the nodes, then of aggregates until at most
/// `direct` of them are left, by the graph of what holds together, the second of `patterns`; and where
/// the coarse matrices have blocks, the first of `patterns` and those of the coarser levels.
pub(super) fn coarser(
    level: usize,
    finest: &Aggregates,
    patterns: [BlockPattern; 2],
    direct: usize,
) -> (Vec<Aggregates>, Vec<BlockPattern>) {
    let [pattern, mut graph] = patterns;
    let mut coarser: Vec<Aggregates> = Vec::new();
    let mut patterns = vec![pattern];
    loop {
        let finer = coarser.last().unwrap_or(finest);
        if finer.len() <= direct {
            break;
        }

        let coupled = &patterns[coarser.len()];
        let of_level = level_graph(level + coarser.len(), &graph, finer.centers());
        let mut next = Aggregates::greedy(finer.centers(), of_level.as_ref());
        if is_in_pieces(finer.len(), next.len()) {
            graph = coupled.clone();
            next = Aggregates::greedy(finer.centers(), &graph);
        }
        if next.len() == finer.len() {
            break;
        }

        patterns.push(next.graph(coupled)); // where P^T A P has blocks
        graph = next.graph(&graph);
        coarser.push(next);
    }
    (coarser, patterns)
}

/// The graph that groups the points of a level: on the first below the nodes it has near neighbors
/// only, as the convergence of the whole depends on this level.
pub(super) fn level_graph<'g>(
    level: usize,
    graph: &'g BlockPattern,
    centers: &[[f64; DIM]],
) -> Cow<'g, BlockPattern> {
    if level == 1 { Cow::Owned(near(graph, centers)) } else { Cow::Borrowed(graph) }
}

/// Whether `aggregates` are so many, for `points`, that void or hinges must separate pieces:
/// couplings between pieces, however weak, then have to group them.
pub(super) fn is_in_pieces(points: usize, aggregates: usize) -> bool {
    aggregates > points / SHRINKS
}

/// The graph without neighbors much farther than the four nearest. Its aggregates have some 9
/// points rather than 27: convergence gains much more than the next level costs.
fn near(graph: &BlockPattern, centers: &[[f64; DIM]]) -> BlockPattern {
    let rows = (0..graph.n_rows()).into_par_iter().map(|row| {
        let square = |&other: &u32| {
            let (a, b) = (&centers[row], &centers[other as usize]);
            (0..DIM).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>()
        };
        let mut squares: Vec<f64> = graph.row(row).iter().map(square).collect();
        squares.sort_by(f64::total_cmp); // the first is that of the point itself
        let limit = NEAR * NEAR * squares[squares.len().min(5) - 1];
        graph.row(row).iter().copied().filter(|other| square(other) <= limit).collect()
    });
    BlockPattern::new(rows.collect())
}

/// The elements that touch several aggregates or a support, for every aggregate that they touch.
pub(super) fn straddling<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
    aggregates: &Aggregates,
) -> Vec<Vec<u32>> {
    let (mesh, constraints) = (problem.mesh(), problem.constraints());
    let straddles = |element: &u32, own: u32| {
        let hex = &mesh.hexes()[*element as usize];
        hex.iter().any(|&node| aggregates.of()[node as usize] != own)
            || hex.iter().any(|node| constraints.is_held(*node as usize))
    };
    let members = aggregates.members().par_iter().enumerate();
    let straddling = members.map_init(Distinct::new, |around, (own, nodes)| {
        around.clear();
        let elements = nodes.iter().flat_map(|&node| adjacency.elements_of(node as usize));
        elements.for_each(|&element| around.insert(element));
        let mut elements = around.sorted();
        elements.retain(|element| straddles(element, own as u32));
        elements
    });
    straddling.collect()
}

/// Returns the block pattern of the first coarse matrix.
pub(super) fn pattern(
    mesh: &HexMesh,
    aggregates: &Aggregates,
    straddling: &[Vec<u32>],
) -> BlockPattern {
    let rows = straddling.par_iter().enumerate();
    let rows = rows.map_init(Distinct::new, |columns, (row, elements)| {
        columns.clear();
        columns.insert(row as u32);
        let nodes = elements.iter().flat_map(|&e| mesh.hexes()[e as usize]);
        nodes.for_each(|node| columns.insert(aggregates.of()[node as usize]));
        columns.sorted()
    });
    BlockPattern::new(rows.collect())
}

/// Pairs of the first `n` nodes with nodes that share an element, a node with itself among them.
pub(super) fn n_pairs(mesh: &HexMesh, adjacency: &NodeToElements, n: usize) -> usize {
    let counts = (0..n).into_par_iter().map_init(Distinct::new, |row, node| {
        row.clear();
        let hexes = adjacency.elements_of(node).iter().map(|&e| mesh.hexes()[e as usize]);
        hexes.flatten().for_each(|other| row.insert(other));
        row.values().len()
    });
    counts.sum()
}
