//! Weighted sums of entries, found by lists of their numbers, from one space to another.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Backend, BackendError, Cascade, Levels, Space};

/// Products with rectangular sparse matrices between spaces.
pub trait Gather: Backend {
    /// A sparse matrix on the backend, with room for what crosses between ranks.
    type Map: Send + Sync;

    /// Builds the map from the first space to the second by `rows`, a row per entry of the second;
    /// entries are numbered as on the host, `[points][unknowns]`. Of several ranks, the rows of the
    /// first one.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room, or another rank has failed.
    ///
    /// # Panics
    /// On ranks, if a space has several unknowns per point, or its points are not shared in their
    /// order, as elements and variables are.
    fn map(&self, rows: &Csr, spaces: [Space; 2]) -> Result<Self::Map, BackendError>;

    /// y_i = sum_k A_ik x_k, in the order of the row.
    fn gather(&self, map: &mut Self::Map, x: &Self::Vector, y: &mut Self::Vector);

    /// Builds `levels` here; none where the host computes them.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn cascade(&self, _levels: &Levels) -> Result<Option<Box<dyn Cascade<Self>>>, BackendError>
    where
        Self: Sized,
    {
        Ok(None)
    }

    /// Builds here the flood over points with these `neighbors`, `u32::MAX` behind free faces: p = x
    /// at a point with such a face, elsewhere max(x, min_j p_j) over the neighbors j, by the least
    /// ways; none where the host computes it.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn flood(&self, _neighbors: &[[u32; 6]]) -> Result<Option<Box<dyn Cascade<Self>>>, BackendError>
    where
        Self: Sized,
    {
        Ok(None)
    }
}

/// Sparse matrix in compressed rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Csr {
    /// First entry of each row, and the end of the last, `[n_rows + 1]`.
    pub starts: Vec<usize>,
    /// Column of every entry.
    pub columns: Vec<u32>,
    /// Value of every entry.
    pub values: Vec<f64>,
}

impl Csr {
    /// Bytes of a row of one entry.
    pub const ROW: usize = size_of::<usize>() + 12;

    /// Builds the matrix whose rows have a single entry, 1 in the given column.
    pub fn selection(columns: Vec<u32>) -> Self {
        let n = columns.len();
        let starts = (0..n + 1).into_par_iter().collect();
        Self { starts, columns, values: vec![1.0; n] }
    }

    /// Builds a matrix without rows, for ranks without values.
    pub fn empty() -> Self {
        Self { starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Bytes of its lists.
    pub fn bytes(&self) -> usize {
        size_of::<usize>() * self.starts.len() + 12 * self.columns.len()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Yields columns and values of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + Clone + '_ {
        let row = self.starts[i]..self.starts[i + 1];
        self.columns[row.clone()].iter().copied().zip(self.values[row].iter().copied())
    }

    /// Returns some of the rows.
    #[must_use]
    pub fn some_rows(&self, rows: Range<usize>) -> Self {
        let (first, end) = (self.starts[rows.start], self.starts[rows.end]);
        Self {
            starts: self.starts[rows.start..=rows.end].iter().map(|start| start - first).collect(),
            columns: self.columns[first..end].to_vec(),
            values: self.values[first..end].to_vec(),
        }
    }

    /// Returns the transpose of a matrix of `n_columns` columns. Its columns increase in each row,
    /// so that products with it sum in one order whoever computes them.
    #[must_use]
    pub fn transposed(&self, n_columns: usize) -> Self {
        let mut starts = vec![0; n_columns + 1];
        self.columns.iter().for_each(|&column| starts[column as usize + 1] += 1);
        (0..n_columns).for_each(|column| starts[column + 1] += starts[column]);

        let n = self.columns.len();
        let mut transposed = Self { starts, columns: vec![0; n], values: vec![0.0; n] };
        let Self { starts, columns, values } = &mut transposed;
        let share = n_columns.div_ceil(rayon::current_num_threads()).max(1);
        let ends: Vec<usize> = (share..n_columns).step_by(share).chain([n_columns]).collect();
        let (mut parts, mut first, mut rest) = (Vec::new(), 0, (&mut columns[..], &mut values[..]));
        for end in ends {
            let (columns, others) = rest.0.split_at_mut(starts[end] - starts[first]);
            let (values, other_values) = rest.1.split_at_mut(columns.len());
            parts.push((first..end, columns, values));
            (first, rest) = (end, (others, other_values));
        }
        // Every thread reads all rows, and writes those of its own columns.
        parts.into_par_iter().for_each(|(own, columns, values)| {
            self.transpose_into(&starts[own.start..own.end], own.start, (columns, values));
        });
        transposed
    }

    /// Writes the entries of the columns from `first` on, as many as `starts`, to rows of a
    /// transpose that begin there.
    fn transpose_into(
        &self,
        starts: &[usize],
        first: usize,
        (columns, values): (&mut [u32], &mut [f64]),
    ) {
        let begin = starts.first().copied().unwrap_or(0);
        let mut next: Vec<usize> = starts.iter().map(|start| start - begin).collect();
        for i in 0..self.n_rows() {
            for (column, value) in self.row(i) {
                if let Some(place) = next.get_mut((column as usize).wrapping_sub(first)) {
                    (columns[*place], values[*place]) = (i as u32, value);
                    *place += 1;
                }
            }
        }
    }

    /// y = A x on the CPU.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        let value = |i: usize| -> f64 { self.row(i).map(|(k, a)| a * x[k as usize]).sum() };
        y.par_iter_mut().with_min_len(64).enumerate().for_each(|(i, y)| *y = value(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transpose_has_the_same_scalar_products() {
        let rows = Csr {
            starts: vec![0, 2, 2, 5],
            columns: vec![3, 0, 1, 3, 4],
            values: vec![0.5, -1.0, 2.0, 0.25, 3.0],
        };
        let transpose = rows.transposed(5);
        assert_eq!(transpose.starts, [0, 1, 2, 2, 4, 5]);
        assert_eq!(transpose.columns, [0, 2, 0, 2, 2]);
        assert_eq!(transpose.some_rows(1..4).starts, [0, 1, 1, 3]);

        let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], [7.0, -3.0, 0.5]);
        let (mut ax, mut aty) = ([0.0; 3], [0.0; 5]);
        rows.apply(&x, &mut ax);
        transpose.apply(&y, &mut aty);
        assert_eq!(ax, [1.0, 0.0, 20.0]);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert_eq!(dot(&ax, &y), dot(&x, &aty));
    }
}
