//! Symmetric N x N blocks on a diagonal, on the CPU, and their pseudo-inverses.

use nalgebra::DMatrix;
use rayon::prelude::*;

use crate::{Cost, Cpu, Growth, InverseDiagonal, LinearOperator, Residual, Space};

/// A matrix of symmetric N x N blocks on the diagonal; vectors are `[row][N]`.
#[derive(Debug, Clone)]
pub struct BlockDiagonal<const N: usize> {
    space: Space,
    /// The lower triangles, row by row, `[row][PACKED]`.
    packed: Vec<f64>,
}

impl<const N: usize> BlockDiagonal<N> {
    /// Numbers of a block: its lower triangle, row by row.
    pub const PACKED: usize = N * (N + 1) / 2;

    /// Zeros, a block per point of `space`, which has N unknowns per point.
    pub fn zeros(space: Space) -> Self {
        Self { space, packed: vec![0.0; space.points * Self::PACKED] }
    }

    /// The lower triangles, `[row][PACKED]`.
    pub fn packed_mut(&mut self) -> &mut Vec<f64> {
        &mut self.packed
    }

    /// y = the block of `row` times x.
    #[inline(always)]
    pub(crate) fn product(&self, row: usize, x: &[f64; N]) -> [f64; N] {
        let block = &self.packed[row * Self::PACKED..][..Self::PACKED];
        std::array::from_fn(|i| row_product(block, i, x))
    }

    /// Takes the pseudo-inverse of `block(row)` for every row, as [`pseudo_inverse`] has it.
    pub fn set_pseudo_inverses(&mut self, block: impl Fn(usize) -> [[f64; N]; N] + Sync) {
        let rows = self.packed.par_chunks_exact_mut(Self::PACKED).enumerate();
        rows.for_each(|(row, packed)| {
            let inverse = pseudo_inverse(&block(row));
            let lower = (0..N).flat_map(|i| (0..=i).map(move |j| (i, j)));
            packed.iter_mut().zip(lower).for_each(|(value, (i, j))| *value = inverse[i][j]);
        });
    }
}

/// Place of entry (i, j) in a lower triangle.
const fn place(i: usize, j: usize) -> usize {
    if i >= j { i * (i + 1) / 2 + j } else { j * (j + 1) / 2 + i }
}

/// Entry i of the product of a packed block with x.
#[inline(always)]
fn row_product<const N: usize>(packed: &[f64], i: usize, x: &[f64; N]) -> f64 {
    (0..N).map(|j| packed[place(i, j)] * x[j]).sum()
}

/// Determinant of a block scaled to a unit diagonal from which on it is inverted by its Cholesky
/// factor. No eigenvalue is then below 3e-7: the product of the others, whose sum is at most N, is
/// below e.
const WELL_CONDITIONED: f64 = 1e-6;

/// Returns the pseudo-inverse of a symmetric positive semi-definite block; the mean of the two
/// triangles counts. Directions of an eigenvalue below 1e-12 once it is scaled to a unit diagonal,
/// which the block maps to nothing, are mapped to zero.
pub fn pseudo_inverse<const N: usize>(block: &[[f64; N]; N]) -> [[f64; N]; N] {
    // Scaled, so that unknowns of different units are comparable.
    let scale: [f64; N] =
        std::array::from_fn(|i| if block[i][i] > 0.0 { block[i][i].sqrt().recip() } else { 0.0 });
    let mut scaled = *block;
    for i in 0..N {
        for j in 0..N {
            scaled[i][j] = 0.5 * (block[i][j] + block[j][i]) * scale[i] * scale[j];
        }
    }
    let mut inverse = inverse_by_factor(&scaled).unwrap_or_else(|| inverse_by_eigen(&scaled));
    for i in 0..N {
        for j in 0..N {
            inverse[i][j] *= scale[i] * scale[j];
        }
    }
    inverse
}

/// L^-T L^-1 for the Cholesky factor L; none if the determinant is small.
fn inverse_by_factor<const N: usize>(scaled: &[[f64; N]; N]) -> Option<[[f64; N]; N]> {
    // The inverse of the factor, row by row: it is made from the rows before it.
    let mut inverse_factor = [[0.0; N]; N];
    let mut determinant = 1.0;
    for i in 0..N {
        // Row i of L, from L_ij = sum_k A_ik (L^-1)_jk.
        let mut row = [0.0; N];
        let mut pivot = scaled[i][i];
        for j in 0..i {
            row[j] = (0..=j).map(|k| scaled[i][k] * inverse_factor[j][k]).sum();
            pivot -= row[j] * row[j];
        }

        determinant *= pivot;
        if pivot <= 0.0 || determinant < WELL_CONDITIONED {
            return None;
        }

        let root = pivot.sqrt().recip();
        for k in 0..i {
            let sum: f64 = (k..i).map(|j| row[j] * inverse_factor[j][k]).sum();
            inverse_factor[i][k] = -root * sum;
        }
        inverse_factor[i][i] = root;
    }

    let mut inverse = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let sum = (i..N).map(|k| inverse_factor[k][i] * inverse_factor[k][j]).sum();
            (inverse[i][j], inverse[j][i]) = (sum, sum);
        }
    }
    Some(inverse)
}

