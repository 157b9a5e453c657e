//! The diagonal of K from the coordinates, for every strategy.

use std::sync::Arc;

use topopt_linalg::BackendError;

use super::MeshOnDevice;
use crate::Device;
use crate::kernel::{Kernel, Module};
use crate::vector::{DeviceVector, Real};

/// Threads of a block, one an element, as `cuda/diagonal.cu` has it.
const BLOCK: usize = 128;

/// diag K = sum_e E_e diag K_e, and 1 at held components.
pub(crate) struct Diagonal {
    kernel: Kernel,
}

impl Diagonal {
    /// For vectors of precision `R`.
    pub fn load<R: Real>(device: &Arc<Device>) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/diagonal.f64.ptx"),
            include_str!("../../../../cuda/ptx/diagonal.f32.ptx"),
        );
        let module = Module::load(device, "diagonal", ptx)?;
        Ok(Self { kernel: module.kernel("diagonal", BLOCK as u32)? })
    }

    /// Writes the diagonal, \[3\]\[n_nodes\], for `moduli`, \[n_elements\].
    pub fn write<R: Real>(
        &self,
        mesh: &MeshOnDevice,
        moduli: &DeviceVector<R>,
        out: &mut DeviceVector<R>,
    ) {
        let (lambda, mu) = mesh.unit_lame;
        let cleared = mesh.device.stream().memset_zeros(&mut out.values);
        mesh.device.record("clearing the diagonal", cleared);
        for (first, count) in mesh.launches() {
            launch!(self.kernel, (count as usize).div_ceil(BLOCK);
                &first, &count, &(mesh.n_elements as u32), &(mesh.n_nodes as u32),
                &mesh.connectivity, &mesh.coordinates, &mesh.held, &mu, &(lambda / mu),
                &moduli.values, &mut out.values);
        }
    }
}
