//! The inverse of the coarsest matrix, by the kernels of `cuda/dense.cu` and `cuda/dense_solve.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use super::level::{CoarseMatrix, Coarsened};
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
    /// A^-1 = scale inverse scale, \[n\].
    scale: CudaSlice<f64>,
    /// The rows of the pivot of a step, \[PIVOT\]\[n\].
    panel: CudaSlice<f64>,
    /// The inverse of the pivot times that.
    scaled_panel: CudaSlice<f64>,
    /// The scaled inverse, \[n\]\[n\].
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

    /// Follows `matrix`.
    pub fn update<K: Coarsened<N>, const N: usize>(&mut self, matrix: &CoarseMatrix<'_, R, K, N>) {
        matrix.fill_dense(&mut self.scale, &mut self.matrix);
        self.invert();
    }

    /// Follows a symmetric matrix of the host, `[n][n]`, scaled and shifted as
    /// [`DenseCholesky`](topopt_linalg::DenseCholesky) does it.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn set(&mut self, device: &Device, dense: &[f64]) -> Result<(), BackendError> {
        let n = self.n;
        let root = |i: usize| match dense[(n + 1) * i] {
            d if d > 0.0 => d.sqrt().recip(),
            _ => 1.0,
        };
        let scale: Vec<f64> = (0..n).map(root).collect();
        let entry = |k: usize| {
            let (i, j) = (k / n, k % n);
            let shift = if i == j { 1e-12 + f64::from(dense[k] <= 0.0) } else { 0.0 };
            0.5 * (dense[k] + dense[n * j + i]) * scale[i] * scale[j] + shift
        };
        let scaled: Vec<f64> = (0..n * n).map(entry).collect();
        device.overwrite(&mut self.scale, &scale)?;
        device.overwrite(&mut self.matrix, &scaled)?;
        self.invert();
        Ok(())
    }

    /// Replaces the scaled matrix by its inverse.
    fn invert(&mut self) {
        let Self { n, panel, scaled_panel, matrix: inverse, .. } = self;
        let (n, tiles) = (*n, n.div_ceil(TILE));
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
