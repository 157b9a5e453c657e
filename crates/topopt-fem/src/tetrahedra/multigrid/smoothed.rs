//! Aggregates with a smoothed prolongation: P = (I - 4 / (3 lambda) D^-1 A) T
//! \[VanekMandelBrezina1996\].

use rayon::prelude::*;
use topopt_linalg::{
    Backend, BlockCsr, BlockPattern, Cpu, LinearOperator, Transfer, pseudo_inverse,
};

/// A matrix of B x M blocks in compressed rows.
pub struct Rectangle<const B: usize, const M: usize> {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<[[f64; M]; B]>,
}

impl<const B: usize, const M: usize> Rectangle<B, M> {
    fn zeros(rows: Vec<Vec<u32>>) -> Self {
        let mut offsets = vec![0];
        offsets.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let columns = rows.concat();
        let blocks = vec![[[0.0; M]; B]; columns.len()];
        Self { offsets, columns, blocks }
    }

    /// Offset of each row in the blocks, `[n_rows + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Columns of all blocks, row by row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (u32, &[[f64; M]; B])> {
        let row = self.offsets[row]..self.offsets[row + 1];
        self.columns[row.clone()].iter().copied().zip(&self.blocks[row])
    }

    fn columns_of(&self, row: usize) -> &[u32] {
        &self.columns[self.offsets[row]..self.offsets[row + 1]]
    }

    /// Recomputes all rows: `fill(row, columns, blocks)` adds to blocks that start at zero.
    fn fill(&mut self, fill: impl Fn(usize, &[u32], &mut [[[f64; M]; B]]) + Sync) {
        let mut rest = self.blocks.as_mut_slice();
        let mut rows = Vec::with_capacity(self.offsets.len());
        for row in self.offsets.windows(2) {
            let (own, others) = rest.split_at_mut(row[1] - row[0]);
            rows.push(own);
            rest = others;
        }
        let (offsets, columns) = (&self.offsets, &self.columns);
        rows.into_par_iter().enumerate().with_min_len(64).for_each(|(row, blocks)| {
            blocks.fill([[0.0; M]; B]);
            fill(row, &columns[offsets[row]..offsets[row + 1]], blocks);
        });
    }
}

/// The transfer between a level of points with B unknowns and its aggregates with M modes each.
pub struct SmoothedTransfer<const B: usize, const M: usize> {
    /// Aggregate of every point.
    of: Vec<u32>,
    /// Modes of the aggregate at every point, zero at held components.
    tentative: Vec<[[f64; M]; B]>,
    prolongation: Rectangle<B, M>,
    /// A P.
    product: Rectangle<B, M>,
    /// Points of every row of P^T, and where their blocks stand in P.
    transpose: Vec<Vec<(u32, u32)>>,
}

