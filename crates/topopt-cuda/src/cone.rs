//! The cone-weighted sum over neighbors that filters are made of, on the device.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{BackendError, Cost, LinearOperator, Space};
use topopt_mesh::CellList;

use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::{DeviceVector, to_planes};
use crate::{Cuda, Device};

/// Centers whose neighbors are counted for [`Cone::mean_neighbors`].
const SAMPLE: usize = 4096;

/// y_e = sum_i H_ei x_i with H_ei = max(0, R - |c_e - c_i|) [Ratnakar2022, Eq. 2.6-2.7].
///
/// Neighbors are found by walking a cell list in every application; nothing of their number is
/// stored.
pub struct Cone {
    kernels: kernels::Cone,
    radius: f64,
    /// Cells in each direction, edge of a cell, lowest corner, as in [`CellList`].
    cells: [u32; 3],
    cell_size: f64,
    origin: [f64; 3],
    /// `[n_cells + 1]`.
    starts: CudaSlice<u32>,
    /// `[3][n_elements]`, cell by cell.
    centers: CudaSlice<f64>,
    /// `[n_elements]`, whose center it is.
    elements: CudaSlice<u32>,
    /// Values to sum, cell by cell.
    values: CudaSlice<f64>,
    mean_neighbors: f64,
    /// Points in the cells walked for an element, on average.
    mean_walked: f64,
}

impl Cone {
    /// The filter for element centers, `[n_elements][3]`, and radius R > 0 (length).
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or the kernel cannot be loaded.
    pub fn new(
        device: &Arc<Device>,
        centers: &[[f64; 3]],
        radius: f64,
    ) -> Result<Self, BackendError> {
        let list = CellList::new(centers, radius);
        let (mean_neighbors, mean_walked) = means(&list);
        Ok(Self {
            kernels: kernels::Cone::load(device)?,
            radius,
            cells: list.cells().map(|n| n as u32),
            cell_size: list.cell_size(),
            origin: list.origin(),
            starts: device.upload(list.starts())?,
            centers: device.upload(&to_planes::<f64>(list.points().as_flattened(), 3))?,
            elements: device.upload(list.ids())?,
            values: device.zeros(centers.len())?,
            mean_neighbors,
            mean_walked,
        })
    }

    /// Bytes on the device for the centers of `n_elements` in a box with edges `extent`.
    pub fn bytes(extent: [f64; 3], radius: f64, n_elements: usize) -> usize {
        // Center, number and value of an element, where a cell begins.
        (24 + 4 + 8) * n_elements + 4 * (CellList::n_cells(extent, radius, n_elements) + 1)
    }

    /// Mean number of neighbors per element, itself included, counted on a sample.
    pub fn mean_neighbors(&self) -> f64 {
        self.mean_neighbors
    }
}

impl Averaging<Cuda<f64>> for Cone {
    fn space(&self) -> Space {
        LinearOperator::space(self)
    }

    fn apply(
        &self,
        x: &DeviceVector<f64>,
        y: &mut DeviceVector<f64>,
    ) -> Result<(), AveragingError> {
        LinearOperator::apply(self, x, y);
        Ok(())
    }
}

impl LinearOperator<Cuda<f64>> for Cone {
    fn space(&self) -> Space {
        Space::elements(self.elements.len())
    }

    fn apply(&self, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let n = self.elements.len();
        let ([nx, ny, nz], [ox, oy, oz]) = (self.cells, self.origin);
        let reach = self.radius * (1.0 + 1e-12);
        let (starts, centers, elements) = (&self.starts, &self.centers, &self.elements);
        self.kernels.cone_values(Threads(n), n, elements, x, &self.values);
        self.kernels.cone(
            Threads(n),
            n,
            nx,
            ny,
            nz,
            self.cell_size,
            ox,
            oy,
            oz,
            starts,
            centers,
            elements,
            self.radius,
            reach,
            &self.values,
            y,
        );
    }

    fn cost(&self) -> Cost {
        let n = self.elements.len() as f64;
        Cost {
            bytes_read: n * (24.0 + 8.0 + 16.0) + 4.0 * self.starts.len() as f64,
            bytes_written: 16.0 * n,
            flops: 13.0 * n * self.mean_walked,
        }
    }
}

/// Neighbors of a point, and points in the cells walked for it, on average over a sample.
fn means(list: &CellList) -> (f64, f64) {
    let stride = list.points().len().div_ceil(SAMPLE).max(1);
    let (mut pairs, mut walked, mut centers) = (0, 0, 0_usize);
    for &center in list.points().iter().step_by(stride) {
        walked += list.for_each_within(center, |_, _| pairs += 1);
        centers += 1;
    }
    let mean = |sum: usize| sum as f64 / centers.max(1) as f64;
    (mean(pairs), mean(walked))
}
