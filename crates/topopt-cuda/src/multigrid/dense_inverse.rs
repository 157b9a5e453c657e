//! The inverse of the coarsest matrix, by the kernels of `cuda/dense.cu` and `cuda/dense_solve.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use crate::Device;
use crate::kernel::Grid::{Blocks, Threads};
use crate::kernels;
use crate::vector::{DeviceVector, Real};

/// Rows of a pivot.
const PIVOT: usize = defined!("dense.cu", "PIVOT");
/// Columns that a block of panels makes, and rows and columns of a tile.
const TILE: usize = defined!("dense.cu", "TILE");
/// Threads that make a row of a product.
const WARP: usize = 32;

/// x = A^-1 b by a dense inverse in double precision.
pub(super) struct DenseInverse<R> {
    n: usize,
    kernels: kernels::Dense,
    solving: kernels::DenseSolve<R>,
    /// A^-1 = scale inverse scale, `[n]`.
    scale: CudaSlice<f64>,
    /// The rows of the pivot of a step, `[PIVOT][n]`.
    panel: CudaSlice<f64>,
    /// The inverse of the pivot times that.
    scaled_panel: CudaSlice<f64>,
    /// The scaled inverse, `[n][n]`.
    matrix: CudaSlice<f64>,
}

impl<R: Real> DenseInverse<R> {
    /// The inverse of a matrix of `n` unknowns; needs an update before use.
    pub fn new(device: &Arc<Device>, n: usize) -> Result<Self, BackendError> {
        Ok(Self {
            n,
            kernels: kernels::Dense::load(device)?,
            solving: kernels::DenseSolve::load(device)?,
            scale: device.zeros(n)?,
            panel: device.zeros(PIVOT * n)?,
            scaled_panel: device.zeros(PIVOT * n)?,
            matrix: device.zeros(n * n)?,
        })
    }

    /// Follows the matrix that `fill` writes as a dense one scaled to a diagonal of 1, `[n][n]`,
    /// after the scale, `[n]`.
    pub fn update(&mut self, fill: impl FnOnce(&mut CudaSlice<f64>, &mut CudaSlice<f64>)) {
        let Self { n, scale, panel, scaled_panel, matrix: inverse, .. } = self;
        let (n, tiles) = (*n, n.div_ceil(TILE));
        fill(scale, inverse);

        // Of a symmetric matrix it is enough to sweep the tiles on or below the diagonal.
        for first in (0..n as u32).step_by(PIVOT) {
            let (panel, scaled_panel) = (&mut *panel, &mut *scaled_panel);
            self.kernels.dense_panel(
                Blocks(tiles),
                n,
                first,
                &*inverse,
                &mut *panel,
                &mut *scaled_panel,
            );
            let grid = Blocks(tiles * (tiles + 1) / 2);
            self.kernels.dense_eliminate(grid, n, first, &*panel, &*scaled_panel, &mut *inverse);
        }
    }

    /// x = A^-1 b.
    pub fn solve(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        self.solving.dense_solve(Threads(WARP * self.n), self.n, &self.matrix, &self.scale, b, x);
    }
}
