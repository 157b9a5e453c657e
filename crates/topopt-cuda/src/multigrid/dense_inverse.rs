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
/// Columns that a block of panels makes, and rows and columns of a tile.
const TILE: usize = 64;
/// Threads of a block of `cuda/dense.cu`.
const TILE_BLOCK: u32 = 256;

/// x = A^-1 b by a dense inverse in double precision.
pub(super) struct DenseInverse {
    n: usize,
    scale_kernel: Kernel,
    fill: Kernel,
    make_panel: Kernel,
    eliminate: Kernel,
    solve: Kernel,
    /// A^-1 = scale inverse scale, \[n\].
    scale: CudaSlice<f64>,
    /// The rows of the pivot of a step, \[PIVOT\]\[n\].
    panel: CudaSlice<f64>,
    /// The inverse of the pivot times that.
    scaled_panel: CudaSlice<f64>,
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
            make_panel: module.kernel("dense_panel", TILE_BLOCK)?,
            eliminate: module.kernel("dense_eliminate", TILE_BLOCK)?,
            solve: Module::load(device, "dense_solve", solve)?
                .kernel("dense_solve", BLOCK as u32)?,
            scale: device.zeros(n)?,
            panel: device.zeros(PIVOT * n)?,
            scaled_panel: device.zeros(PIVOT * n)?,
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
        let tiles = n.div_ceil(TILE);
        for first in (0..n).step_by(PIVOT) {
            let (size, first) = (n as u32, first as u32);
            launch!(self.make_panel, tiles;
                &size, &first, &self.matrix, &mut self.panel, &mut self.scaled_panel);
            launch!(self.eliminate, tiles * (tiles + 1) / 2;
                &size, &first, &self.panel, &self.scaled_panel, &mut self.matrix);
        }
    }

    /// x = A^-1 b.
    pub fn solve<R: Real>(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        launch!(self.solve, self.n.div_ceil(BLOCK / 32);
            &(self.n as u32), &self.matrix, &self.scale, &b.values, &mut x.values);
    }
}
