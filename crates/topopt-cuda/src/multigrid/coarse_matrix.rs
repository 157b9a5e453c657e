//! A coarse matrix: blocks off the diagonal, the ground, and the blocks on the diagonal with their inverse.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::{DIM, Joints};
use topopt_linalg::{Backend, BackendError, Cost, LinearOperator, Space};

use super::inverse_blocks::InverseBlocks;
use super::level_kernels::LevelKernels;
use super::shared_rows::{SharedLevel, SharedRows};
use super::transfer::Grouping;
use crate::Cuda;
use crate::operators::DeviceKernel;
use crate::vector::{DeviceVector, Real};

/// Positions of the blocks off the diagonal, in compressed rows.
pub struct Rows<R> {
    pub(super) n: usize,
    pub(super) n_blocks: usize,
    /// \[n + 1\].
    pub(super) offsets: CudaSlice<u32>,
    /// Ascending in a row, \[n_blocks\].
    pub(super) columns: CudaSlice<u32>,
    /// Row of every block, where aggregates turn.
    pub(super) of_blocks: CudaSlice<u32>,
    /// The place of every block's column from its row, and a number to fill up, where aggregates turn.
    pub(super) arms: CudaSlice<[R; 4]>,
}

/// A matrix of blocks of modes x modes; vectors are \[row\]\[modes\].
pub struct CoarseMatrix<'a, R: Real, K: DeviceKernel<N>, const N: usize> {
    kernels: Arc<K::Levels<R>>,
    pub(super) rows: Rows<R>,
    /// Off the diagonal, \[n_blocks\]\[modes^2\]; 6x6 as `cuda/common/blocks.cuh` has them.
    pub(super) blocks: DeviceVector<R>,
    /// Forces on a row when all move with it, \[n_rows\]\[column\]\[row\].
    pub(super) ground: DeviceVector<R>,
    /// \[n_rows\]\[column\]\[row\].
    pub(super) diagonal: CudaSlice<f64>,
    pub(super) inverse: InverseBlocks<R, K, N>,
    /// Whose motions the unknowns are.
    pub(super) aggregates: Arc<Grouping>,
    /// Exchange of the matrix with other ranks.
    shared: SharedRows<'a, R>,
}

impl<'a, R: Real, K: DeviceKernel<N>, const N: usize> CoarseMatrix<'a, R, K, N> {
    /// A matrix of zeros, for the motions of `aggregates` about `centers`, which ranks may share.
    pub(super) fn zeros(
        kernels: &Arc<K::Levels<R>>,
        backend: &Cuda<R>,
        joints: &Joints,
        aggregates: &Arc<Grouping>,
        centers: &[[f64; DIM]],
        shared: Option<SharedLevel<'a, R>>,
    ) -> Result<Self, BackendError> {
        let (device, size) = (backend.device(), K::MODES * K::MODES);
        // A level of one aggregate has no block off the diagonal, and an array on the device an entry.
        let (n, n_blocks) = (aggregates.n_aggregates, joints.columns.len());

        let (of_blocks, arms) = match K::MODES {
            1 => (Vec::new(), arms(&[], &[], centers)),
            _ => {
                let of_blocks = joints.rows_of_blocks();
                let arms = arms(&of_blocks, &joints.columns, centers);
                (of_blocks, arms)
            }
        };

        Ok(Self {
            kernels: kernels.clone(),
            rows: Rows {
                n,
                n_blocks,
                offsets: device.upload(&joints.row_offsets)?,
                columns: device.upload_list(&joints.columns)?,
                of_blocks: device.upload_list(&of_blocks)?,
                arms: device.upload(&arms)?,
            },
            blocks: backend.zeros(Space::level(n_blocks.max(1), size))?,
            ground: backend.zeros(Space::level(n, size))?,
            diagonal: device.zeros(size * n)?,
            inverse: InverseBlocks::zeros(kernels, backend, Space::level(n, K::MODES), size)?,
            aggregates: aggregates.clone(),
            shared: SharedRows::new(shared, joints),
        })
    }

    /// Makes the blocks on the diagonal of the others and the ground, which have changed, after
    /// those that other ranks make.
    pub(super) fn complete(&mut self) {
        self.shared.complete_matrix(&mut self.blocks, &mut self.ground);
        self.kernels.clone().complete(self);
        self.shared.refresh_diagonal(&mut self.inverse.values);
    }

    /// Writes the matrix as a dense one scaled to a diagonal of 1, `[n][n]`, and the scale, `[n]`.
    pub(super) fn fill_dense(&self, scale: &mut CudaSlice<f64>, dense: &mut CudaSlice<f64>) {
        self.kernels.fill_dense(self, self.space().len(), scale, dense);
    }
}

/// Arm of every block from its row to its column, and a number to fill up; one at least.
fn arms<R: Real>(rows: &[u32], columns: &[u32], centers: &[[f64; DIM]]) -> Vec<[R; 4]> {
    let arm = |(&row, &column): (&u32, &u32)| {
        let [from, to] = [row, column].map(|point| centers[point as usize]);
        let [x, y, z] = std::array::from_fn(|i| R::from_f64(to[i] - from[i]));
        [x, y, z, R::from_f64(0.0)]
    };
    let arms: Vec<_> = rows.par_iter().zip(columns).map(arm).collect();
    if arms.is_empty() { vec![[R::from_f64(0.0); 4]] } else { arms }
}

impl<R: Real, K: DeviceKernel<N>, const N: usize> LinearOperator<Cuda<R>>
    for CoarseMatrix<'_, R, K, N>
{
    fn space(&self) -> Space {
        Space::level(self.rows.n, K::MODES)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let own = self.shared.own();
        if !own.is_empty() {
            self.kernels.product(self, own, x, y);
        }
        self.shared.refresh(y);
    }

    fn cost(&self) -> Cost {
        let (blocks, rows) = (self.rows.n_blocks as f64, self.rows.n as f64);
        let (modes, real) = (K::MODES as f64, size_of::<R>() as f64);
        let size = modes * modes;
        // Columns of rows that turn move by their arms.
        let [arm, moved] = if K::MODES == 1 { [0.0, 1.0] } else { [4.0, 18.0] };
        Cost {
            bytes_read: blocks * (real * (size + arm) + 4.0) + rows * (real * (size + modes) + 4.0),
            bytes_written: rows * real * modes,
            flops: (2.0 * size + moved) * blocks + 2.0 * size * rows,
        }
    }
}
