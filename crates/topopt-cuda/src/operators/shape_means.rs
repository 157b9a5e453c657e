//! Transfer between elements and nodes by means of shape functions: `cuda/shape_means.cu`.

use std::sync::Arc;

use topopt_fem::ElementMeans;
use topopt_linalg::BackendError;

use super::mesh::MeshOnDevice;
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::DeviceVector;

/// V^-1 T and its transpose: T_ea the integral of the shape function of node a over element e, V
/// the volumes of the elements. The Helmholtz filter goes to its equation and back by them.
pub struct ShapeMeans {
    mesh: Arc<MeshOnDevice>,
    kernels: kernels::ShapeMeans,
}

impl ShapeMeans {
    /// Computes the means over the elements of `mesh`.
    ///
    /// # Errors
    /// [`BackendError`] if the kernels cannot be loaded.
    pub fn new(mesh: &Arc<MeshOnDevice>) -> Result<Self, BackendError> {
        Ok(Self { mesh: mesh.clone(), kernels: kernels::ShapeMeans::load(mesh.device())? })
    }
}

impl ElementMeans<Cuda<f64>> for ShapeMeans {
    fn spread(&self, x: &DeviceVector<f64>, source: &mut DeviceVector<f64>) {
        let device = self.mesh.device();
        device.record("clearing a source", device.stream().memset_zeros(&mut source.values));
        for part in self.mesh.parts() {
            let grid = Threads(part.count as usize);
            self.kernels.spread(grid, &self.mesh, part, x, &mut *source);
        }
    }

    fn average(&self, field: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        self.kernels.average(Threads(self.mesh.n_elements), &self.mesh, field, y);
    }
}