impl<const B: usize, const M: usize> SmoothedTransfer<B, M> {
    /// The transfer from `groups` of the points of `matrix`, whose modes are `tentative` at every
    /// point; needs an update before use.
    pub(super) fn new(
        matrix: &BlockCsr<B>,
        groups: &[Vec<u32>],
        tentative: Vec<[[f64; M]; B]>,
    ) -> Self {
        let pattern = matrix.pattern();
        let mut of = vec![0; pattern.n_rows()];
        for (number, group) in (0..).zip(groups) {
            group.iter().for_each(|&point| of[point as usize] = number);
        }

        let distinct = |columns: &mut dyn Iterator<Item = u32>| {
            let mut columns: Vec<u32> = columns.collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        let rows = (0..pattern.n_rows()).into_par_iter();
        let around = |row: usize| distinct(&mut pattern.row(row).iter().map(|&c| of[c as usize]));
        let prolongation = Rectangle::zeros(rows.clone().map(around).collect());
        let beyond = |row: usize| {
            let points = pattern.row(row).iter();
            distinct(&mut points.flat_map(|&c| prolongation.columns_of(c as usize)).copied())
        };
        let product = Rectangle::zeros(rows.map(beyond).collect());

        let mut transpose = vec![Vec::new(); groups.len()];
        for row in 0..pattern.n_rows() {
            let places = prolongation.offsets[row] as u32..;
            for (&column, place) in prolongation.columns_of(row).iter().zip(places) {
                transpose[column as usize].push((row as u32, place));
            }
        }
        Self { of, tentative, prolongation, product, transpose }
    }

    /// The prolongation P.
    pub fn prolongation(&self) -> &Rectangle<B, M> {
        &self.prolongation
    }

    /// Aggregate of every point.
    pub fn aggregates(&self) -> &[u32] {
        &self.of
    }

    /// Modes of the aggregate at every point, zero at held components.
    pub fn tentative(&self) -> &[[[f64; M]; B]] {
        &self.tentative
    }

    /// The product A P.
    pub fn product(&self) -> &Rectangle<B, M> {
        &self.product
    }

    /// Points of every row of P^T, and where their blocks stand in P.
    pub fn transpose(&self) -> &[Vec<(u32, u32)>] {
        &self.transpose
    }

    /// The pattern of P^T A P.
    pub(super) fn coarse_pattern(&self) -> BlockPattern {
        let rows = self.transpose.par_iter().map(|points| {
            let columns = points.iter().flat_map(|(row, _)| self.product.columns_of(*row as usize));
            let mut columns: Vec<u32> = columns.copied().collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        });
        BlockPattern::new(rows.collect())
    }

    /// Recomputes P for `matrix`, of whose D^-1 A the largest eigenvalue is that, and P^T A P.
    pub(super) fn update(&mut self, matrix: &BlockCsr<B>, largest: f64, coarse: &mut BlockCsr<M>) {
        let Self { of, tentative, prolongation, product, transpose } = self;
        let damping = 4.0 / (3.0 * largest);
        prolongation.fill(|row, columns, blocks| {
            let place = |aggregate: u32| columns.binary_search(&aggregate).unwrap_or_default();
            for (&other, entry) in matrix.pattern().row(row).iter().zip(matrix.row(row)) {
                let sum = &mut blocks[place(of[other as usize])];
                add_product(1.0, entry, &tentative[other as usize], sum);
            }
            let inverse = pseudo_inverse(&matrix.diagonal_block(row));
            for block in blocks.iter_mut() {
                let mut smoothed = [[0.0; M]; B];
                add_product(-damping, &inverse, block, &mut smoothed);
                *block = smoothed;
            }
            let own = &mut blocks[place(of[row])];
            for i in 0..B {
                (0..M).for_each(|m| own[i][m] += tentative[row][i][m]);
            }
            // What is held does not move.
            for i in (0..B).filter(|&i| tentative[row][i] == [0.0; M]) {
                blocks.iter_mut().for_each(|block| block[i] = [0.0; M]);
            }
        });

        product.fill(|row, columns, blocks| {
            for (&other, entry) in matrix.pattern().row(row).iter().zip(matrix.row(row)) {
                for (aggregate, block) in prolongation.row(other as usize) {
                    let place = columns.binary_search(&aggregate).unwrap_or_default();
                    add_product(1.0, entry, block, &mut blocks[place]);
                }
            }
        });

        coarse.fill_rows(|row, columns, blocks| {
            for &(point, place) in &transpose[row] {
                let left = &prolongation.blocks[place as usize];
                for (aggregate, right) in product.row(point as usize) {
                    let place = columns.binary_search(&aggregate).unwrap_or_default();
                    add_transposed(left, right, &mut blocks[place]);
                }
            }
        });
    }
}

/// sum += factor a b.
fn add_product<const B: usize, const M: usize>(
    factor: f64,
    a: &[[f64; B]; B],
    b: &[[f64; M]; B],
    sum: &mut [[f64; M]; B],
) {
    for (a, sum) in a.iter().zip(sum) {
        let mut row = *sum;
        for k in 0..B {
            (0..M).for_each(|m| row[m] += factor * a[k] * b[k][m]);
        }
        *sum = row;
    }
}

/// sum += a^T b, row by row, so that each stays in registers.
fn add_transposed<const B: usize, const M: usize>(
    a: &[[f64; M]; B],
    b: &[[f64; M]; B],
    sum: &mut [[f64; M]; M],
) {
    for (l, sum) in sum.iter_mut().enumerate() {
        let mut row = *sum;
        for i in 0..B {
            (0..M).for_each(|m| row[m] += a[i][l] * b[i][m]);
        }
        *sum = row;
    }
}

impl<const B: usize, const M: usize> Transfer<Cpu> for SmoothedTransfer<B, M> {
    fn restrict(&self, fine: &Vec<f64>, coarse: &mut Vec<f64>) {
        let fine = fine.as_chunks::<B>().0;
        let rows = coarse.as_chunks_mut::<M>().0.par_iter_mut().zip(&self.transpose);
        rows.with_min_len(64).for_each(|(coarse, points)| {
            *coarse = [0.0; M];
            for &(point, place) in points {
                let (block, force) =
                    (&self.prolongation.blocks[place as usize], &fine[point as usize]);
                for i in 0..B {
                    (0..M).for_each(|m| coarse[m] += block[i][m] * force[i]);
                }
            }
        });
    }

    fn prolong_add(&self, coarse: &Vec<f64>, fine: &mut Vec<f64>) {
        let coarse = coarse.as_chunks::<M>().0;
        let rows = fine.as_chunks_mut::<B>().0.par_iter_mut().enumerate().with_min_len(256);
        rows.for_each(|(row, fine)| {
            for (aggregate, block) in self.prolongation.row(row) {
                let motion = &coarse[aggregate as usize];
                for i in 0..B {
                    (0..M).for_each(|m| fine[i] += block[i][m] * motion[m]);
                }
            }
        });
    }
}

/// Steps of the power method, and the factor of its result, which comes from below.
const POWER: (usize, f64) = (15, 1.05);

/// Estimates the largest eigenvalue of D^-1 A with the blocks D on the diagonal of A, by the growth
/// of energies x^T A x, in which motions that a singular block leaves undetermined do not count.
pub(super) fn largest_eigenvalue<const B: usize>(matrix: &BlockCsr<B>) -> f64 {
    let rows = 0..matrix.pattern().n_rows();
    let inverses =
        rows.clone().into_par_iter().map(|row| pseudo_inverse(&matrix.diagonal_block(row)));
    let inverses: Vec<[[f64; B]; B]> = inverses.collect();
    let mut x: Vec<f64> = (0..B * rows.len()).map(|i| (i as f64 * 12.9898).sin()).collect();
    let (mut y, mut energies) = (vec![0.0; x.len()], [0.0; 2]);
    for step in 0..=POWER.0 {
        matrix.apply(&x, &mut y);
        energies = [energies[1], Cpu.dot(&x, &y)];
        if step == POWER.0 {
            break;
        }
        let rows = x.as_chunks_mut::<B>().0.iter_mut().zip(y.as_chunks::<B>().0).zip(&inverses);
        for ((x, y), inverse) in rows {
            *x = std::array::from_fn(|i| (0..B).map(|j| inverse[i][j] * y[j]).sum());
        }
    }
    POWER.1 * (energies[1] / energies[0]).sqrt()
}
