//! A coarse matrix and its inverse block diagonal, by the kernels of `cuda/bsr6.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::MODES;
use topopt_linalg::{BackendError, BlockPattern, Cost, InverseDiagonal, LinearOperator, Residual};

use super::block_diagonal::how;
use super::convert::Convert;
use super::transfer::Grouping;
use crate::kernel::{Kernel, Module};
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads of a block of the product, a warp a row.
const BLOCK: usize = 128;
/// Threads of a block of the other kernels.
const ROW_BLOCK: usize = 96;
/// Numbers of a block.
const SIZE: usize = MODES * MODES;

/// Where the blocks stand.
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
    ground: Kernel,
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
            ground: module.kernel("ground6", ROW_BLOCK as u32)?,
            invert: module.kernel("invert_diagonal6", ROW_BLOCK as u32)?,
            apply: module.kernel("apply_diagonal6", ROW_BLOCK as u32)?,
            smooth: module.kernel("smooth_diagonal6", ROW_BLOCK as u32)?,
        }))
    }
}

/// A matrix of 6x6 blocks; vectors are \[row\]\[6\].
pub(super) struct CoarseMatrix<R> {
    kernels: Arc<MatrixKernels>,
    pub rows: Rows,
    /// In double precision, as the levels below are made of it, \[n_blocks\]\[column\]\[row\].
    pub numbers: CudaSlice<f64>,
    /// What products read, \[n_blocks\]\[column\]\[row\].
    values: CudaSlice<R>,
    /// Whose motions the unknowns are.
    aggregates: Arc<Grouping>,
}

impl<R: Real> CoarseMatrix<R> {
    /// A matrix of zeros.
    pub fn zeros(
        kernels: &Arc<MatrixKernels>,
        device: &Device,
        pattern: &BlockPattern,
        aggregates: &Arc<Grouping>,
    ) -> Result<Self, BackendError> {
        let offsets: Vec<u32> = pattern.offsets().iter().map(|&k| k as u32).collect();
        let (n_rows, n_blocks) = (pattern.n_rows(), pattern.n_blocks());
        let rows = Rows {
            n_rows,
            n_blocks,
            offsets: device.upload(&offsets)?,
            columns: device.upload(pattern.columns())?,
        };
        Ok(Self {
            kernels: kernels.clone(),
            rows,
            numbers: device.zeros(SIZE * n_blocks)?,
            values: device.zeros(SIZE * n_blocks)?,
            aggregates: aggregates.clone(),
        })
    }

    /// Takes `numbers`, which have changed, for products.
    pub fn round(&mut self, convert: &Convert<R>) {
        convert.narrow(&self.numbers, &mut self.values);
        let rows = &self.rows;
        launch!(self.kernels.ground, (MODES * rows.n_rows).div_ceil(ROW_BLOCK);
            &(rows.n_rows as u32), &rows.offsets, &rows.columns, &self.numbers,
            &self.aggregates.centres, &mut self.values);
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for CoarseMatrix<R> {
    fn dimension(&self) -> usize {
        MODES * self.rows.n_rows
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let rows = &self.rows;
        launch!(self.kernels.product, rows.n_rows.div_ceil(BLOCK / 32);
            &(rows.n_rows as u32), &rows.offsets, &rows.columns, &self.values,
            &self.aggregates.centres, &x.values, &mut y.values);
    }

    fn cost(&self) -> Cost {
        let (blocks, n) = (self.rows.n_blocks as f64, self.dimension() as f64);
        let (size, real) = (SIZE as f64, size_of::<R>() as f64);
        Cost {
            bytes_read: blocks * (real * size + 28.0) + real * n,
            bytes_written: real * n,
            flops: 90.0 * blocks,
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

    /// Follows the numbers of `matrix`.
    pub fn update(&mut self, matrix: &CoarseMatrix<R>) {
        let rows = &matrix.rows;
        launch!(self.kernels.invert, self.n_rows.div_ceil(ROW_BLOCK);
            &(self.n_rows as u32), &rows.offsets, &rows.columns, &matrix.numbers,
            &mut self.blocks);
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for InverseBlocks6<R> {
    fn dimension(&self) -> usize {
        MODES * self.n_rows
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
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        let (how, b, product) = how(residual);
        launch!(self.kernels.smooth, (MODES * self.n_rows).div_ceil(ROW_BLOCK);
            &(self.n_rows as u32), &how, &alpha, &beta, &self.blocks, &b.values, &product.values,
            &mut r.values, &mut d.values, &mut x.values);
    }
}
