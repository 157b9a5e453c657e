//! A coarse matrix and its inverse block diagonal, by the kernels of `cuda/bsr6.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Joints, MODES};
use topopt_linalg::{BackendError, Cost, Growth, InverseDiagonal, LinearOperator, Residual, Space};

use super::block_diagonal::how;
use super::transfer::Grouping;
use crate::kernel::{Kernel, Module};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads of a block of the kernels with a warp a row.
const BLOCK: usize = 128;
/// Threads of a block of the other kernels.
const ROW_BLOCK: usize = 96;
/// Numbers of a block.
const SIZE: usize = MODES * MODES;

/// Where the blocks off the diagonal stand.
pub(super) struct Rows {
    pub n_rows: usize,
    pub n_blocks: usize,
    /// \[n_rows + 1\].
    pub offsets: CudaSlice<u32>,
    /// Ascending in a row, \[n_blocks\].
    pub columns: CudaSlice<u32>,
}

/// The kernels of all coarse matrices.
pub(super) struct MatrixKernels {
    product: Kernel,
    diagonal: Kernel,
    invert: Kernel,
    apply: Kernel,
    smooth: Kernel,
}

impl MatrixKernels {
    pub fn load<R: Real>(device: &Arc<Device>) -> Result<Arc<Self>, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/bsr6.f64.ptx"),
            include_str!("../../../../cuda/ptx/bsr6.f32.ptx"),
        );
        let module = Module::load(device, "bsr6", ptx)?;
        Ok(Arc::new(Self {
            product: module.kernel("bsr6", BLOCK as u32)?,
            diagonal: module.kernel("diagonal6", BLOCK as u32)?,
            invert: module.kernel("invert_diagonal6", ROW_BLOCK as u32)?,
            apply: module.kernel("apply_diagonal6", ROW_BLOCK as u32)?,
            smooth: module.kernel("smooth_diagonal6", ROW_BLOCK as u32)?,
        }))
    }
}

/// A matrix of 6x6 blocks; vectors are \[row\]\[6\].
pub(super) struct CoarseMatrix<R: Real> {
    kernels: Arc<MatrixKernels>,
    pub rows: Rows,
    /// Off the diagonal, \[n_blocks\]\[36\], as `cuda/common/blocks.cuh` has them.
    pub blocks: CudaSlice<R>,
    /// The place of every block's column from its row, \[n_blocks\]\[4\].
    arms: CudaSlice<R>,
    /// Forces on a row when all move rigidly with it, \[n_rows\]\[column\]\[row\].
    pub ground: CudaSlice<R>,
    /// \[n_rows\]\[column\]\[row\].
    pub diagonal: CudaSlice<f64>,
    /// Whose motions the unknowns are.
    aggregates: Arc<Grouping>,
}

impl<R: Real> CoarseMatrix<R> {
    /// A matrix of zeros, for the motions of `aggregates` about `centers`.
    pub fn zeros(
        kernels: &Arc<MatrixKernels>,
        device: &Device,
        joints: &Joints,
        aggregates: &Arc<Grouping>,
        centers: &[[f64; DIM]],
    ) -> Result<Self, BackendError> {
        let (n_rows, n_blocks) = (aggregates.n_aggregates, joints.columns.len());
        let rows = Rows {
            n_rows,
            n_blocks,
            offsets: device.upload(&joints.row_offsets)?,
            columns: device.upload(&joints.columns)?,
        };
        Ok(Self {
            kernels: kernels.clone(),
            rows,
            blocks: device.zeros(SIZE * n_blocks)?,
            arms: device.upload(&arms(joints, centers))?,
            ground: device.zeros(SIZE * n_rows)?,
            diagonal: device.zeros(SIZE * n_rows)?,
            aggregates: aggregates.clone(),
        })
    }

    /// Makes the blocks on the diagonal of the others and the ground, which have changed.
    pub fn complete(&mut self) {
        let rows = &self.rows;
        launch!(self.kernels.diagonal, rows.n_rows.div_ceil(BLOCK / 32);
            &(rows.n_rows as u32), &rows.offsets, &rows.columns, &self.blocks, &self.ground,
            &self.aggregates.centers, &mut self.diagonal);
    }
}

/// Arm of every block, and a number to fill up.
fn arms<R: Real>(joints: &Joints, centers: &[[f64; DIM]]) -> Vec<R> {
    let arm = |(row, &column): (u32, &u32)| {
        let [from, to] = [row, column].map(|point| centers[point as usize]);
        let [x, y, z] = std::array::from_fn(|i| R::from_f64(to[i] - from[i]));
        [x, y, z, R::from_f64(0.0)]
    };
    joints.rows_of_blocks().into_iter().zip(&joints.columns).flat_map(arm).collect()
}

impl<R: Real> LinearOperator<Cuda<R>> for CoarseMatrix<R> {
    fn space(&self) -> Space {
        Space::level(self.rows.n_rows, MODES)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let rows = &self.rows;
        launch!(self.kernels.product, rows.n_rows.div_ceil(BLOCK / 32);
            &(rows.n_rows as u32), &rows.offsets, &rows.columns, &self.blocks, &self.arms,
            &self.ground, &x.values, &mut y.values);
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
    kernels: Arc<MatrixKernels>,
    n_rows: usize,
    /// \[n_rows\]\[6\]\[6\].
    blocks: CudaSlice<R>,
}

impl<R: Real> InverseBlocks6<R> {
    /// Needs an update before use.
    pub fn new(device: &Device, matrix: &CoarseMatrix<R>) -> Result<Self, BackendError> {
        let n_rows = matrix.rows.n_rows;
        let blocks = device.zeros(SIZE * n_rows)?;
        Ok(Self { kernels: matrix.kernels.clone(), n_rows, blocks })
    }

    /// Follows `matrix`.
    pub fn update(&mut self, matrix: &CoarseMatrix<R>) {
        launch!(self.kernels.invert, self.n_rows.div_ceil(ROW_BLOCK);
            &(self.n_rows as u32), &matrix.diagonal, &mut self.blocks);
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for InverseBlocks6<R> {
    fn space(&self) -> Space {
        Space::level(self.n_rows, MODES)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        launch!(self.kernels.apply, (MODES * self.n_rows).div_ceil(ROW_BLOCK);
            &(self.n_rows as u32), &self.blocks, &x.values, &mut y.values);
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
        launch!(self.kernels.smooth, (MODES * self.n_rows).div_ceil(ROW_BLOCK);
            &(self.n_rows as u32), &how, &alpha, &beta, growth.result.values(),
            &growth.result.index(), &growth.start.index(), &self.blocks, &b.values, &product.values,
            &mut r.values, &mut d.values, &mut x.values);
    }
}
