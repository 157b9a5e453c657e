//! Matrices of dense N x N blocks on the CPU: compressed rows, block diagonals, a dense factor.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;

use crate::{Cost, Cpu, Growth, InverseDiagonal, LinearOperator, Residual};

/// Where the blocks of a matrix stand: compressed rows, columns increasing.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockPattern {
    offsets: Vec<usize>,
    columns: Vec<u32>,
}

impl BlockPattern {
    /// From the columns of every row, which are sorted and made unique.
    pub fn new(rows: Vec<Vec<u32>>) -> Self {
        let mut offsets = vec![0];
        let mut columns = Vec::new();
        for mut row in rows {
            row.sort_unstable();
            row.dedup();
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

    /// Where each row begins among the blocks, and the end of the last, \[n_rows + 1\].
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

/// A square matrix of N x N blocks; vectors are \[row\]\[N\].
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

    /// Recomputes the matrix: `fill(row, columns, blocks)` adds to the blocks of a row, which stand
    /// in the order of its columns and start at zero.
    pub fn fill_rows(&mut self, fill: impl Fn(usize, &[u32], &mut [[[f64; N]; N]]) + Sync) {
        let pattern = &self.pattern;
        let mut rows = Vec::with_capacity(pattern.n_rows());
        let mut rest = self.blocks.as_mut_slice();
        for row in 0..pattern.n_rows() {
            let (mine, others) = rest.split_at_mut(pattern.row(row).len());
            rows.push(mine);
            rest = others;
        }
        rows.into_par_iter().enumerate().for_each(|(row, blocks)| {
            blocks.fill([[0.0; N]; N]);
            fill(row, pattern.row(row), blocks);
        });
    }

    /// The diagonal block of a row, zero if there is none.
    pub fn diagonal_block(&self, row: usize) -> [[f64; N]; N] {
        let place = self.pattern.row(row).binary_search(&(row as u32));
        place.map_or([[0.0; N]; N], |place| self.row(row)[place])
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
    fn dimension(&self) -> usize {
        N * self.pattern.n_rows()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let x = x.as_chunks::<N>().0;
        let product = |(row, y): (usize, &mut [f64; N])| {
            let mut sum = [0.0; N];
            for (&column, block) in self.pattern.row(row).iter().zip(self.row(row)) {
                let x = &x[column as usize];
                for i in 0..N {
                    for j in 0..N {
                        sum[i] += block[i][j] * x[j];
                    }
                }
            }
            *y = sum;
        };
        y.as_chunks_mut::<N>().0.par_iter_mut().with_min_len(64).enumerate().for_each(product);
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

/// A matrix of N x N blocks on the diagonal; vectors are \[row\]\[N\].
#[derive(Debug, Clone)]
pub struct BlockDiagonal<const N: usize> {
    blocks: Vec<[[f64; N]; N]>,
}

impl<const N: usize> BlockDiagonal<N> {
    /// The pseudo-inverses of symmetric positive semi-definite blocks: directions of an eigenvalue
    /// below 1e-12 of the block's largest, which carry no stiffness, are mapped to zero.
    pub fn pseudo_inverse(n: usize, block: impl Fn(usize) -> [[f64; N]; N] + Sync) -> Self {
        Self { blocks: (0..n).into_par_iter().map(|row| pseudo_inverse(&block(row))).collect() }
    }
}

fn pseudo_inverse<const N: usize>(block: &[[f64; N]; N]) -> [[f64; N]; N] {
    // Scaled to a unit diagonal, so that translations and rotations are comparable.
    let scale: [f64; N] =
        std::array::from_fn(|i| if block[i][i] > 0.0 { block[i][i].sqrt().recip() } else { 0.0 });
    let scaled =
        DMatrix::from_fn(N, N, |i, j| 0.5 * (block[i][j] + block[j][i]) * scale[i] * scale[j]);
    let eigen = scaled.symmetric_eigen();
    let mut inverse = [[0.0; N]; N];
    for k in (0..N).filter(|&k| eigen.eigenvalues[k] > 1e-12) {
        let vector = eigen.eigenvectors.column(k);
        for i in 0..N {
            for j in 0..N {
                inverse[i][j] += scale[i] * vector[i] * vector[j] * scale[j] / eigen.eigenvalues[k];
            }
        }
    }
    inverse
}

impl<const N: usize> LinearOperator<Cpu> for BlockDiagonal<N> {
    fn dimension(&self) -> usize {
        N * self.blocks.len()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let (x, y) = (x.as_chunks::<N>().0, y.as_chunks_mut::<N>().0);
        let rows = y.par_iter_mut().zip(x).zip(&self.blocks).with_min_len(1024);
        rows.for_each(|((y, x), block)| {
            for i in 0..N {
                y[i] = (0..N).map(|j| block[i][j] * x[j]).sum();
            }
        });
    }

    fn cost(&self) -> Cost {
        let (blocks, size) = (self.blocks.len() as f64, (N * N) as f64);
        Cost {
            bytes_read: 8.0 * blocks * (size + N as f64),
            bytes_written: 8.0 * blocks * N as f64,
            flops: 2.0 * size * blocks,
        }
    }
}

impl<const N: usize> InverseDiagonal<Cpu> for BlockDiagonal<N> {
    fn smooth(
        &self,
        residual: Residual<Vec<f64>>,
        [alpha, beta]: [f64; 2],
        growth: &Growth<f64>,
        r: &mut Vec<f64>,
        d: &mut Vec<f64>,
        x: &mut Vec<f64>,
    ) {
        let from_zero = matches!(residual, Residual::OfZero { .. });
        let alpha = alpha * (growth.start / growth.result).sqrt();
        let residual_at = |row: usize, i: usize, r: f64| match residual {
            Residual::OfZero { b } => b[N * row + i],
            Residual::Of { b, ax } => b[N * row + i] - ax[N * row + i],
            Residual::After { ad } => r - ad[N * row + i],
        };
        let [r, d, x] = [r, d, x].map(|v| v.as_chunks_mut::<N>().0);
        let rows = r.par_iter_mut().zip(d).zip(x).zip(&self.blocks).enumerate().with_min_len(1024);
        rows.for_each(|(row, (((r, d), x), block))| {
            *r = std::array::from_fn(|i| residual_at(row, i, r[i]));
            for i in 0..N {
                let step = alpha * (0..N).map(|j| block[i][j] * r[j]).sum::<f64>();
                d[i] = if beta == 0.0 { step } else { step + beta * d[i] };
                x[i] = if from_zero { d[i] } else { x[i] + d[i] };
            }
        });
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
    /// 1e-12 so that directions without stiffness do no harm.
    pub fn new(matrix: &DMatrix<f64>) -> Self {
        let inverse_root = |d: f64| if d > 0.0 { d.sqrt().recip() } else { 1.0 };
        let scale = matrix.diagonal().map(inverse_root);
        let n = matrix.nrows();
        let scaled = DMatrix::from_fn(n, n, |i, j| {
            let shift =
                if i == j { 1e-12 + f64::from(u8::from(matrix[(i, i)] <= 0.0)) } else { 0.0 };
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
