//! The cone-weighted sum over neighbors that filters are made of, on the CPU.

use std::ops::Range;

use rayon::prelude::*;
use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{Cost, Cpu, Csr, LinearOperator, Space};
use topopt_mesh::CellList;

use crate::cone_walk;

/// Bytes of a stored neighbor: its number and its weight.
const BYTES_PER_NEIGHBOR: usize = 4 + 8;

/// Most bytes per element that lists take. Longer ones are more than the rest of the loop needs,
/// and a walk, whose rows of cells are then long, takes little more time than reading them.
const BYTES_PER_ELEMENT: f64 = 300.0;

/// Elements whose neighbors are counted for an estimate.
const SAMPLE: usize = 2000;

/// y_e = sum_i H_ei x_i with H_ei = max(0, R - |c_e - c_i|) [Ratnakar2022, Eq. 2.6-2.7].
///
/// Neighbors are stored where they are few and within a memory budget, else found again in every
/// application, in the same order and to the same bits.
#[derive(Debug)]
pub struct Cone {
    radius: f64,
    cells: CellList,
    lists: Option<Csr>,
    mean_neighbors: f64,
}

/// How a [`Cone`] finds neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighborStorage {
    /// Neighbors stored in lists.
    Stored,
    /// Search through the cells in every application.
    Walked,
}

impl Cone {
    /// The filter for element centers, `[n_elements][3]`, and radius R > 0 (length); neighbor
    /// lists take at most `budget` bytes.
    pub fn new(centers: Vec<[f64; 3]>, radius: f64, budget: usize) -> Self {
        let rows = 0..centers.len();
        Self::of_rows(centers, rows, radius, budget)
    }

    /// Builds a cone with the sums of the elements `rows` alone; those of others are not to be
    /// used.
    pub fn of_rows(centers: Vec<[f64; 3]>, rows: Range<usize>, radius: f64, budget: usize) -> Self {
        let most = Self::most_list_bytes(rows.len(), budget);
        Self::within(&centers, rows, radius, most)
    }

    /// Bytes that it takes for such centers, by the neighbors of a sample.
    pub fn bytes(centers: &[[f64; 3]], radius: f64, budget: usize) -> usize {
        let n_elements = centers.len();
        let mean_neighbors = mean_neighbors(&CellList::new(centers, radius), centers);
        // Of an element its center, number and cells, and two values while a sum is walked.
        let walk = (24 + 4 + 8 + 16) * n_elements;
        let lists = BYTES_PER_NEIGHBOR as f64 * mean_neighbors * n_elements as f64;
        if lists <= Self::most_list_bytes(n_elements, budget) {
            walk + lists as usize
        } else {
            walk
        }
    }

    /// Most bytes of the neighbor lists of `n_elements` within `budget`.
    fn most_list_bytes(n_elements: usize, budget: usize) -> f64 {
        f64::min(budget as f64, BYTES_PER_ELEMENT * n_elements as f64)
    }

    /// The filter of the elements `rows`, with lists of at most `most` bytes.
    fn within(centers: &[[f64; 3]], rows: Range<usize>, radius: f64, most: f64) -> Self {
        let cells = CellList::new(centers, radius);
        // A sample decides whether counting all neighbors pays.
        let own = &centers[rows.clone()];
        let mean_neighbors = mean_neighbors(&cells, own);

        let bytes = |neighbors: f64| neighbors * BYTES_PER_NEIGHBOR as f64;
        let mut lists = None;
        if bytes(mean_neighbors * own.len() as f64) <= most {
            let mut counts = vec![0; centers.len()];
            let counted = counts[rows].par_iter_mut().zip(own);
            counted.for_each(|(n, center)| *n = count(&cells, center));
            let fits = bytes(counts.iter().sum::<usize>() as f64) <= most;
            lists = fits.then(|| neighbor_lists(centers, radius, &cells, &counts));
        }
        Self { radius, cells, lists, mean_neighbors }
    }

    /// Whether there are lists.
    pub fn storage(&self) -> NeighborStorage {
        if self.lists.is_some() { NeighborStorage::Stored } else { NeighborStorage::Walked }
    }

