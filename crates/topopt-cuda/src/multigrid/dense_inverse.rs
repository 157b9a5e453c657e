//! The inverse of the coarsest matrix, by the kernels of `cuda/dense_fill.cu`,
//! `cuda/dense.cu` and `cuda/dense_solve.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::MODES;
use topopt_linalg::BackendError;

use super::coarse_matrix::CoarseMatrix;
use crate::Device;
use crate::kernel::{Kernel, Module};
use crate::vector::{DeviceVector, Real};

/// Threads of a block.
const BLOCK: usize = 128;
/// Rows of a pivot.
const PIVOT: usize = 24;
/// Columns of a block that eliminates.
const STRIP: usize = 32;

/// x = A^-1 b by a dense inverse in double precision.
pub(super) struct DenseInverse {
    n: usize,
    scale_kernel: Kernel,
    fill: Kernel,
    invert_pivot: Kernel,
    eliminate: Kernel,
    solve: Kernel,
    /// A^-1 = scale inverse scale, \[n\].
    scale: CudaSlice<f64>,
    /// The inverse of the pivot of a step, \[PIVOT\]\[PIVOT\].
    pivot: CudaSlice<f64>,
    /// The scaled inverse, and what the elimination works on beside it, \[n\]\[n\].
    matrices: [CudaSlice<f64>; 2],
}

impl DenseInverse {
    /// For matrices of `n_rows` block rows; needs an update before use.
    pub fn new<R: Real>(device: &Arc<Device>, n_rows: usize) -> Result<Self, BackendError> {
        let ptx = include_str!("../../../../cuda/ptx/dense.f64.ptx");
        let module = Module::load(device, "dense", ptx)?;
        let solve = R::ptx(
            include_str!("../../../../cuda/ptx/dense_solve.f64.ptx"),
            include_str!("../../../../cuda/ptx/dense_solve.f32.ptx"),
        );
        let fill = R::ptx(
            include_str!("../../../../cuda/ptx/dense_fill.f64.ptx"),
            include_str!("../../../../cuda/ptx/dense_fill.f32.ptx"),
        );
        let fill = Module::load(device, "dense_fill", fill)?;
        let n = MODES * n_rows;
        Ok(Self {
            n,
            scale_kernel: fill.kernel("dense_scale", BLOCK as u32)?,
            fill: fill.kernel("dense_fill", BLOCK as u32)?,
            invert_pivot: module.kernel("dense_invert_pivot", (PIVOT * PIVOT) as u32)?,
            eliminate: module.kernel("dense_eliminate", BLOCK as u32)?,
            solve: Module::load(device, "dense_solve", solve)?
                .kernel("dense_solve", BLOCK as u32)?,
            scale: device.zeros(n)?,
            pivot: device.zeros(PIVOT * PIVOT)?,
            matrices: [device.zeros(n * n)?, device.zeros(n * n)?],
        })
    }

    /// Follows `matrix`.
    pub fn update<R: Real>(&mut self, matrix: &CoarseMatrix<R>) {
        let (n, rows) = (self.n, &matrix.rows);
        let [result, other] = &mut self.matrices;
        // Every step changes sides; the last ends in `result`.
        let is_odd = n.div_ceil(PIVOT) % 2 == 1;
        let (mut current, mut next) = if is_odd { (other, result) } else { (result, other) };
        launch!(self.scale_kernel, n.div_ceil(BLOCK);
            &(n as u32), &matrix.diagonal, &mut self.scale);
        launch!(self.fill, (n * n).div_ceil(BLOCK);
            &(n as u32), &rows.offsets, &rows.columns, &matrix.blocks, &matrix.joints,
            &matrix.diagonal, &matrix.length, &self.scale, &mut *current);
        for first in (0..n).step_by(PIVOT) {
            launch!(self.invert_pivot, 1;
                &(n as u32), &(first as u32), &*current, &mut self.pivot);
            launch!(self.eliminate, n.div_ceil(PIVOT) * n.div_ceil(STRIP);
                &(n as u32), &(first as u32), &self.pivot, &*current, &mut *next);
            std::mem::swap(&mut current, &mut next);
        }
    }

    /// x = A^-1 b.
    pub fn solve<R: Real>(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        launch!(self.solve, self.n.div_ceil(BLOCK / 32);
            &(self.n as u32), &self.matrices[0], &self.scale, &b.values, &mut x.values);
    }
}
