//! Matrices of dense N x N blocks on the CPU: compressed rows, and a dense factor.

use std::ops::Range;

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;

use crate::{Cost, Cpu, LinearOperator, Space};

/// Positions of the blocks of a sparse matrix: compressed rows, columns increasing.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockPattern {
    offsets: Vec<usize>,
    columns: Vec<u32>,
}

impl BlockPattern {
    /// From the columns of every row, which are sorted and made unique.
    pub fn new(mut rows: Vec<Vec<u32>>) -> Self {
        rows.par_iter_mut().for_each(|row| {
            row.sort_unstable();
            row.dedup();
        });
        let mut offsets = vec![0];
        let mut columns = Vec::with_capacity(rows.iter().map(Vec::len).sum());
        for row in rows {
            columns.extend(row);
            offsets.push(columns.len());
        }
        Self { offsets, columns }
    }

    /// Number of block rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.columns.len()
    }

    /// Offset of each row in the blocks, `[n_rows + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Columns of all blocks, row by row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Columns of a row, increasing.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.offsets[row]..self.offsets[row + 1]]
    }
}

/// A square matrix of N x N blocks; vectors are `[row][N]`.
#[derive(Debug, Clone)]
pub struct BlockCsr<const N: usize> {
    pattern: BlockPattern,
    blocks: Vec<[[f64; N]; N]>,
}

impl<const N: usize> BlockCsr<N> {
    /// A matrix of zeros.
    pub fn zeros(pattern: BlockPattern) -> Self {
        let blocks = vec![[[0.0; N]; N]; pattern.n_blocks()];
        Self { pattern, blocks }
    }

    /// The pattern.
    pub fn pattern(&self) -> &BlockPattern {
        &self.pattern
    }

    /// The blocks of a row, in the order of its columns.
    pub fn row(&self, row: usize) -> &[[[f64; N]; N]] {
        &self.blocks[self.pattern.offsets[row]..self.pattern.offsets[row + 1]]
    }

    /// All blocks, row by row.
    pub fn blocks_mut(&mut self) -> &mut [[[f64; N]; N]] {
        &mut self.blocks
    }

    /// Recomputes the matrix: `fill(row, columns, blocks)` adds to the blocks of a row, which stand
    /// in the order of its columns and start at zero.
    pub fn fill_rows(&mut self, fill: impl Fn(usize, &[u32], &mut [[[f64; N]; N]]) + Sync) {
        self.fill_groups(1, |rows, pattern, blocks| {
            fill(rows.start, pattern.row(rows.start), blocks);
        });
    }

    /// Recomputes the matrix by groups of `size` > 0 rows: `fill(rows, pattern, blocks)` adds to
    /// the blocks of those rows, which stand one row after the other and start at zero.
    pub fn fill_groups(
        &mut self,
        size: usize,
        fill: impl Fn(Range<usize>, &BlockPattern, &mut [[[f64; N]; N]]) + Sync,
    ) {
        let pattern = &self.pattern;
        let n_rows = pattern.n_rows();
        let mut groups = Vec::with_capacity(n_rows.div_ceil(size));
        let mut rest = self.blocks.as_mut_slice();
        for start in (0..n_rows).step_by(size) {
            let rows = start..n_rows.min(start + size);
            let n_blocks = pattern.offsets[rows.end] - pattern.offsets[rows.start];
            let (mine, others) = rest.split_at_mut(n_blocks);
            groups.push((rows, mine));
            rest = others;
        }
        groups.into_par_iter().for_each(|(rows, blocks)| {
            blocks.fill([[0.0; N]; N]);
            fill(rows, pattern, blocks);
        });
    }

    /// All blocks, row by row.
    pub(crate) fn blocks(&self) -> &[[[f64; N]; N]] {
        &self.blocks
    }

