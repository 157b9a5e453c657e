//! The cone-weighted sum over neighbours that filters are made of, on the device.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_linalg::{BackendError, Cost, LinearOperator};
use topopt_mesh::CellList;

use crate::kernel::{Kernel, Module};
use crate::vector::{DeviceVector, to_planes};
use crate::{Cuda, Device};

/// Threads of a block, one an element, as `cuda/cone.cu` has it.
const BLOCK: usize = 128;
/// Centres whose neighbours are counted for [`Cone::mean_neighbours`].
const SAMPLE: usize = 4096;

/// y_e = sum_i H_ei x_i with H_ei = max(0, R - |c_e - c_i|) [Ratnakar2022, Eq. 2.6-2.7].
///
/// Neighbours are found by walking a cell list in every application; nothing of their number is
/// stored.
pub struct Cone {
    kernel: Kernel,
    radius: f64,
    /// Cells in each direction, edge of a cell, lowest corner, as in [`CellList`].
    cells: [u32; 3],
    cell_size: f64,
    origin: [f64; 3],
    /// \[n_cells + 1\].
    starts: CudaSlice<u32>,
    /// \[3\]\[n_elements\], cell by cell.
    centres: CudaSlice<f64>,
    /// \[n_elements\], whose centre it is.
    elements: CudaSlice<u32>,
    mean_neighbours: f64,
}

impl Cone {
    /// For element centres, \[n_elements\]\[3\], and radius R > 0 (length).
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or the kernel cannot be loaded.
    pub fn new(
        device: &Arc<Device>,
        centres: &[[f64; 3]],
        radius: f64,
    ) -> Result<Self, BackendError> {
        let list = CellList::new(centres, radius);
        let module = Module::load(device, "cone", include_str!("../../../cuda/ptx/cone.f64.ptx"))?;
        Ok(Self {
            kernel: module.kernel("cone", BLOCK as u32)?,
            radius,
            cells: list.cells().map(|n| n as u32),
            cell_size: list.cell_size(),
            origin: list.origin(),
            starts: device.upload(list.starts())?,
            centres: device.upload(&to_planes::<f64>(list.points().as_flattened(), 3))?,
            elements: device.upload(list.ids())?,
            mean_neighbours: mean_neighbours(&list),
        })
    }

    /// Bytes on the device for so many element centres in a box with edges `extent`.
    pub fn bytes(extent: [f64; 3], radius: f64, n_elements: usize) -> usize {
        // Centre and number of an element, where a cell begins.
        (24 + 4) * n_elements + 4 * (CellList::n_cells(extent, radius, n_elements) + 1)
    }

    /// Neighbours of an element on average, itself included, counted on a sample.
    pub fn mean_neighbours(&self) -> f64 {
        self.mean_neighbours
    }
}

impl LinearOperator<Cuda<f64>> for Cone {
    fn dimension(&self) -> usize {
        self.elements.len()
    }

    fn apply(&self, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let n = self.elements.len();
        let ([nx, ny, nz], [ox, oy, oz]) = (self.cells, self.origin);
        let reach = self.radius * (1.0 + 1e-12);
        launch!(self.kernel, n.div_ceil(BLOCK);
            &(n as u32), &nx, &ny, &nz, &self.cell_size, &ox, &oy, &oz, &self.starts,
            &self.centres, &self.elements, &self.radius, &reach, &x.values, &mut y.values);
    }

    fn cost(&self) -> Cost {
        let n = self.elements.len() as f64;
        // Of 5 x 5 x 5 cells of half the radius, as many points a volume as in the sphere.
        let walked = self.mean_neighbours * 2.5f64.powi(3) * 3.0 / (4.0 * std::f64::consts::PI);
        Cost {
            bytes_read: n * (24.0 + 4.0 + 8.0) + 4.0 * self.starts.len() as f64,
            bytes_written: 8.0 * n,
            flops: n * (9.0 * walked + 3.0 * self.mean_neighbours),
        }
    }
}

fn mean_neighbours(list: &CellList) -> f64 {
    let stride = list.points().len().div_ceil(SAMPLE).max(1);
    let (mut pairs, mut centres) = (0, 0);
    for &centre in list.points().iter().step_by(stride) {
        list.for_each_within(centre, |_, _| pairs += 1);
        centres += 1;
    }
    f64::from(pairs) / f64::from(centres.max(1))
}
