//! Groups of neighbouring nodes, by the graph alone.

use topopt_linalg::BlockPattern;
use topopt_mesh::{HexMesh, NodeToElements};

use super::difference;
use crate::DIM;

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
    /// Aggregates of the nodes of a mesh; neighbours share an element.
    pub(super) fn of_nodes(mesh: &HexMesh, adjacency: &NodeToElements) -> Self {
        let each = |node: usize, visit: &mut dyn FnMut(u32)| {
            for &e in adjacency.elements_of(node) {
                mesh.hexes()[e as usize].iter().for_each(|&n| visit(n));
            }
        };
        Self::greedy(mesh.coordinates(), each)
    }

    /// Aggregates of the rows of a matrix at `positions`; neighbours share a block.
    pub(super) fn of_graph(pattern: &BlockPattern, positions: &[[f64; DIM]]) -> Self {
        let each = |row: usize, visit: &mut dyn FnMut(u32)| {
            pattern.row(row).iter().for_each(|&column| visit(column));
        };
        Self::greedy(positions, each)
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

    /// The standard greedy pass: a point all of whose neighbours are free starts an aggregate with
    /// them; what is left joins the neighbouring aggregate that it touches most.
    fn greedy(
        positions: &[[f64; DIM]],
        each_neighbour: impl Fn(usize, &mut dyn FnMut(u32)),
    ) -> Self {
        let n = positions.len();
        let mut of = vec![NONE; n];
        let mut count = 0;
        for node in 0..n {
            let mut is_free = of[node] == NONE;
            if is_free {
                each_neighbour(node, &mut |other| is_free &= of[other as usize] == NONE);
            }
            if is_free {
                of[node] = count;
                each_neighbour(node, &mut |other| of[other as usize] = count);
                count += 1;
            }
        }
        let rooted = of.clone();
        for node in (0..n).filter(|&node| rooted[node] == NONE) {
            let mut touched: Vec<(u32, u32)> = Vec::new();
            each_neighbour(node, &mut |other| {
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
