//! Block Jacobi over groups of points.

use std::sync::{Mutex, PoisonError};

use nalgebra::DMatrix;
use rayon::prelude::*;
use topopt_linalg::{
    BlockCsr, Cost, Cpu, Growth, InverseDiagonal, LinearOperator, Residual, Space,
};

/// The inverses F^T F of the diagonal blocks of a matrix that belong to groups of points with B
/// unknowns each.
///
/// F is stored in single precision, as it only smooths. Rounded inverses themselves would have lost
/// their stiff motions where a block has much softer ones, and would not be positive.
pub struct GroupInverse<const B: usize> {
    /// Points of all groups, one group after the other.
    points: Vec<u32>,
    /// End of every group in `points`.
    ends: Vec<usize>,
    /// Place of every point in `points`.
    places: Vec<u32>,
    /// F of every group: the rows of a lower triangle.
    factors: Vec<Vec<f32>>,
    /// Values by place.
    scratch: Mutex<Vec<[f64; B]>>,
}

/// Pivot of a block of unit diagonal below which it is rounding, and its unknown is held.
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
        Self { points, ends, places, factors: Vec::new(), scratch }
    }

    /// Recomputes the inverses of the blocks that `block(points)` gives, dense and symmetric,
    /// `[B points][B points]`.
    pub(super) fn set(&mut self, block: impl Fn(&[u32]) -> DMatrix<f64> + Sync) {
        let groups = (0..self.ends.len()).into_par_iter();
        self.factors = groups.map(|group| inverse_factor(&block(self.group(group)))).collect();
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
        let groups = parts.into_par_iter().zip(&self.factors).enumerate().with_min_len(64);
        groups.for_each(|(group, (out, factor))| {
            let r: Vec<[f64; B]> = self.group(group).iter().map(|&p| r[p as usize]).collect();
            let (r, out) = (r.as_flattened(), out.as_flattened_mut());
            out.fill(0.0);
            let mut rest = factor.as_slice();
            for i in 0..r.len() {
                let (row, others) = rest.split_at(i + 1);
                let product: f64 = row.iter().zip(r).map(|(f, r)| f64::from(*f) * r).sum();
                row.iter().zip(&mut *out).for_each(|(f, out)| *out += f64::from(*f) * product);
                rest = others;
            }
        });
    }
}

/// F = L^-1 S of a symmetric block S^-1 L L^T S^-1 with L of unit rows, row by row. Unknowns
/// without stiffness of their own have rows of zeros.
fn inverse_factor(block: &DMatrix<f64>) -> Vec<f32> {
    let n = block.nrows();
    let scale = block.diagonal().map(|d| if d > 0.0 { d.sqrt().recip() } else { 0.0 });
    let mut l = DMatrix::from_fn(n, n, |i, j| block[(i, j)] * scale[i] * scale[j]);
    // Reciprocals of the diagonal of L, whose columns are contiguous.
    let mut reciprocals = vec![0.0; n];
    for k in 0..n {
        for j in 0..k {
            let factor = l[(k, j)];
            (k..n).for_each(|i| l[(i, k)] -= factor * l[(i, j)]);
        }
        let pivot = l[(k, k)];
        reciprocals[k] = if pivot > LEAST { pivot.sqrt().recip() } else { 0.0 };
        (k..n).for_each(|i| l[(i, k)] *= reciprocals[k]);
    }

    // The inverse of L, column by column.
    let mut inverse = DMatrix::zeros(n, n);
    for j in 0..n {
        inverse[(j, j)] = reciprocals[j];
        for k in j..n {
            let entry = inverse[(k, j)] * if k > j { reciprocals[k] } else { 1.0 };
            inverse[(k, j)] = entry;
            (k + 1..n).for_each(|i| inverse[(i, j)] -= l[(i, k)] * entry);
        }
    }
    let lower = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
    lower.map(|(i, j)| (inverse[(i, j)] * scale[j]) as f32).collect()
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
        let size: usize = self.factors.iter().map(Vec::len).sum();
        let (size, n) = (size as f64, (B * self.places.len()) as f64);
        Cost { bytes_read: 4.0 * size + 24.0 * n, bytes_written: 16.0 * n, flops: 4.0 * size }
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
