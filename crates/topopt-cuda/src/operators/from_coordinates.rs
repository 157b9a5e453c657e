//! The diagonal of K and element energies from the coordinates, for every strategy.

use std::sync::Arc;

use topopt_linalg::BackendError;

use super::ProblemOnDevice;
use crate::Device;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::{DeviceVector, Real};

/// Kernels that derive diagonal and energies from the coordinates, beside the product of an operator.
pub(crate) struct FromCoordinates<R> {
    diagonal: kernels::Diagonal<R>,
    energies: kernels::Energies<R>,
}

impl<R: Real> FromCoordinates<R> {
    /// For vectors of precision `R`.
    pub fn load(device: &Arc<Device>) -> Result<Self, BackendError> {
        let (diagonal, energies) =
            (kernels::Diagonal::load(device)?, kernels::Energies::load(device)?);
        Ok(Self { diagonal, energies })
    }

    /// Writes diag K = sum_e E_e diag K_e, \[3\]\[n_nodes\], and 1 at held components, for `moduli`,
    /// \[n_elements\].
    pub fn diagonal(
        &self,
        problem: &ProblemOnDevice,
        moduli: &DeviceVector<R>,
        out: &mut DeviceVector<R>,
    ) {
        let ProblemOnDevice { device, mesh, constraints, .. } = problem;
        device.record("clearing the diagonal", device.stream().memset_zeros(&mut out.values));
        for part in mesh.parts() {
            let grid = Threads(part.count as usize);
            let (held, material) = (&constraints.held, problem.material());
            self.diagonal.diagonal(grid, mesh, part, held, material, moduli, &mut *out);
        }
    }

    /// Writes v_e^T K_e u_e at unit modulus, `[n_elements]`, of fields `[3][n_nodes]`.
    pub fn work(
        &self,
        problem: &ProblemOnDevice,
        [v, u]: [&DeviceVector<R>; 2],
        out: &mut DeviceVector<R>,
    ) {
        let (mesh, material) = (&problem.mesh, problem.material());
        let grid = Threads(mesh.n_elements);
        if std::ptr::eq(v, u) {
            self.energies.energies(grid, mesh, material, u, out);
        } else {
            self.energies.work(grid, mesh, material, v, u, out);
        }
    }
}
