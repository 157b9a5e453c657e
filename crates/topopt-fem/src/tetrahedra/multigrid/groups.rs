//! Block Jacobi over groups of points.

use std::sync::{Mutex, PoisonError};

use nalgebra::{DMatrix, Dyn, SymmetricEigen, linalg::Cholesky};
use rayon::prelude::*;
use topopt_linalg::{
    BlockCsr, Cost, Cpu, Growth, InverseDiagonal, LinearOperator, Residual, Space,
};

/// The inverses of the diagonal blocks of a matrix that belong to groups of points with B unknowns
/// each. Stored in single precision: they only smooth.
pub struct GroupInverse<const B: usize> {
    /// Points of all groups, one group after the other.
    points: Vec<u32>,
    /// End of every group in `points`.
    ends: Vec<usize>,
    /// Place of every point in `points`.
    places: Vec<u32>,
    /// Rows of the inverses, one group after the other.
    inverses: Vec<Vec<f32>>,
    /// Values by place.
    scratch: Mutex<Vec<[f64; B]>>,
}

/// Eigenvalue of a block of unit diagonal below which its direction is mapped to zero.
const LEAST: f64 = 1e-12;

impl<const B: usize> GroupInverse<B> {
    /// Groups that cover the points; without numbers until they are set.
    pub(super) fn new(groups: Vec<Vec<u32>>) -> Self {
        let points = groups.concat();
        let mut places = vec![0; points.len()];
        points.iter().zip(0..).for_each(|(&point, place)| places[point as usize] = place);
        let ends = groups.iter().scan(0, |end, group| {
            *end += group.len();
            Some(*end)
        });
        let (ends, scratch) = (ends.collect(), Mutex::new(vec![[0.0; B]; places.len()]));
        Self { points, ends, places, inverses: Vec::new(), scratch }
    }

    /// Recomputes the inverses of the blocks that `block(points)` gives, dense and symmetric,
    /// `[B points][B points]`.
    pub(super) fn set(&mut self, block: impl Fn(&[u32]) -> DMatrix<f64> + Sync) {
        let groups = (0..self.ends.len()).into_par_iter();
        self.inverses = groups.map(|group| inverse(block(self.group(group)))).collect();
    }

    /// Recomputes the inverses of the blocks of `matrix`.
    pub(super) fn set_of_matrix(&mut self, matrix: &BlockCsr<B>) {
        self.set(|points| {
            let mut block = DMatrix::zeros(B * points.len(), B * points.len());
            for (r, &row) in points.iter().enumerate() {
                let entries =
                    matrix.pattern().row(row as usize).iter().zip(matrix.row(row as usize));
                for (column, entry) in entries {
                    let Ok(c) = points.binary_search(column) else { continue };
                    for (i, j) in (0..B * B).map(|k| (k / B, k % B)) {
                        block[(B * r + i, B * c + j)] = entry[i][j];
                    }
                }
            }
            block
        });
    }

    /// Number of groups.
    pub fn n_groups(&self) -> usize {
        self.ends.len()
    }

    /// The points of a group, increasing.
    pub fn group(&self, group: usize) -> &[u32] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.points[start..self.ends[group]]
    }

    /// Writes D^-1 r by place.
    fn products(&self, r: &[[f64; B]], out: &mut [[f64; B]]) {
        let mut rest = out;
        let mut parts = Vec::with_capacity(self.ends.len());
        for group in 0..self.ends.len() {
            let (own, others) = rest.split_at_mut(self.group(group).len());
            parts.push(own);
            rest = others;
        }
        let groups = parts.into_par_iter().zip(&self.inverses).enumerate().with_min_len(64);
        groups.for_each(|(group, (out, inverse))| {
            let points = self.group(group);
            let rows = inverse.chunks_exact(B * points.len());
            for (out, row) in out.as_flattened_mut().iter_mut().zip(rows) {
                let values = points.iter().zip(row.chunks_exact(B));
                *out = values
                    .map(|(&point, row)| {
                        let r = &r[point as usize];
                        (0..B).map(|i| f64::from(row[i]) * r[i]).sum::<f64>()
                    })
                    .sum();
            }
        });
    }
}

/// The rows of the inverse of a symmetric block, scaled to a unit diagonal for that.
fn inverse(block: DMatrix<f64>) -> Vec<f32> {
    let n = block.nrows();
    let scale = block.diagonal().map(|d| if d > 0.0 { d.sqrt().recip() } else { 0.0 });
    let scaled = DMatrix::from_fn(n, n, |i, j| block[(i, j)] * scale[i] * scale[j]);
    let inverse = match Cholesky::<f64, Dyn>::new(scaled.clone()) {
        Some(factor) if factor.l_dirty().diagonal().min() > LEAST.sqrt() => factor.inverse(),
        _ => pseudo_inverse(scaled),
    };
    let rows = (0..n * n).map(|k| (k / n, k % n));
    rows.map(|(i, j)| (inverse[(i, j)] * scale[i] * scale[j]) as f32).collect()
}

fn pseudo_inverse(scaled: DMatrix<f64>) -> DMatrix<f64> {
    let n = scaled.nrows();
    let SymmetricEigen { eigenvalues, eigenvectors } = scaled.symmetric_eigen();
    let mut inverse = DMatrix::zeros(n, n);
    for k in (0..n).filter(|&k| eigenvalues[k] > LEAST) {
        let vector = eigenvectors.column(k);
        inverse += vector * vector.transpose() / eigenvalues[k];
    }
    inverse
}

impl<const B: usize> LinearOperator<Cpu> for GroupInverse<B> {
    fn space(&self) -> Space {
        Space::level(self.places.len(), B)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        self.products(x.as_chunks().0, &mut scratch);
        let rows = y.as_chunks_mut::<B>().0.par_iter_mut().zip(&self.places).with_min_len(4096);
        rows.for_each(|(y, &place)| *y = scratch[place as usize]);
    }

    fn cost(&self) -> Cost {
        let size: usize = self.inverses.iter().map(Vec::len).sum();
        let (size, n) = (size as f64, (B * self.places.len()) as f64);
        Cost { bytes_read: 4.0 * size + 24.0 * n, bytes_written: 16.0 * n, flops: 2.0 * size }
    }
}

impl<const B: usize> InverseDiagonal<Cpu> for GroupInverse<B> {
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
        r.par_iter_mut().enumerate().with_min_len(4096).for_each(|(i, r)| match residual {
            Residual::OfZero { b } => *r = b[i],
            Residual::Of { b, ax } => *r = b[i] - ax[i],
            Residual::After { ad } => *r -= ad[i],
        });

        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        self.products(r.as_chunks().0, &mut scratch);
        let [d, x] = [d, x].map(|v| v.as_chunks_mut::<B>().0);
        let rows = d.par_iter_mut().zip(x).zip(&self.places).with_min_len(4096);
        rows.for_each(|((d, x), &place)| {
            let z = &scratch[place as usize];
            for i in 0..B {
                let step = alpha * z[i];
                d[i] = if beta == 0.0 { step } else { step + beta * d[i] };
                x[i] = if from_zero { d[i] } else { x[i] + d[i] };
            }
        });
    }
}
