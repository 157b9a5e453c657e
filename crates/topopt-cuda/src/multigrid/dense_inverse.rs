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
const PIVOT: usize = 48;
/// Threads of a block that eliminates, and rows and columns of its tile.
const TILE_BLOCK: usize = 256;
const TILE: usize = 64;

/// x = A^-1 b by a dense inverse in double precision.
pub(super) struct DenseInverse {
    n: usize,
    scale_kernel: Kernel,
    fill: Kernel,
    invert_pivot: Kernel,
    panels: Kernel,
    eliminate: Kernel,
    solve: Kernel,
    /// A^-1 = scale inverse scale, \[n\].
    scale: CudaSlice<f64>,
    /// The inverse of the pivot of a step, \[PIVOT\]\[PIVOT\].
    pivot: CudaSlice<f64>,
    /// The pivot's rows times that, \[PIVOT\]\[n\].
    pivot_rows: CudaSlice<f64>,
    /// \[n\]\[PIVOT\].
    pivot_columns: CudaSlice<f64>,
    /// The scaled inverse, \[n\]\[n\].
    matrix: CudaSlice<f64>,
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
            invert_pivot: module.kernel("dense_invert_pivot", (PIVOT * PIVOT / 4) as u32)?,
            panels: module.kernel("dense_panels", BLOCK as u32)?,
            eliminate: module.kernel("dense_eliminate", TILE_BLOCK as u32)?,
            solve: Module::load(device, "dense_solve", solve)?
                .kernel("dense_solve", BLOCK as u32)?,
            scale: device.zeros(n)?,
            pivot: device.zeros(PIVOT * PIVOT)?,
            pivot_rows: device.zeros(PIVOT * n)?,
            pivot_columns: device.zeros(PIVOT * n)?,
            matrix: device.zeros(n * n)?,
        })
    }

    /// Follows `matrix`.
    pub fn update<R: Real>(&mut self, matrix: &CoarseMatrix<R>) {
        let (n, rows) = (self.n, &matrix.rows);
        launch!(self.scale_kernel, n.div_ceil(BLOCK);
            &(n as u32), &matrix.diagonal, &mut self.scale);
        launch!(self.fill, (n * n).div_ceil(BLOCK);
            &(n as u32), &rows.offsets, &rows.columns, &matrix.blocks, &matrix.diagonal,
            &self.scale, &mut self.matrix);
        for first in (0..n).step_by(PIVOT) {
            let (size, first) = (n as u32, first as u32);
            launch!(self.invert_pivot, 1; &size, &first, &self.matrix, &mut self.pivot);
            launch!(self.panels, n.div_ceil(BLOCK);
                &size, &first, &self.pivot, &self.matrix, &mut self.pivot_rows,
                &mut self.pivot_columns);
            launch!(self.eliminate, n.div_ceil(TILE).pow(2);
                &size, &first, &self.pivot_rows, &self.pivot_columns, &mut self.matrix);
        }
    }

    /// x = A^-1 b.
    pub fn solve<R: Real>(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        launch!(self.solve, self.n.div_ceil(BLOCK / 32);
            &(self.n as u32), &self.matrix, &self.scale, &b.values, &mut x.values);
    }
}
