//! Maps between fields of elements and of corners: `cuda/corner_maps.cu`.

use std::sync::Arc;

use topopt_fem::{Components, CornerMaps};
use topopt_linalg::BackendError;

use super::mesh::MeshOnDevice;
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::DeviceVector;

/// The maps of a mesh on a device. On a mesh [by color](MeshOnDevice::by_color) they give the same
/// bits every time.
pub struct DeviceCorners {
    mesh: Arc<MeshOnDevice>,
    kernels: kernels::CornerMaps,
}

impl DeviceCorners {
    /// Prepares the maps of `mesh`.
    ///
    /// # Errors
    /// [`BackendError`] if the kernels cannot be loaded.
    pub fn new(mesh: &Arc<MeshOnDevice>) -> Result<Self, BackendError> {
        Ok(Self { mesh: mesh.clone(), kernels: kernels::CornerMaps::load(mesh.device())? })
    }

    fn clear(&self, y: &mut DeviceVector<f64>) {
        let device = self.mesh.device();
        device.record("clearing a nodal field", device.stream().memset_zeros(&mut y.values));
    }
}

impl CornerMaps<Cuda<f64>> for DeviceCorners {
    fn sum(&self, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        self.clear(y);
        for part in self.mesh.parts() {
            let (grid, kernels) = (Threads(part.count as usize), &self.kernels);
            match self.mesh.are_tetrahedra() {
                true => kernels.vertex_sum(grid, &self.mesh, part, x, &mut *y),
                false => kernels.corner_sum(grid, &self.mesh, part, x, &mut *y),
            }
        }
    }

    fn sum_transpose(&self, y: &DeviceVector<f64>, x: &mut DeviceVector<f64>) {
        let (grid, kernels) = (Threads(self.mesh.n_elements), &self.kernels);
        match self.mesh.are_tetrahedra() {
            true => kernels.vertex_sum_transpose(grid, &self.mesh, y, x),
            false => kernels.corner_sum_transpose(grid, &self.mesh, y, x),
        }
    }

    fn gradient(&self, y: &DeviceVector<f64>, g: &mut Components<DeviceVector<f64>>) {
        let (grid, kernels, [gx, gy, gz]) = (Threads(self.mesh.n_elements), &self.kernels, g);
        match self.mesh.are_tetrahedra() {
            true => kernels.vertex_gradient(grid, &self.mesh, y, gx, gy, gz),
            false => kernels.corner_gradient(grid, &self.mesh, y, gx, gy, gz),
        }
    }

    fn gradient_transpose(&self, g: &mut Components<DeviceVector<f64>>, y: &mut DeviceVector<f64>) {
        self.clear(y);
        let ([gx, gy, gz], kernels) = (&*g, &self.kernels);
        for part in self.mesh.parts() {
            let grid = Threads(part.count as usize);
            match self.mesh.are_tetrahedra() {
                true => {
                    kernels.vertex_gradient_transpose(grid, &self.mesh, part, gx, gy, gz, &mut *y);
                }
                false => {
                    kernels.corner_gradient_transpose(grid, &self.mesh, part, gx, gy, gz, &mut *y);
                }
            }
        }
    }
}
