//! A coarse matrix and its inverse block diagonal, by the kernels of `cuda/bsr6.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::{DIM, Joints, MODES};
use topopt_linalg::{
    Backend, BackendError, Cost, Growth, InverseDiagonal, LinearOperator, Residual, Space,
};

use super::block_diagonal::how;
use super::shared_rows::{SharedLevel, SharedRows};
use super::transfer::Grouping;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Numbers of a block.
const SIZE: usize = defined!("common/blocks.cuh", "SIZE");
/// Threads that make a row of a product or a diagonal.
const WARP: usize = 32;

const _: () = assert!(SIZE == MODES * MODES && MODES == defined!("common/rigid.cuh", "MODES"));

/// Positions of the blocks off the diagonal, in compressed rows.
pub(super) struct Rows {
    pub n_rows: usize,
    pub n_blocks: usize,
    /// \[n_rows + 1\].
    pub offsets: CudaSlice<u32>,
    /// Ascending in a row, \[n_blocks\].
    pub columns: CudaSlice<u32>,
}

impl Rows {
    pub fn new(device: &Device, joints: &Joints) -> Result<Self, BackendError> {
        Ok(Self {
            n_rows: joints.row_offsets.len() - 1,
            n_blocks: joints.columns.len(),
            offsets: device.upload(&joints.row_offsets)?,
            columns: device.upload_list(&joints.columns)?,
        })
    }
}

/// A matrix of 6x6 blocks; vectors are \[row\]\[6\].
pub(super) struct CoarseMatrix<'a, R: Real> {
    kernels: Arc<kernels::Bsr6<R>>,
    pub rows: Rows,
    /// Off the diagonal, \[n_blocks\]\[36\], as `cuda/common/blocks.cuh` has them.
    pub blocks: DeviceVector<R>,
    /// The place of every block's column from its row, and a number to fill up, \[n_blocks\].
    arms: CudaSlice<[R; 4]>,
    /// Forces on a row when all move rigidly with it, \[n_rows\]\[column\]\[row\].
    pub ground: DeviceVector<R>,
    /// \[n_rows\]\[column\]\[row\].
    pub diagonal: CudaSlice<f64>,
    /// Whose motions the unknowns are.
    aggregates: Arc<Grouping>,
    /// Exchange of the matrix with other ranks.
    shared: SharedRows<'a, R>,
}

impl<'a, R: Real> CoarseMatrix<'a, R> {
    /// A matrix of zeros, for the motions of `aggregates` about `centers`, which ranks may share.
    pub fn zeros(
        kernels: &Arc<kernels::Bsr6<R>>,
        backend: &Cuda<R>,
        joints: &Joints,
        aggregates: &Arc<Grouping>,
        centers: &[[f64; DIM]],
        shared: Option<SharedLevel<'a, R>>,
    ) -> Result<Self, BackendError> {
        let device = backend.device();
        // A level of one aggregate has no block off the diagonal, and an array on the device an entry.
        let (n_rows, n_blocks) = (aggregates.n_aggregates, joints.columns.len().max(1));
        Ok(Self {
            kernels: kernels.clone(),
            rows: Rows::new(device, joints)?,
            blocks: backend.zeros(Space::level(n_blocks, SIZE))?,
            arms: device.upload(&arms(joints, centers))?,
            ground: backend.zeros(Space::level(n_rows, SIZE))?,
            diagonal: device.zeros(SIZE * n_rows)?,
            aggregates: aggregates.clone(),
            shared: SharedRows::new(shared, joints),
        })
    }

    /// Makes the blocks on the diagonal of the others and the ground, which have changed, after those that
    /// other ranks make.
    pub fn complete(&mut self) {
        self.shared.complete_matrix(&mut self.blocks, &mut self.ground);
        let rows = &self.rows;
        let (offsets, columns, blocks) = (&rows.offsets, &rows.columns, &self.blocks);
        let (grid, centers) = (Threads(WARP * rows.n_rows), &self.aggregates.centers);
        let (ground, diagonal) = (&self.ground, &mut self.diagonal);
        self.kernels.diagonal6(
            grid,
            rows.n_rows,
            offsets,
            columns,
            blocks,
            ground,
            centers,
            diagonal,
        );
    }
}

