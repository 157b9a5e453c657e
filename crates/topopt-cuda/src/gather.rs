//! Sparse matrices between spaces on the device, by `cuda/gather.cu`.

use std::borrow::Cow;

use cudarc::driver::CudaSlice;
use topopt_linalg::{Backend, BackendError, Cascade, Csr, Gather, Levels, Space};

use crate::cascade::DeviceCascade;
use crate::flood::DeviceFlood;
use crate::kernel::Grid::Threads;
use crate::vector::{DeviceVector, Real, planes};
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

    fn map(&self, rows: &Csr, [from, to]: [Space; 2]) -> Result<DeviceMap<R>, BackendError> {
        debug_assert_eq!(rows.n_rows(), to.len());
        let device = self.device();
        let rows = &in_planes(rows, [from, to]);
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

    fn flood(
        &self,
        neighbors: &[[u32; 6]],
    ) -> Result<Option<Box<dyn Cascade<Self>>>, BackendError> {
        Ok(Some(Box::new(DeviceFlood::new(self, neighbors)?)))
    }
}

/// Rows and columns of a matrix between spaces in the order of the device, where unknowns of nodes
/// lie in planes.
fn in_planes(rows: &Csr, spaces: [Space; 2]) -> Cow<'_, Csr> {
    if spaces.iter().all(|space| planes(*space) == 1) {
        return Cow::Borrowed(rows);
    }
    let [from, to] = spaces;
    let host_row = |row: usize| planes(to) * (row % to.points) + row / to.points;
    let column_of = |entry: usize| from.points * (entry % planes(from)) + entry / planes(from);
    let mut ordered = Csr { columns: Vec::new(), values: Vec::new(), starts: vec![0] };
    for row in (0..rows.n_rows()).map(host_row) {
        for (column, value) in rows.row(row) {
            ordered.columns.push(column_of(column as usize) as u32);
            ordered.values.push(value);
        }
        ordered.starts.push(ordered.columns.len());
    }
    Cow::Owned(ordered)
}
