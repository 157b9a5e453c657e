//! Films of convection on the device: `cuda/film.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::FilmRows;
use topopt_linalg::{BackendError, Cost};

use crate::Device;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::{DeviceVector, Real, to_planes};

/// The rows of a [`FilmRows`].
pub(crate) struct Films<R> {
    kernels: kernels::Film<R>,
    nodes: CudaSlice<u32>,
    offsets: CudaSlice<u32>,
    columns: CudaSlice<u32>,
    weights: CudaSlice<R>,
    held: CudaSlice<R>,
    cost: Cost,
}

impl<R: Real> Films<R> {
    /// Uploads the matrix `rows`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or the kernel cannot be loaded.
    pub fn new(device: &Arc<Device>, rows: &FilmRows) -> Result<Self, BackendError> {
        let weights: &[f64] = if rows.weights.is_empty() { &[0.0] } else { &rows.weights };
        Ok(Self {
            kernels: kernels::Film::load(device)?,
            nodes: device.upload(&rows.nodes)?,
            offsets: device.upload(&rows.offsets)?,
            columns: device.upload_list(&rows.columns)?,
            weights: device.upload(&to_planes::<R>(weights, 1))?,
            held: device.upload(&to_planes::<R>(&rows.held, 1))?,
            cost: rows.cost(size_of::<R>() as f64),
        })
    }

    /// Adds C x to `y`.
    pub fn add(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let Self { kernels, nodes, offsets, columns, weights, held, .. } = self;
        let n = nodes.len();
        kernels.film(Threads(n), n, nodes, offsets, columns, weights, held, x, y);
    }

    /// Returns the counted cost of one product.
    pub fn cost(&self) -> Cost {
        self.cost
    }
}
