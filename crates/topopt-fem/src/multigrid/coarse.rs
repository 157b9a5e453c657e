//! Levels of aggregates: block matrices, and the modes of aggregates of aggregates.

use std::sync::Arc;

use rayon::prelude::*;
use topopt_linalg::{
    BlockCsr, BlockPattern, Cost, Cpu, DenseCholesky, InverseDiagonal, LinearOperator, PatchMatrix,
    PatchRelaxation, SmootherKind, Space, Transfer,
};

use super::Aggregates;
use super::among_ranks::share_rows;
use super::modes::Modes;
use crate::{DIM, Shared};

/// Levels of block matrices, each but the first the Galerkin product of the one before; the last is
/// solved directly.
pub(super) struct BlockLevels<'a, const N: usize> {
    levels: Vec<Level<'a, N>>,
    /// Transfers from each level to the next.
    transfers: Vec<CoarseTransfer<'a, N>>,
    last: DenseCholesky,
}

/// A matrix, and how ranks share it, if they do.
struct Level<'a, const N: usize> {
    smoothed: PatchMatrix<N>,
    shared: Option<Arc<Shared<'a, Cpu>>>,
}

impl<const N: usize> Level<'_, N> {
    /// Completes the matrix by the rows that other ranks have made, as far as they are needed.
    fn complete(&mut self) {
        if let Some(Shared::Whole { sharing, counts }) = self.shared.as_deref() {
            share_rows(sharing.communicator(), counts, &mut self.smoothed.matrix);
        }
    }

    /// Follows the matrix.
    fn invert_diagonal(&mut self) {
        let PatchMatrix { matrix, inverse_diagonal, .. } = &mut self.smoothed;
        inverse_diagonal.set_pseudo_inverses(|row| matrix.diagonal_block(row));
        if let Some(divided) = Shared::divided_of(self.shared.as_ref()) {
            divided.refresh_blocks(inverse_diagonal.packed_mut());
        }
    }
}

impl<const N: usize> LinearOperator<Cpu> for Level<'_, N> {
    fn space(&self) -> Space {
        self.smoothed.matrix.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let matrix = &self.smoothed.matrix;
        match Shared::divided_of(self.shared.as_ref()) {
            None => matrix.apply(x, y),
            Some(divided) => {
                matrix.apply_rows(divided.own(), x, y);
                divided.refresh(y);
            }
        }
    }

    fn cost(&self) -> Cost {
        self.smoothed.matrix.cost()
    }
}

impl<'a, const N: usize> BlockLevels<'a, N>
where
    [f64; N]: Modes,
{
    /// Zeros in the pattern of every level, and the aggregates between them, which patches consist of;
    /// `shared` are the first levels, where there are other ranks.
    pub fn new(
        patterns: Vec<BlockPattern>,
        aggregates: Vec<Aggregates>,
        smoother: SmootherKind,
        shared: &[Arc<Shared<'a, Cpu>>],
    ) -> Self {
        let levels = patterns.into_iter().enumerate().map(|(level, pattern)| {
            // The last level is not smoothed.
            let of_next = aggregates.get(level);
            let smoothed = if of_next.is_some() { pattern.n_rows() } else { 0 };
            let groups = match smoother {
                SmootherKind::Chebyshev => None,
                SmootherKind::Patch => of_next.map(Aggregates::members),
            };
            let smoothed = PatchMatrix::zeros(pattern, Space::level(smoothed, N), groups);
            Level { smoothed, shared: shared.get(level).cloned() }
        });
        let levels = levels.collect();
        let shared = (1..).map(|level| shared.get(level).cloned());
        let transfers = aggregates.into_iter().zip(shared);
        let transfers =
            transfers.map(|(aggregates, shared)| CoarseTransfer { aggregates, shared }).collect();
        Self { levels, transfers, last: DenseCholesky::new(&nalgebra::DMatrix::zeros(0, 0)) }
    }

    /// Recomputes the numbers of all levels from the first matrix, whose rows here `fill` recomputes.
    pub fn update(&mut self, fill: impl FnOnce(&mut BlockCsr<N>)) {
        fill(&mut self.levels[0].smoothed.matrix);
        self.levels[0].complete();
        for (level, transfer) in self.transfers.iter().enumerate() {
            let (done, rest) = self.levels.split_at_mut(level + 1);
            galerkin(&done[level].smoothed.matrix, transfer, &mut rest[0].smoothed.matrix);
            rest[0].complete();
            done[level].invert_diagonal();
        }
        let last = &self.levels[self.transfers.len()].smoothed;
        self.last = DenseCholesky::new(&last.matrix.to_dense());
    }

    /// Number of levels.
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// The matrix of a level as an operator.
    pub fn operator(&self, level: usize) -> &dyn LinearOperator<Cpu> {
        &self.levels[level]
    }

    /// The inverse of the block diagonal of a level but the last.
    pub fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cpu> {
        &self.levels[level].smoothed.inverse_diagonal
    }

    /// The matrix of a level in patches, if these smooth it.
    pub fn patches(&self, level: usize) -> Option<&dyn PatchRelaxation<Cpu>> {
        self.levels[level].smoothed.relaxation()
    }

    /// The transfer between a level and the next.
    pub fn transfer(&self, level: usize) -> &dyn Transfer<Cpu> {
        &self.transfers[level]
    }

    /// x = A^-1 b on the last level.
    pub fn solve_last(&self, b: &[f64], x: &mut [f64]) {
        self.last.solve(b, x);
    }
}

/// The transfer between a level of aggregates and the next.
struct CoarseTransfer<'a, const N: usize> {
    aggregates: Aggregates,
    /// How ranks share the next level, if they do.
    shared: Option<Arc<Shared<'a, Cpu>>>,
}