/// Arm of every block, and a number to fill up.
fn arms<R: Real>(joints: &Joints, centers: &[[f64; DIM]]) -> Vec<[R; 4]> {
    let arm = |(row, &column): (u32, &u32)| {
        let [from, to] = [row, column].map(|point| centers[point as usize]);
        let [x, y, z] = std::array::from_fn(|i| R::from_f64(to[i] - from[i]));
        [x, y, z, R::from_f64(0.0)]
    };
    let mut arms: Vec<_> =
        joints.rows_of_blocks().into_par_iter().zip(&joints.columns).map(arm).collect();
    if arms.is_empty() {
        arms.push([R::from_f64(0.0); 4]);
    }
    arms
}

impl<R: Real> LinearOperator<Cuda<R>> for CoarseMatrix<'_, R> {
    fn space(&self) -> Space {
        Space::level(self.rows.n_rows, MODES)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let rows = &self.rows;
        let (offsets, columns, blocks) = (&rows.offsets, &rows.columns, &self.blocks);
        let own = self.shared.own();
        let (grid, arms, ground) = (Threads(WARP * own.len()), &self.arms, &self.ground);
        let (first, end) = (own.start, own.end);
        if first < end {
            self.kernels.bsr6(grid, first, end, offsets, columns, blocks, arms, ground, x, &mut *y);
        }
        self.shared.refresh(y);
    }

    fn cost(&self) -> Cost {
        let (blocks, rows) = (self.rows.n_blocks as f64, self.rows.n_rows as f64);
        let (size, real) = (SIZE as f64, size_of::<R>() as f64);
        Cost {
            bytes_read: blocks * (real * (size + 4.0) + 4.0) + rows * real * (size + 6.0),
            bytes_written: rows * real * 6.0,
            flops: 90.0 * blocks + 72.0 * rows,
        }
    }
}

/// The inverse of the blocks on the diagonal of a coarse matrix.
pub(super) struct InverseBlocks6<R> {
    kernels: Arc<kernels::Bsr6<R>>,
    n_rows: usize,
    /// \[n_rows\]\[6\]\[6\].
    blocks: DeviceVector<R>,
}

impl<R: Real> InverseBlocks6<R> {
    /// Needs an update before use.
    pub fn new(backend: &Cuda<R>, matrix: &CoarseMatrix<'_, R>) -> Result<Self, BackendError> {
        let n_rows = matrix.rows.n_rows;
        let blocks = backend.zeros(Space::level(n_rows, SIZE))?;
        Ok(Self { kernels: matrix.kernels.clone(), n_rows, blocks })
    }

    /// Follows `matrix`.
    pub fn update(&mut self, matrix: &CoarseMatrix<'_, R>) {
        let (n, blocks) = (self.n_rows, &mut self.blocks);
        self.kernels.invert_diagonal6(Threads(n), n, &matrix.diagonal, &mut *blocks);
        matrix.shared.refresh_diagonal(blocks);
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for InverseBlocks6<R> {
    fn space(&self) -> Space {
        Space::level(self.n_rows, MODES)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = self.n_rows;
        self.kernels.apply_diagonal6(Threads(MODES * n), n, &self.blocks, x, y);
    }

    fn cost(&self) -> Cost {
        let (n, real) = (self.dimension() as f64, size_of::<R>() as f64);
        let size = MODES as f64;
        Cost { bytes_read: (size + 1.0) * real * n, bytes_written: real * n, flops: 2.0 * size * n }
    }
}

impl<R: Real> InverseDiagonal<Cuda<R>> for InverseBlocks6<R> {
    fn smooth(
        &self,
        residual: Residual<DeviceVector<R>>,
        [alpha, beta]: [f64; 2],
        growth: &Growth<Scalar>,
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        let (how, b, product) = how(residual);
        let (result, start) = (growth.result.index(), growth.start.index());
        let (scalars, blocks) = (growth.result.values(), &self.blocks);
        self.kernels.smooth_diagonal6(
            Threads(MODES * self.n_rows),
            self.n_rows,
            how,
            alpha,
            beta,
            scalars,
            result,
            start,
            blocks,
            b,
            product,
            r,
            d,
            x,
        );
    }
}
