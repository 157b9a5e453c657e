//! Films on faces: what couples the nodes of a face with each other where heat flows to an ambient.
//!
//! The film H_ab = integral of h N_a N_b over faces is the diagonal of its row sums, which are
//! springs, and a matrix C without row sums, (C u)_a = sum_b H_ab (u_b - u_a). So a constant flows
//! alike with and without C.
//!
//! On quadrilaterals H_ab is positive, and H at most the diagonal of its row sums in every
//! direction: preconditioners keep that alone. Triangles of six nodes have row sums of zero at
//! their vertices and couplings of either sign; there preconditioners have the diagonal of C, where
//! it is positive, as well.

use rayon::prelude::*;
use serde::Serialize;
use topopt_linalg::Cost;

/// H_ab of two nodes a and b, summed over faces.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coupling {
    /// Two different nodes.
    pub nodes: [u32; 2],
    /// H_ab.
    pub weight: f64,
}

/// Adds C u of `couplings` to `flows`, held nodes as all others; one unknown per node.
pub fn add_film_flows(couplings: &[Coupling], u: &[f64], flows: &mut [f64]) {
    for Coupling { nodes, weight } in couplings {
        let [a, b] = nodes.map(|node| node as usize);
        let flow = weight * (u[b] - u[a]);
        flows[a] += flow;
        flows[b] -= flow;
    }
}

/// C in compressed rows, without rows and columns of held nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FilmRows {
    /// The node of each row, increasing.
    pub nodes: Vec<u32>,
    /// Begin of each row in columns and weights, and the end of the last.
    pub offsets: Vec<u32>,
    /// The other nodes of each row, in the order of the couplings.
    pub columns: Vec<u32>,
    /// H_ab of these.
    pub weights: Vec<f64>,
    /// The sum of H_ab over held nodes b, by row.
    pub held: Vec<f64>,
}

/// A row of C without rows and columns of held nodes.
pub(crate) struct FilmRow<'a> {
    /// Entry of the node on the diagonal.
    pub diagonal: f64,
    /// The other nodes and entries.
    pub others: Vec<(&'a u32, &'a f64)>,
}

impl FilmRows {
    /// The rows of `couplings`, without those of nodes that `is_held` names.
    pub(crate) fn new(couplings: &[Coupling], is_held: impl Fn(u32) -> bool) -> Self {
        let both = |coupling: &Coupling| {
            let Coupling { nodes: [a, b], weight } = *coupling;
            [(a, b, weight), (b, a, weight)]
        };
        let mut entries: Vec<(u32, u32, f64)> = couplings.par_iter().flat_map_iter(both).collect();
        entries.retain(|(row, _, _)| !is_held(*row));
        // Stable, so that the part of a rank adds in the order of the whole.
        entries.par_sort_by_key(|(row, ..)| *row);

        let mut rows = Self { offsets: vec![0], ..Self::default() };
        for of_row in entries.chunk_by(|a, b| a.0 == b.0) {
            let mut held = 0.0;
            for &(_, column, weight) in of_row {
                if is_held(column) {
                    held += weight;
                    continue;
                }
                rows.columns.push(column);
                rows.weights.push(weight);
            }
            rows.nodes.push(of_row[0].0);
            rows.offsets.push(rows.columns.len() as u32);
            rows.held.push(held);
        }
        rows
    }

    /// Returns the row of a free node on a film.
    pub(crate) fn row(&self, node: u32) -> Option<FilmRow<'_>> {
        Some(self.at(self.nodes.binary_search(&node).ok()?))
    }

    fn at(&self, row: usize) -> FilmRow<'_> {
        let entries = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        let weights = &self.weights[entries.clone()];
        let diagonal = -weights.iter().sum::<f64>() - self.held[row];
        FilmRow { diagonal, others: self.columns[entries].iter().zip(weights).collect() }
    }

    /// Calls `add(node, entry)` for entries on the diagonal of C that are positive.
    pub(crate) fn each_positive(&self, mut add: impl FnMut(usize, f64)) {
        for (row, &node) in self.nodes.iter().enumerate() {
            let diagonal = self.at(row).diagonal;
            if diagonal > 0.0 {
                add(node as usize, diagonal);
            }
        }
    }

    /// Most bytes for `n_couplings`.
    pub fn bytes(n_couplings: usize) -> usize {
        // Two entries of 12 bytes a coupling, and a row of 16 for two couplings at least.
        (2 * 12 + 16) * n_couplings + 4
    }

    /// Adds C u to `y`, `[n_nodes]` both.
    pub(crate) fn add(&self, u: &[f64], y: &mut [f64]) {
        y.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, y)| {
            let first = chunk * CHUNK;
            let row_of = |node: usize| self.nodes.partition_point(|&row| (row as usize) < node);
            for row in row_of(first)..row_of(first + CHUNK) {
                let node = self.nodes[row] as usize;
                y[node - first] += self.product(row, u[node], u);
            }
        });
    }

    /// A row times `u`, which is `own` at its node.
    fn product(&self, row: usize, own: f64, u: &[f64]) -> f64 {
        let entries = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        let columns = self.columns[entries.clone()].iter().zip(&self.weights[entries]);
        let flows = columns.map(|(&column, weight)| weight * (u[column as usize] - own));
        flows.sum::<f64>() - self.held[row] * own
    }

    /// Returns the cost of one product with C, in numbers of `real` bytes.
    pub fn cost(&self, real: f64) -> Cost {
        let (rows, entries) = (self.nodes.len() as f64, self.columns.len() as f64);
        Cost {
            bytes_read: entries * (4.0 + 2.0 * real) + rows * (8.0 + 3.0 * real),
            bytes_written: rows * real,
            flops: 3.0 * entries + 3.0 * rows,
        }
    }
}

/// Nodes that a thread takes at a time.
const CHUNK: usize = 4096;
