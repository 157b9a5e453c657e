//! A GPU that is open, and meshes on it.

use std::sync::{Arc, OnceLock};

use topopt_cuda::{Cuda, Device, DeviceKernel, MeshOnDevice, ProblemOnDevice};
use topopt_fem::Discretization;
use topopt_linalg::BackendError;
use topopt_mesh::HexMesh;

/// One GPU, in double precision.
pub struct OpenGpu {
    pub(crate) device: Arc<Device>,
    pub(crate) backend: Cuda<f64>,
    /// For the preconditioner of the filter's equation, which few runs have.
    single: OnceLock<Cuda<f32>>,
}

impl OpenGpu {
    /// On `device`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn new(device: &Arc<Device>) -> Result<Self, BackendError> {
        let single = OnceLock::new();
        Ok(Self { device: device.clone(), backend: Cuda::new(device)?, single })
    }

    /// Returns the backend in single precision, created on first use.
    pub(crate) fn single(&self) -> Result<&Cuda<f32>, BackendError> {
        if let Some(single) = self.single.get() {
            return Ok(single);
        }
        let single = Cuda::new(&self.device)?;
        Ok(self.single.get_or_init(|| single))
    }
}

/// `problem` on a GPU, for launches by color where it has `colors`.
///
/// # Errors
/// [`BackendError`] if the device has no room for it.
pub fn problem_on_device<K: DeviceKernel<N>, const N: usize>(
    device: &Arc<Device>,
    problem: &Discretization<K, N>,
    colors: Option<&[usize]>,
) -> Result<Arc<ProblemOnDevice<K, N>>, BackendError> {
    ProblemOnDevice::on(&bare_mesh(device, problem.mesh(), colors)?, problem)
}

/// `mesh` on a GPU, for launches by color where it has `colors`.
pub(super) fn bare_mesh(
    device: &Arc<Device>,
    mesh: &HexMesh,
    colors: Option<&[usize]>,
) -> Result<Arc<MeshOnDevice>, BackendError> {
    match colors {
        Some(colors) => MeshOnDevice::by_color(device, mesh, colors),
        None => MeshOnDevice::new(device, mesh),
    }
}