impl<const N: usize> Transfer<Cpu> for CoarseTransfer<'_, N>
where
    [f64; N]: Modes,
{
    fn restrict(&self, fine: &Vec<f64>, coarse: &mut Vec<f64>) {
        let fine = fine.as_chunks::<N>().0;
        let rows = coarse.as_chunks_mut::<N>().0.par_iter_mut().with_min_len(256);
        rows.zip(self.aggregates.members()).for_each(|(coarse, members)| {
            *coarse = [0.0; N];
            for &child in members {
                let child = child as usize;
                let force = fine[child].of_parent(self.aggregates.offsets()[child]);
                (0..N).for_each(|i| coarse[i] += force[i]);
            }
        });
        if let Some(shared) = &self.shared {
            shared.complete(coarse);
        }
    }

    fn prolong_add(&self, coarse: &Vec<f64>, fine: &mut Vec<f64>) {
        let coarse = coarse.as_chunks::<N>().0;
        let add = |(child, fine): (usize, &mut [f64; N])| {
            let parent = &coarse[self.aggregates.of()[child] as usize];
            let motion = parent.of_child(self.aggregates.offsets()[child]);
            (0..N).for_each(|i| fine[i] += motion[i]);
        };
        fine.as_chunks_mut::<N>().0.par_iter_mut().with_min_len(256).enumerate().for_each(add);
    }
}

/// coarse = P^T A P.
fn galerkin<const N: usize>(
    a: &BlockCsr<N>,
    transfer: &CoarseTransfer<'_, N>,
    coarse: &mut BlockCsr<N>,
) where
    [f64; N]: Modes,
{
    let aggregates = &transfer.aggregates;
    coarse.fill_rows(|row, columns, blocks| {
        for &child in &aggregates.members()[row] {
            let child = child as usize;
            for (&other, block) in a.pattern().row(child).iter().zip(a.row(child)) {
                let column = aggregates.of()[other as usize];
                let place = columns.binary_search(&column).unwrap_or_default();
                let offsets = [child, other as usize].map(|point| aggregates.offsets()[point]);
                add_product(offsets, block, &mut blocks[place]);
            }
        }
    });
}

/// target += P_i^T A_ij P_j for i and j at `offsets`. A row of A P is P^T applied to that row of A,
/// so that both products are of the same kind: in columns, then in rows.
fn add_product<const N: usize>(
    offsets: [[f64; DIM]; 2],
    block: &[[f64; N]; N],
    target: &mut [[f64; N]; N],
) where
    [f64; N]: Modes,
{
    let rows = block.map(|row| row.of_parent(offsets[1]));
    for mode in 0..N {
        let column: [f64; N] = std::array::from_fn(|r| rows[r][mode]);
        let total = column.of_parent(offsets[0]);
        (0..N).for_each(|r| target[r][mode] += total[r]);
    }
}
