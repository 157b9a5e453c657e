//! Groups of neighbouring nodes, by the graph alone.

use rayon::prelude::*;
use topopt_linalg::BlockPattern;
use topopt_mesh::NodeToElements;

use super::difference;
use crate::{DIM, Problem};

/// Points (nodes, or aggregates of a finer level), each in one aggregate.
#[derive(Debug, Clone)]
pub struct Aggregates {
    of: Vec<u32>,
    offsets: Vec<[f64; DIM]>,
    members: Vec<Vec<u32>>,
    centres: Vec<[f64; DIM]>,
}

const NONE: u32 = u32::MAX;

impl Aggregates {
    /// The graph of the aggregates: neighbours have points that are neighbours in `graph`.
    pub(super) fn graph(&self, graph: &impl Graph) -> BlockPattern {
        let row = |(own, members): (usize, &Vec<u32>)| {
            let mut row = vec![own as u32];
            for &point in members {
                graph.each_neighbour(point as usize, &mut |other| {
                    let aggregate = self.of[other as usize];
                    if row.last() != Some(&aggregate) {
                        row.push(aggregate);
                    }
                });
            }
            row.sort_unstable();
            row.dedup();
            row
        };
        BlockPattern::new(self.members.par_iter().enumerate().map(row).collect())
    }

    /// Number of aggregates.
    #[allow(clippy::len_without_is_empty)] // no mesh is without nodes
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// Aggregate of every point.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// Position of every point less that of its aggregate's centre.
    pub fn offsets(&self) -> &[[f64; DIM]] {
        &self.offsets
    }

    /// The points of every aggregate, increasing.
    pub fn members(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// Mean position of every aggregate.
    pub fn centres(&self) -> &[[f64; DIM]] {
        &self.centres
    }

    /// The standard greedy pass over points at `positions`, in the order of [`roots`]: a point all of whose neighbours are free
    /// starts an aggregate with them; what is left joins the neighbouring aggregate that it touches
    /// most.
    pub(super) fn greedy(positions: &[[f64; DIM]], graph: &impl Graph) -> Self {
        let n = positions.len();
        let mut of = vec![NONE; n];
        let mut count = 0;
        for node in roots(n, graph) {
            let mut is_free = of[node] == NONE;
            if is_free {
                graph.each_neighbour(node, &mut |other| is_free &= of[other as usize] == NONE);
            }
            if is_free {
                of[node] = count;
                graph.each_neighbour(node, &mut |other| of[other as usize] = count);
                count += 1;
            }
        }
        let rooted = of.clone();
        for node in (0..n).filter(|&node| rooted[node] == NONE) {
            let mut touched: Vec<(u32, u32)> = Vec::new();
            graph.each_neighbour(node, &mut |other| {
                let aggregate = rooted[other as usize];
                match touched.iter_mut().find(|(a, _)| *a == aggregate) {
                    Some((_, times)) => *times += 1,
                    None if aggregate != NONE => touched.push((aggregate, 1)),
                    None => {}
                }
            });
            // A point that touches none starts one of its own.
            of[node] = touched.iter().max_by_key(|(_, times)| *times).map_or(count, |t| t.0);
            count = count.max(of[node] + 1);
        }
        Self::gather(of, count as usize, positions)
    }

    /// Members, centres and offsets of `count` aggregates.
    fn gather(of: Vec<u32>, count: usize, positions: &[[f64; DIM]]) -> Self {
        let mut members = vec![Vec::new(); count];
        for (point, &aggregate) in of.iter().enumerate() {
            members[aggregate as usize].push(point as u32);
        }
        let centre = |points: &Vec<u32>| -> [f64; DIM] {
            let sum = |i| points.iter().map(|&point| positions[point as usize][i]).sum::<f64>();
            std::array::from_fn(|i| sum(i) / points.len() as f64)
        };
        let centres: Vec<_> = members.iter().map(centre).collect();
        let offset =
            |(x, &aggregate): (&[f64; DIM], &u32)| difference(*x, centres[aggregate as usize]);
        let offsets = positions.iter().zip(&of).map(offset).collect();
        Self { of, offsets, members, centres }
    }
}

/// Points and their neighbours.
pub(super) trait Graph: Sync {
    /// Calls `visit` with the neighbours of a point, itself perhaps among them, some several times.
    fn each_neighbour(&self, point: usize, visit: &mut dyn FnMut(u32));
}

impl Graph for BlockPattern {
    fn each_neighbour(&self, point: usize, visit: &mut dyn FnMut(u32)) {
        self.row(point).iter().for_each(|&column| visit(column));
    }
}

/// Nodes that share an element. Empty elements hold nothing together but the nodes that have no
/// others: parts beside a gap move apart as if nothing were between them.
pub(super) struct NodeGraph<'a> {
    problem: &'a Problem,
    adjacency: &'a NodeToElements,
    /// \[n_elements\].
    is_void: Vec<bool>,
}

impl<'a> NodeGraph<'a> {
    pub fn new(problem: &'a Problem, adjacency: &'a NodeToElements) -> Self {
        let mut is_void = vec![false; problem.mesh().n_elements()];
        problem.void().iter().for_each(|&e| is_void[e as usize] = true);
        Self { problem, adjacency, is_void }
    }

    /// Whether all elements of a node are empty.
    fn is_empty(&self, node: usize) -> bool {
        self.adjacency.elements_of(node).iter().all(|&e| self.is_void[e as usize])
    }
}

impl Graph for NodeGraph<'_> {
    fn each_neighbour(&self, node: usize, visit: &mut dyn FnMut(u32)) {
        let hex = |e: u32| self.problem.mesh().hexes()[e as usize].into_iter();
        let elements = self.adjacency.elements_of(node).iter().copied();
        if self.is_empty(node) {
            elements.flat_map(hex).filter(|&n| self.is_empty(n as usize)).for_each(visit);
        } else {
            elements.filter(|&e| !self.is_void[e as usize]).flat_map(hex).for_each(visit);
        }
    }
}

/// All points in the order in which they may start aggregates: breadth first, so that each begins
/// beside the last ones; those inside before those with few neighbours, so that aggregates are full.
fn roots(n: usize, graph: &impl Graph) -> Vec<usize> {
    let mut neighbours = vec![0u32; n];
    let mut order: Vec<usize> = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    for seed in 0..n {
        if std::mem::replace(&mut seen[seed], true) {
            continue;
        }
        let mut next = order.len();
        order.push(seed);
        while let Some(&point) = order.get(next) {
            graph.each_neighbour(point, &mut |other| {
                neighbours[point] += 1;
                if !std::mem::replace(&mut seen[other as usize], true) {
                    order.push(other as usize);
                }
            });
            next += 1;
        }
    }
    let mut sorted = neighbours.clone();
    sorted.sort_unstable();
    let inside = sorted.get(n * 3 / 4).copied().unwrap_or(0);
    // As on a face, an edge, a corner of a box
    let exposure = |point: usize| (0..3).filter(|k| neighbours[point] << k < inside).count();
    order.sort_by_key(|&point| exposure(point));
    order
}
