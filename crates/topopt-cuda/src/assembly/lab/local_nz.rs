//! `local_nz`: one thread per block of the matrix, each computed from the coordinates.

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use super::kernels;
use super::places;
use super::sources::Sources;
use crate::assembly::model::Sizes;
use crate::assembly::pattern::PAIRS;
use crate::assembly::routine::Routine;
use crate::assembly::task::{Assemble, Parts, Task, launch};
use crate::kernel::Grid::Threads;
use crate::vector::Real;

pub(crate) struct LocalNz<R> {
    kernels: kernels::AssembleLocalNz<R>,
    sources: Sources,
}

impl<R: Real> LocalNz<R> {
    pub fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        let kernels = kernels::AssembleLocalNz::load_for(parts.formulation, parts.device)?;
        Ok(Self { kernels, sources: Sources::new(parts)? })
    }
}

impl<R: Real> Assemble<R> for LocalNz<R> {
    fn sum_up(&mut self, task: &Task<'_, R>, values: &mut CudaSlice<R>) {
        let Task { mesh, unknowns, upper, material, stored, coefficients: [k, c], .. } = *task;
        let (grid, routine) = (Threads(upper.n_blocks), task.routine());
        let Sources { offsets, tiles: sources } = &self.sources;
        launch!(
            self.kernels,
            unknowns,
            local_nz1
                | local_nz3(
                    grid, upper, mesh, routine, material, stored, k, c, offsets, sources, values
                )
        );
    }

    fn sums_above_only(&self) -> bool {
        false
    }

    fn traffic(&self, _: Routine, sizes: &Sizes) -> [f64; 2] {
        [sizes.list(4.0) + places(sizes), sizes.matrix()]
    }

    fn redundancy(&self) -> f64 {
        PAIRS as f64
    }
}
