//! Matrices of full blocks and smoothed prolongations, by the kernels of `cuda/block_rows.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::tetrahedra::SmoothedTransfer;
use topopt_fem::{DIM, MODES};
use topopt_linalg::{BackendError, BlockCsr, Cost, LinearOperator, Space, Transfer};

use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads that share a row.
const WARP: usize = 32;

/// Blocks in compressed rows.
struct Rows<R> {
    n_rows: usize,
    /// \[n_rows + 1\].
    offsets: CudaSlice<u32>,
    /// \[n_blocks\].
    columns: CudaSlice<u32>,
    /// \[n_blocks\]\[column\]\[row\].
    blocks: CudaSlice<R>,
}

impl<R: Real> Rows<R> {
    /// Rows of zeros with blocks of `size` numbers.
    fn zeros(
        device: &Device,
        offsets: &[usize],
        columns: &[u32],
        size: usize,
    ) -> Result<Self, BackendError> {
        let n_rows = offsets.len() - 1;
        let offsets: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
        Ok(Self {
            n_rows,
            offsets: device.upload(&offsets)?,
            columns: device.upload(columns)?,
            blocks: device.zeros(size * columns.len())?,
        })
    }

    /// Takes the numbers of `blocks`.
    fn set<const B: usize, const M: usize>(
        &mut self,
        device: &Device,
        blocks: &[[[f64; M]; B]],
    ) -> Result<(), BackendError> {
        let columns = |block: &[[f64; M]; B]| -> [[R; B]; M] {
            std::array::from_fn(|j| std::array::from_fn(|i| R::from_f64(block[i][j])))
        };
        let blocks: Vec<[[R; B]; M]> = blocks.par_iter().map(columns).collect();
        device.overwrite(&mut self.blocks, blocks.as_flattened().as_flattened())
    }
}

/// A matrix of B x B blocks, B three or six, on the device.
pub(super) struct BlockMatrix<R> {
    kernels: Arc<kernels::BlockRows<R>>,
    unknowns: usize,
    rows: Rows<R>,
}

impl<R: Real> BlockMatrix<R> {
    /// The pattern of `on_host`; without numbers until they are set.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new<const B: usize>(
        kernels: &Arc<kernels::BlockRows<R>>,
        device: &Device,
        on_host: &BlockCsr<B>,
    ) -> Result<Self, BackendError> {
        let pattern = on_host.pattern();
        let rows = Rows::zeros(device, pattern.offsets(), pattern.columns(), B * B)?;
        Ok(Self { kernels: kernels.clone(), unknowns: B, rows })
    }

    /// Takes the numbers of `on_host`, whose pattern is the same.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn set<const B: usize>(
        &mut self,
        device: &Device,
        on_host: &BlockCsr<B>,
    ) -> Result<(), BackendError> {
        self.rows.set(device, on_host.blocks())
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for BlockMatrix<R> {
    fn space(&self) -> Space {
        Space::level(self.rows.n_rows, self.unknowns)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let Rows { n_rows, offsets, columns, blocks } = &self.rows;
        let (grid, n) = (Threads(WARP * n_rows), *n_rows);
        match self.unknowns {
            DIM => self.kernels.multiply3(grid, n, offsets, columns, blocks, x, y),
            _ => self.kernels.multiply6(grid, n, offsets, columns, blocks, x, y),
        }
    }

    fn cost(&self) -> Cost {
        let (blocks, n) = (self.rows.columns.len() as f64, self.dimension() as f64);
        let (size, real) = ((self.unknowns * self.unknowns) as f64, size_of::<R>() as f64);
        Cost {
            bytes_read: blocks * (real * size + 4.0) + real * n,
            bytes_written: real * n,
            flops: 2.0 * size * blocks,
        }
    }
}

/// [`SmoothedTransfer`] on the device, from points with three or six unknowns to aggregates with six.
pub(super) struct SmoothedOnDevice<R> {
    kernels: Arc<kernels::BlockRows<R>>,
    unknowns: usize,
    /// The prolongation P.
    rows: Rows<R>,
    n_aggregates: usize,
    /// Rows of P^T: \[n_aggregates + 1\].
    offsets: CudaSlice<u32>,
    /// Points, \[n_blocks\].
    points: CudaSlice<u32>,
    /// Places of their blocks in P, \[n_blocks\].
    places: CudaSlice<u32>,
}

impl<R: Real> SmoothedOnDevice<R> {
    /// The pattern of `on_host`; without numbers until they are set.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new<const B: usize>(
        kernels: &Arc<kernels::BlockRows<R>>,
        device: &Device,
        on_host: &SmoothedTransfer<B, MODES>,
    ) -> Result<Self, BackendError> {
        let (prolongation, transpose) = (on_host.prolongation(), on_host.transpose());
        let mut offsets = vec![0];
        offsets.extend(transpose.iter().scan(0, |end, row| {
            *end += row.len() as u32;
            Some(*end)
        }));
        let (points, places): (Vec<u32>, Vec<u32>) = transpose.iter().flatten().copied().unzip();
        let (starts, columns) = (prolongation.offsets(), prolongation.columns());
        Ok(Self {
            kernels: kernels.clone(),
            unknowns: B,
            rows: Rows::zeros(device, starts, columns, B * MODES)?,
            n_aggregates: transpose.len(),
            offsets: device.upload(&offsets)?,
            points: device.upload(&points)?,
            places: device.upload(&places)?,
        })
    }

    /// Takes the numbers of `on_host`, whose pattern is the same.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn set<const B: usize>(
        &mut self,
        device: &Device,
        on_host: &SmoothedTransfer<B, MODES>,
    ) -> Result<(), BackendError> {
        self.rows.set(device, on_host.prolongation().blocks())
    }
}

impl<R: Real> Transfer<Cuda<R>> for SmoothedOnDevice<R> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Self { kernels, n_aggregates: n, offsets, points, places, rows, .. } = self;
        let (grid, n, blocks) = (Threads(WARP * n), *n, &rows.blocks);
        match self.unknowns {
            DIM => {
                kernels.multiply_transpose3(grid, n, offsets, points, places, blocks, fine, coarse)
            }
            _ => {
                kernels.multiply_transpose6(grid, n, offsets, points, places, blocks, fine, coarse)
            }
        }
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let Rows { n_rows, offsets, columns, blocks } = &self.rows;
        let (grid, n) = (Threads(WARP * n_rows), *n_rows);
        match self.unknowns {
            DIM => self.kernels.add_product3(grid, n, offsets, columns, blocks, coarse, fine),
            _ => self.kernels.add_product6(grid, n, offsets, columns, blocks, coarse, fine),
        }
    }
}
