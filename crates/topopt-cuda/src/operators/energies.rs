//! Element energies from the coordinates, for every strategy.

use std::sync::Arc;

use topopt_linalg::BackendError;

use super::MeshOnDevice;
use crate::Device;
use crate::kernel::{Kernel, Module};
use crate::vector::{DeviceVector, Real};

/// Threads of a block, one an element, as `cuda/energies.cu` has it.
const BLOCK: usize = 128;

/// u_e^T K_e u_e at unit modulus.
pub(crate) struct Energies {
    kernel: Kernel,
}

impl Energies {
    /// For vectors of precision `R`.
    pub fn load<R: Real>(device: &Arc<Device>) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/energies.f64.ptx"),
            include_str!("../../../../cuda/ptx/energies.f32.ptx"),
        );
        let module = Module::load(device, "energies", ptx)?;
        Ok(Self { kernel: module.kernel("energies", BLOCK as u32)? })
    }

    /// Writes v_e^T K_e u_e, `[n_elements]`, of `u`, `[3][n_nodes]`. The kernel reads one field: where
    /// v is another one the device fails.
    pub fn write<R: Real>(
        &self,
        mesh: &MeshOnDevice,
        [v, u]: [&DeviceVector<R>; 2],
        out: &mut DeviceVector<R>,
    ) {
        if !std::ptr::eq(v, u) {
            return mesh.device.fail(BackendError {
                device: mesh.device.name().into(),
                operation: "the work of two fields".into(),
                message: "it is computed on the processor only; use `--device cpu`".into(),
            });
        }
        let (lambda, mu) = mesh.unit_lame;
        launch!(self.kernel, mesh.n_elements.div_ceil(BLOCK);
            &(mesh.n_elements as u32), &(mesh.n_nodes as u32), &mesh.connectivity,
            &mesh.coordinates, &mu, &(lambda / mu), &u.values, &mut out.values);
    }
}
