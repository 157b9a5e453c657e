//! Bounds of the eigenvalues of K_e relative to its own diagonal blocks, by the
//! kernel of `cuda/element_bounds.cu`.

use std::sync::Arc;

use topopt_fem::{BOUND_STEPS, BoundParameters, Elasticity, ElementKernel};
use topopt_linalg::{BackendError, Space};

use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::MeshOnDevice;
use crate::vector::DeviceVector;

const _: () = assert!(BOUND_STEPS == defined!("element_bounds.cu", "STEPS"));

/// Computes [`topopt_fem::ElementKernel::bounds`] of the elements of `mesh`, `[n_elements]`, which
/// takes the host 300 ns of a core per element.
///
/// # Errors
/// [`BackendError`] if the device has no room for it or the kernel cannot be loaded.
pub fn element_bounds(
    mesh: &Arc<MeshOnDevice>,
    kernel: &Elasticity,
) -> Result<DeviceVector<f64>, BackendError> {
    let (device, n) = (mesh.device(), mesh.n_elements);
    let kernels = kernels::ElementBounds::load_for(kernel.formulation(), device)?;
    let BoundParameters { lame: (lambda, mu), margin } = kernel.bound_parameters();
    let mut values = device.zeros(n)?;
    kernels.element_bounds(Threads(n), mesh, lambda / mu, margin, &mut values);
    Ok(DeviceVector { space: Space::elements(n), values })
}
