//! Matrices of full blocks: their numbers in double precision, made on the device, and rounded ones
//! for the kernels of `cuda/block_rows.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Sharing};
use topopt_linalg::{BackendError, BlockPattern, Cost, LinearOperator, Space};

use super::convert::Convert;
use super::groups::GroupsOnDevice;
use crate::kernel::Grid::Threads;
use crate::kernels::{self, BlocksView};
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads that share a row.
pub(super) const WARP: usize = 32;

/// Blocks in compressed rows.
pub(super) struct Rows<R> {
    pub n_rows: usize,
    /// `[n_rows + 1]`.
    pub offsets: CudaSlice<u32>,
    /// Ascending in a row, `[n_blocks]`.
    pub columns: CudaSlice<u32>,
    /// `[n_blocks][column][row]`.
    pub blocks: CudaSlice<R>,
}

impl<R: Real> Rows<R> {
    /// Rows of zeros with blocks of `size` numbers.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn zeros(
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

    /// Rows at these places with other `numbers`.
    pub fn with(&self, numbers: &CudaSlice<f64>) -> BlocksView {
        BlocksView {
            n_rows: self.n_rows.into(),
            offsets: (&self.offsets).into(),
            columns: (&self.columns).into(),
            blocks: numbers.into(),
        }
    }
}

/// A matrix of B x B blocks, B three or six.
pub(super) struct BlockMatrix<R> {
    kernels: Arc<kernels::BlockRows<R>>,
    unknowns: usize,
    rows: Rows<R>,
    /// The blocks before they are rounded.
    numbers: DeviceVector<f64>,
}

impl<R: Real> BlockMatrix<R> {
    /// A matrix of zeros with `unknowns` per row.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn zeros(
        kernels: &Arc<kernels::BlockRows<R>>,
        device: &Device,
        pattern: &BlockPattern,
        unknowns: usize,
    ) -> Result<Self, BackendError> {
        let size = unknowns * unknowns;
        Ok(Self {
            kernels: kernels.clone(),
            unknowns,
            rows: Rows::zeros(device, pattern.offsets(), pattern.columns(), size)?,
            numbers: DeviceVector {
                space: Space::level(pattern.n_blocks(), size),
                values: device.zeros(size * pattern.n_blocks())?,
            },
        })
    }

    /// Matrix in double precision.
    pub fn view(&self) -> BlocksView {
        self.rows.with(&self.numbers.values)
    }

    /// Blocks of the level in double precision, for their change.
    pub fn numbers_mut(&mut self) -> &mut CudaSlice<f64> {
        &mut self.numbers.values
    }

    /// Gives all `ranks` the rows that each has made, of so many blocks.
    pub fn share(&mut self, ranks: &dyn Sharing<'_, Cuda<f64>>, blocks: &[usize]) {
        ranks.share(blocks, &mut self.numbers);
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.n_rows
    }

    /// Takes over numbers that have changed, and recomputes the inverses of `groups`.
    pub fn finish(
        &mut self,
        convert: &Convert<R>,
        kernels: &kernels::BlockGroups,
        groups: &mut GroupsOnDevice<R>,
    ) {
        convert.narrow(&self.numbers.values, &mut self.rows.blocks);
        let matrix = self.view();
        groups.update(|grid, groups, factors| match self.unknowns {
            DIM => kernels.invert_groups3(grid, groups, matrix, factors),
            _ => kernels.invert_groups6(grid, groups, matrix, factors),
        });
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
