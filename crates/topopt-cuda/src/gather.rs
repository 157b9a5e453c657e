//! Sparse matrices between spaces on the device, by `cuda/gather.cu`.

use cudarc::driver::CudaSlice;
use topopt_linalg::{Backend, BackendError, Cascade, Csr, Gather, Levels, Space};

use crate::cascade::DeviceCascade;
use crate::kernel::Grid::Threads;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, kernels};

/// A sparse matrix on the device.
pub struct DeviceMap<R> {
    kernels: kernels::Gather<R>,
    n: usize,
    /// Lists as in [`Csr`], with an entry at least.
    starts: CudaSlice<u32>,
    columns: CudaSlice<u32>,
    values: CudaSlice<f64>,
}

impl<R: Real> Gather for Cuda<R> {
    type Map = DeviceMap<R>;

    fn map(&self, rows: &Csr, [_, to]: [Space; 2]) -> Result<DeviceMap<R>, BackendError> {
        debug_assert_eq!(rows.n_rows(), to.len());
        let device = self.device();
        let starts: Result<Vec<u32>, _> = rows.starts.iter().map(|&at| at.try_into()).collect();
        let starts = starts.map_err(|_| {
            let n = rows.columns.len();
            let message = format!("{n} entries are more than 32 bits can number");
            BackendError { device: self.name(), operation: "map".into(), message }
        })?;
        let values = if rows.values.is_empty() { &[0.0] } else { &rows.values[..] };
        Ok(DeviceMap {
            kernels: kernels::Gather::load(device)?,
            n: rows.n_rows(),
            starts: device.upload(&starts)?,
            columns: device.upload_list(&rows.columns)?,
            values: device.upload(values)?,
        })
    }

    fn gather(&self, map: &mut DeviceMap<R>, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let DeviceMap { kernels, n, starts, columns, values } = &*map;
        if *n > 0 {
            kernels.gather(Threads(*n), *n, starts, columns, values, x, y);
        }
    }

    fn cascade(&self, levels: &Levels) -> Result<Option<Box<dyn Cascade<Self>>>, BackendError> {
        let cascade = DeviceCascade::new(self, levels)?;
        Ok(cascade.map(|cascade| Box::new(cascade) as Box<dyn Cascade<Self>>))
    }
}
