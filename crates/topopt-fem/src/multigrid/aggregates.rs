//! Groups of neighbouring nodes, by the graph alone.

use topopt_linalg::BlockPattern;
use topopt_mesh::NodeToElements;

use crate::{DIM, Problem};

/// Every node in one aggregate.
#[derive(Debug, Clone)]
pub(super) struct Aggregates {
    /// Aggregate of every node.
    pub of: Vec<u32>,
    /// Mean position of every aggregate.
    pub centres: Vec<[f64; DIM]>,
}

const NONE: u32 = u32::MAX;

impl Aggregates {
    /// Aggregates of the nodes of a mesh; neighbours share an element.
    pub fn of_nodes(problem: &Problem) -> Self {
        let mesh = problem.mesh();
        let adjacency = NodeToElements::new(mesh);
        let each = |node: usize, visit: &mut dyn FnMut(u32)| {
            for &e in adjacency.elements_of(node) {
                mesh.hexes()[e as usize].iter().for_each(|&n| visit(n));
            }
        };
        Self::greedy(mesh.coordinates(), each)
    }

    /// Aggregates of the rows of a matrix at `positions`; neighbours share a block.
    pub fn of_graph(pattern: &BlockPattern, positions: &[[f64; DIM]]) -> Self {
        let each = |row: usize, visit: &mut dyn FnMut(u32)| {
            pattern.row(row).iter().for_each(|&column| visit(column));
        };
        Self::greedy(positions, each)
    }

    /// The standard greedy pass: a node all of whose neighbours are free starts an aggregate with
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
            // A node that touches none starts one of its own.
            of[node] = touched.iter().max_by_key(|(_, times)| *times).map_or(count, |t| t.0);
            count = count.max(of[node] + 1);
        }
        Self { centres: centres(&of, count as usize, positions), of }
    }
}

fn centres(of: &[u32], count: usize, positions: &[[f64; DIM]]) -> Vec<[f64; DIM]> {
    let mut sums = vec![[0.0; DIM]; count];
    let mut sizes = vec![0.0; count];
    for (&aggregate, x) in of.iter().zip(positions) {
        sizes[aggregate as usize] += 1.0;
        for i in 0..DIM {
            sums[aggregate as usize][i] += x[i];
        }
    }
    sums.iter().zip(sizes).map(|(sum, size): (&[f64; DIM], f64)| sum.map(|s| s / size)).collect()
}
