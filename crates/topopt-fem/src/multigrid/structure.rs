//! What of a hierarchy depends on the mesh alone: made once a run, for every backend.

use rayon::prelude::*;
use topopt_linalg::BlockPattern;
use topopt_mesh::{HexMesh, NodeToElements};

use super::Aggregates;
use super::distinct::Distinct;
use super::neighbors::Neighbors;
use super::node_graph::NodeGraph;
use crate::{DIM, Discretization, ElementKernel, Level};

/// How much farther than the four nearest neighbors one may be to be taken for near. A cantilever
/// took 15.8 iterations per solve at 1.2, and takes 13.9 at 1.25.
const NEAR: f64 = 1.25;

/// How many times fewer aggregates the next level has at least.
const SHRINKS: usize = 2;

/// The aggregates of every level, and where the blocks of the coarse matrices stand.
#[derive(Debug, Clone)]
pub struct Aggregation {
    /// Aggregates of the nodes.
    pub nodes: Aggregates,
    /// How many of these each rank has.
    pub counts: Vec<usize>,
    /// Aggregates of those aggregates, and so on.
    pub coarser: Vec<Aggregates>,
    /// Of every aggregate of nodes, the elements that make its coarse stiffness: those of its
    /// elements that touch several aggregates or a support.
    pub straddling: Vec<Vec<u32>>,
    /// Pattern of the coarse matrix of `nodes`, then of each of `coarser`.
    pub patterns: Vec<BlockPattern>,
    /// Unknowns per node and per aggregate.
    pub(super) unknowns: [usize; 2],
    /// Nodes, and pairs of them that share an element, of all ranks.
    pub(super) sizes: [usize; 2],
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

    /// As [`Aggregation::new`], with the elements `void` as those that hold nothing together.
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
        let nodes = Aggregates::greedy_by(neighbors, positions, &node_graph)
            .joined(positions, &NodeGraph::new(mesh, &adjacency, &[]));
        let straddling = straddling(problem, &adjacency, &nodes);
        let finest = pattern(mesh, &nodes, &straddling);
        // Without void, all that an element couples it holds together.
        let graph = match void {
            [] => finest.clone(),
            _ => nodes.graph(&node_graph),
        };
        let (coarser, patterns) = coarser(&nodes, finest, graph, direct / K::MODES);
        let (unknowns, sizes) = ([N, K::MODES], [mesh.n_nodes(), n_pairs]);
        let counts = vec![nodes.len()];
        Self { nodes, counts, coarser, straddling, patterns, unknowns, sizes }
    }

    /// Unknowns per aggregate.
    pub fn modes(&self) -> usize {
        self.unknowns[1]
    }

    /// The size of every level, the finest first.
    pub fn levels(&self) -> Vec<Level> {
        let [of_node, modes] = self.unknowns;
        let [n_nodes, n_pairs] = self.sizes;
        let finest = Level { unknowns: of_node * n_nodes, entries: of_node * of_node * n_pairs };
        let coarse = self.patterns.iter().map(|pattern| Level {
            unknowns: modes * pattern.n_rows(),
            entries: modes * modes * pattern.n_blocks(),
        });
        std::iter::once(finest).chain(coarse).collect()
    }
}

/// Aggregates of `nodes`, then of aggregates until at most `direct` of them are left, by the
/// `graph` of what holds together; and where the coarse matrices have blocks, of which `pattern` is
/// the first.
pub(super) fn coarser(
    nodes: &Aggregates,
    pattern: BlockPattern,
    mut graph: BlockPattern,
    direct: usize,
) -> (Vec<Aggregates>, Vec<BlockPattern>) {
    let mut coarser: Vec<Aggregates> = Vec::new();
    let mut patterns = vec![pattern];
    loop {
        let finer = coarser.last().unwrap_or(nodes);
        if finer.len() <= direct {
            break;
        }

        let coupled = &patterns[coarser.len()];
        // Of near neighbors only, as the convergence of the whole depends on this level.
        let mut next = match coarser.is_empty() {
            true => Aggregates::greedy(finer.centers(), &near(&graph, finer.centers())),
            false => Aggregates::greedy(finer.centers(), &graph),
        };

        // What is left are pieces that void or hinges part: what couples them, however little, has
        // to do.
        if next.len() > finer.len() / SHRINKS {
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

/// The graph without neighbors that are much farther than the four nearest. Its aggregates are of
/// some 9 points in place of 27: convergence gains much more than the next level costs.
fn near(graph: &BlockPattern, centers: &[[f64; DIM]]) -> BlockPattern {
    let row = |row: usize| {
        let square = |&other: &u32| {
            let (a, b) = (&centers[row], &centers[other as usize]);
            (0..DIM).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>()
        };
        let mut squares: Vec<f64> = graph.row(row).iter().map(square).collect();
        squares.sort_by(f64::total_cmp); // the first is that of the point itself
        let limit = NEAR * NEAR * squares[squares.len().min(5) - 1];
        graph.row(row).iter().copied().filter(|other| square(other) <= limit).collect()
    };
    BlockPattern::new((0..graph.n_rows()).into_par_iter().map(row).collect())
}

/// The elements that touch several aggregates or a support, for every aggregate that they touch.
pub(super) fn straddling<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
    aggregates: &Aggregates,
) -> Vec<Vec<u32>> {
    let (mesh, constraints) = (problem.mesh(), problem.constraints());
    let is_held = |node: &u32| constraints.is_held(*node as usize);
    let straddles = |element: &u32, own: u32| {
        let hex = &mesh.hexes()[*element as usize];
        hex.iter().any(|&node| aggregates.of()[node as usize] != own) || hex.iter().any(is_held)
    };
    let of_aggregate = |around: &mut Distinct, (own, nodes): (usize, &Vec<u32>)| {
        around.clear();
        let elements = nodes.iter().flat_map(|&node| adjacency.elements_of(node as usize));
        elements.for_each(|&element| around.insert(element));
        let mut elements = around.sorted();
        elements.retain(|element| straddles(element, own as u32));
        elements
    };
    let members = aggregates.members().par_iter().enumerate();
    members.map_init(Distinct::new, of_aggregate).collect()
}

/// Where the blocks of the first coarse matrix stand.
pub(super) fn pattern(
    mesh: &HexMesh,
    aggregates: &Aggregates,
    straddling: &[Vec<u32>],
) -> BlockPattern {
    let row = |columns: &mut Distinct, (row, elements): (usize, &Vec<u32>)| {
        columns.clear();
        columns.insert(row as u32);
        let nodes = elements.iter().flat_map(|&e| mesh.hexes()[e as usize]);
        nodes.for_each(|node| columns.insert(aggregates.of()[node as usize]));
        columns.sorted()
    };
    let rows = straddling.par_iter().enumerate();
    BlockPattern::new(rows.map_init(Distinct::new, row).collect())
}

/// Pairs of the first `n` nodes with nodes that share an element, a node with itself among them.
pub(super) fn n_pairs(mesh: &HexMesh, adjacency: &NodeToElements, n: usize) -> usize {
    let count = |row: &mut Distinct, node: usize| {
        row.clear();
        let hexes = adjacency.elements_of(node).iter().map(|&e| mesh.hexes()[e as usize]);
        hexes.flatten().for_each(|other| row.insert(other));
        row.values().len()
    };
    (0..n).into_par_iter().map_init(Distinct::new, count).sum()
}