fn inverse_by_eigen<const N: usize>(scaled: &[[f64; N]; N]) -> [[f64; N]; N] {
    let eigen = DMatrix::from_fn(N, N, |i, j| scaled[i][j]).symmetric_eigen();
    let mut inverse = [[0.0; N]; N];
    for k in (0..N).filter(|&k| eigen.eigenvalues[k] > 1e-12) {
        let vector = eigen.eigenvectors.column(k);
        for i in 0..N {
            for j in 0..N {
                inverse[i][j] += vector[i] * vector[j] / eigen.eigenvalues[k];
            }
        }
    }
    inverse
}

impl<const N: usize> LinearOperator<Cpu> for BlockDiagonal<N> {
    fn space(&self) -> Space {
        self.space
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let (x, y) = (x.as_chunks::<N>().0, y.as_chunks_mut::<N>().0);
        let blocks = self.packed.par_chunks_exact(Self::PACKED);
        let rows = y.par_iter_mut().zip(x).zip(blocks).with_min_len(1024);
        rows.for_each(|((y, x), block)| {
            let block = &block[..Self::PACKED];
            (0..N).for_each(|i| y[i] = row_product(block, i, x));
        });
    }

    fn cost(&self) -> Cost {
        let (size, n) = (self.packed.len() as f64, self.dimension() as f64);
        Cost { bytes_read: 8.0 * (size + n), bytes_written: 8.0 * n, flops: 2.0 * n * N as f64 }
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
        let blocks = self.packed.par_chunks_exact(Self::PACKED);
        let rows = r.par_iter_mut().zip(d).zip(x).zip(blocks).enumerate().with_min_len(1024);
        rows.for_each(|(row, (((r, d), x), block))| {
            let block = &block[..Self::PACKED];
            *r = std::array::from_fn(|i| residual_at(row, i, r[i]));
            for i in 0..N {
                let step = alpha * row_product(block, i, r);
                d[i] = if beta == 0.0 { step } else { step + beta * d[i] };
                x[i] = if from_zero { d[i] } else { x[i] + d[i] };
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B B^T for a random B; of rank `rank`.
    fn block(rank: usize) -> [[f64; 6]; 6] {
        let size = |i: usize| 10f64.powi(i as i32 - 3);
        let number = |i: usize, k: usize| ((7 * i + 13 * k + 1) as f64).powi(2).sin() * size(i);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..rank).map(|k| number(i, k) * number(j, k)).sum())
        })
    }

    #[test]
    fn a_regular_block_is_inverted_and_both_ways_agree() {
        let block = block(6);
        let inverse = pseudo_inverse(&block);
        for i in 0..6 {
            for j in 0..6 {
                let entry: f64 = (0..6).map(|k| block[i][k] * inverse[k][j]).sum();
                let expected = if i == j { 1.0 } else { 0.0 };
                let scale = (block[i][i] / block[j][j]).sqrt();
                assert!((entry - expected).abs() < 1e-9 * scale.max(1.0), "{i} {j} {entry}");
            }
        }
        let scaled = [[1.0, 0.5, 0.2], [0.5, 1.0, -0.3], [0.2, -0.3, 1.0]];
        let (a, b) = (inverse_by_factor(&scaled).unwrap(), inverse_by_eigen(&scaled));
        assert!((0..9).all(|k| (a[k / 3][k % 3] - b[k / 3][k % 3]).abs() < 1e-13));
    }

    #[test]
    fn directions_that_the_block_maps_to_zero_stay_so() {
        let block = block(4);
        let inverse = pseudo_inverse(&block);
        // B B^+ B = B
        for i in 0..6 {
            for j in 0..6 {
                let product = |k: usize| (0..6).map(|l| inverse[k][l] * block[l][j]).sum::<f64>();
                let entry: f64 = (0..6).map(|k| block[i][k] * product(k)).sum();
                let size = (block[i][i] * block[j][j]).sqrt();
                assert!((entry - block[i][j]).abs() < 1e-9 * size, "{i} {j}");
            }
        }
        let zero = pseudo_inverse(&[[0.0; 3]; 3]);
        assert_eq!(zero, [[0.0; 3]; 3]);
    }

    #[test]
    fn the_product_is_that_of_the_full_block() {
        let mut diagonal = BlockDiagonal::<6>::zeros(Space::level(2, 6));
        diagonal.set_pseudo_inverses(|_| block(6));
        let inverse = pseudo_inverse(&block(6));
        let x: Vec<f64> = (0..12).map(|i| (i as f64).cos()).collect();
        let mut y = vec![0.0; 12];
        diagonal.apply(&x, &mut y);
        for k in 0..12 {
            let expected: f64 = (0..6).map(|j| inverse[k % 6][j] * x[k / 6 * 6 + j]).sum();
            assert!((y[k] - expected).abs() <= 1e-12 * expected.abs());
        }
    }
}
