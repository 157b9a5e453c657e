//! `atomic`: every element adds its tiles to the matrix by atomics.

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use super::model::Sizes;
use super::routine::Routine;
use super::task::{Assemble, Parts, Task, clear, launch};
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::Real;

pub(super) struct Atomic<R> {
    kernels: kernels::AssembleAtomic<R>,
    /// `[n_elements][36]`.
    targets: CudaSlice<u32>,
}

impl<R: Real> Atomic<R> {
    pub fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        Ok(Self {
            kernels: kernels::AssembleAtomic::load_for(parts.formulation, parts.device)?,
            targets: parts.device.upload(&parts.pattern.targets(parts.mesh.hexes())?)?,
        })
    }
}

impl<R: Real> Assemble<R> for Atomic<R> {
    fn sum_up(&mut self, task: &Task<'_, R>, values: &mut CudaSlice<R>) {
        let Task { mesh, unknowns, material, stored, coefficients: [k, c], .. } = *task;
        clear(mesh.device(), values);
        let (grid, routine, targets) =
            (Threads(8 * mesh.n_elements), task.routine(), &self.targets);
        launch!(
            self.kernels,
            unknowns,
            atomic1 | atomic3(grid, mesh, routine, material, stored, k, c, targets, values)
        );
    }

    fn sums_above_only(&self) -> bool {
        true
    }

    fn traffic(&self, _: Routine, sizes: &Sizes) -> [f64; 2] {
        [sizes.list(4.0) + sizes.tiles() + sizes.finish(), sizes.tiles() + 2.0 * sizes.matrix()]
    }
}