    /// Neighbors of an element on average, itself included, estimated from a sample.
    pub fn mean_neighbors(&self) -> f64 {
        self.mean_neighbors
    }
}

/// Neighbors of an element of `centers` on average, itself included, of a sample.
fn mean_neighbors(cells: &CellList, centers: &[[f64; 3]]) -> f64 {
    let every = centers.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<usize> = centers.iter().step_by(every).map(|c| count(cells, c)).collect();
    sample.iter().sum::<usize>() as f64 / sample.len().max(1) as f64
}

fn count(cells: &CellList, center: &[f64; 3]) -> usize {
    let mut n = 0;
    cells.for_each_within(*center, |_, _| n += 1);
    n
}

impl Averaging<Cpu> for Cone {
    fn space(&self) -> Space {
        LinearOperator::space(self)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) -> Result<(), AveragingError> {
        LinearOperator::apply(self, x, y);
        Ok(())
    }
}

impl LinearOperator<Cpu> for Cone {
    fn space(&self) -> Space {
        Space::elements(self.cells.ids().len())
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let Some(lists) = &self.lists else {
            return cone_walk::apply(&self.cells, self.radius, x, y);
        };
        lists.apply(x, y);
    }

    fn cost(&self) -> Cost {
        let n = self.dimension() as f64;
        let pairs = self.mean_neighbors * n;
        let per_pair = if self.lists.is_some() { BYTES_PER_NEIGHBOR as f64 } else { 0.0 };
        Cost { bytes_read: per_pair * pairs + 16.0 * n, bytes_written: 8.0 * n, flops: 2.0 * pairs }
    }
}

/// Returns neighbors and weights of all elements.
fn neighbor_lists(centers: &[[f64; 3]], radius: f64, cells: &CellList, counts: &[usize]) -> Csr {
    let mut offsets = vec![0];
    offsets.extend(counts.iter().scan(0, |end, n| {
        *end += n;
        Some(*end)
    }));

    let total = offsets[counts.len()];
    let (mut neighbors, mut weights) = (vec![0; total], vec![0.0; total]);
    let mut rows = Vec::with_capacity(counts.len());

    // A slice per row, so that threads fill the rows side by side.
    let (mut ids, mut values) = (neighbors.as_mut_slice(), weights.as_mut_slice());
    for &n in counts {
        let (row_ids, rest_ids) = ids.split_at_mut(n);
        let (row_values, rest_values) = values.split_at_mut(n);
        rows.push((row_ids, row_values));
        (ids, values) = (rest_ids, rest_values);
    }

    let with_center = rows.into_par_iter().zip(centers);
    with_center.filter(|((ids, _), _)| !ids.is_empty()).for_each(|((ids, weights), center)| {
        let mut k = 0;
        cells.for_each_within(*center, |i, d| {
            (ids[k], weights[k]) = (i, radius - d);
            k += 1;
        });
    });
    Csr { starts: offsets, columns: neighbors, values: weights }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_and_walked_neighbors_give_the_same_bits() {
        let centers: Vec<[f64; 3]> = (0..400)
            .map(|i| [(i % 10) as f64, (i / 10 % 8) as f64 * 1.1, (i / 80) as f64 * 0.7])
            .collect();
        let x: Vec<f64> = (0..400).map(|i| (i as f64).sin()).collect();

        let kinds = [(f64::MAX, NeighborStorage::Stored), (0.0, NeighborStorage::Walked)];
        let [stored, walked] = kinds.map(|(most, storage)| {
            let cone = Cone::within(&centers, 0..400, 2.3, most);
            assert_eq!(cone.storage(), storage);
            let mut y = vec![0.0; 400];
            LinearOperator::apply(&cone, &x, &mut y);
            y
        });
        assert_eq!(stored, walked);

        for (e, found) in stored.iter().enumerate() {
            let weight = |i: usize| {
                let d: f64 = (0..3).map(|k| (centers[e][k] - centers[i][k]).powi(2)).sum();
                (2.3 - d.sqrt()).max(0.0)
            };
            let expected: f64 = (0..400).map(|i| weight(i) * x[i]).sum();
            assert!((found - expected).abs() < 1e-12);
        }
    }
}