    /// Adds a diagonal matrix, `[n_rows][N]`, to a matrix that has its diagonal blocks.
    pub fn add_diagonal(&mut self, diagonal: &[[f64; N]]) {
        let Self { pattern, blocks } = self;
        for (row, added) in diagonal.iter().enumerate() {
            let Ok(place) = pattern.row(row).binary_search(&(row as u32)) else { continue };
            let block = &mut blocks[pattern.offsets[row] + place];
            (0..N).for_each(|i| block[i][i] += added[i]);
        }
    }

    /// The diagonal block of a row, zero if there is none.
    pub fn diagonal_block(&self, row: usize) -> [[f64; N]; N] {
        let place = self.pattern.row(row).binary_search(&(row as u32));
        place.map_or([[0.0; N]; N], |place| self.row(row)[place])
    }

    /// y = A x in some rows; the others stay as they are.
    pub fn apply_rows(&self, rows: Range<usize>, x: &[f64], y: &mut [f64]) {
        let x = x.as_chunks::<N>().0;
        let y = y.as_chunks_mut::<N>().0[rows.clone()].par_iter_mut();
        let rows = rows.into_par_iter().zip(y).with_min_len(64);
        rows.for_each(|(row, y)| *y = self.row_product(row, x));
    }

    #[inline]
    fn row_product(&self, row: usize, x: &[[f64; N]]) -> [f64; N] {
        let mut sum = [0.0; N];
        for (&column, block) in self.pattern.row(row).iter().zip(self.row(row)) {
            let x = &x[column as usize];
            for i in 0..N {
                for j in 0..N {
                    sum[i] += block[i][j] * x[j];
                }
            }
        }
        sum
    }

    /// The matrix as a dense one.
    pub fn to_dense(&self) -> DMatrix<f64> {
        let n = N * self.pattern.n_rows();
        let mut dense = DMatrix::zeros(n, n);
        for row in 0..self.pattern.n_rows() {
            for (&column, block) in self.pattern.row(row).iter().zip(self.row(row)) {
                for i in 0..N {
                    for j in 0..N {
                        dense[(N * row + i, N * column as usize + j)] = block[i][j];
                    }
                }
            }
        }
        dense
    }
}

impl<const N: usize> LinearOperator<Cpu> for BlockCsr<N> {
    fn space(&self) -> Space {
        Space::level(self.pattern.n_rows(), N)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.apply_rows(0..self.pattern.n_rows(), x, y);
    }

    fn cost(&self) -> Cost {
        let (blocks, n) = (self.pattern.n_blocks() as f64, self.dimension() as f64);
        let size = (N * N) as f64;
        Cost {
            bytes_read: blocks * (8.0 * size + 4.0) + 8.0 * n,
            bytes_written: 8.0 * n,
            flops: 2.0 * size * blocks,
        }
    }
}

/// The Cholesky factor of a small dense matrix.
#[derive(Debug, Clone)]
pub struct DenseCholesky {
    scale: DVector<f64>,
    factor: Option<Cholesky<f64, Dyn>>,
}

impl DenseCholesky {
    /// Factors a symmetric positive semi-definite matrix, scaled to a unit diagonal and shifted by
    /// 1e-12 so that directions which it maps to nothing do no harm.
    pub fn new(matrix: &DMatrix<f64>) -> Self {
        let scale = matrix.diagonal().map(|d| if d > 0.0 { d.sqrt().recip() } else { 1.0 });
        let n = matrix.nrows();
        let scaled = DMatrix::from_fn(n, n, |i, j| {
            let shift = if i == j { 1e-12 + f64::from(matrix[(i, i)] <= 0.0) } else { 0.0 };
            0.5 * (matrix[(i, j)] + matrix[(j, i)]) * scale[i] * scale[j] + shift
        });
        Self { scale, factor: Cholesky::new(scaled) }
    }

    /// x = A^-1 b; the scaled b itself if the matrix had no factor.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        let mut solution = DVector::from_column_slice(b).component_mul(&self.scale);
        if let Some(factor) = &self.factor {
            factor.solve_mut(&mut solution);
        }
        x.copy_from_slice(solution.component_mul(&self.scale).as_slice());
    }
}
