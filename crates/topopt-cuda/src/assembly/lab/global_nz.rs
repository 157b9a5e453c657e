//! `global_nz`: the matrices of all elements to memory, then non-zero by non-zero.

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

pub(crate) struct GlobalNz<R> {
    kernels: kernels::AssembleGlobalNz<R>,
    sources: Sources,
    /// `[n_elements][36][unknowns][unknowns]`.
    tiles: CudaSlice<R>,
}

impl<R: Real> GlobalNz<R> {
    pub fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        let numbers = PAIRS * parts.unknowns * parts.unknowns;
        Ok(Self {
            kernels: kernels::AssembleGlobalNz::load_for(parts.formulation, parts.device)?,
            sources: Sources::new(parts)?,
            tiles: parts.device.zeros(numbers * parts.mesh.n_elements())?,
        })
    }
}

impl<R: Real> Assemble<R> for GlobalNz<R> {
    fn sum_up(&mut self, task: &Task<'_, R>, values: &mut CudaSlice<R>) {
        let Task { mesh, unknowns, upper, material, stored, coefficients: [k, c], .. } = *task;
        let routine = task.routine();
        if task.routine != Routine::Stored {
            let (grid, tiles) = (Threads(8 * mesh.n_elements), &mut self.tiles);
            launch!(
                self.kernels,
                unknowns,
                element_tiles1 | element_tiles3(grid, mesh, routine, material, stored, k, c, tiles)
            );
        }

        let grid = Threads(task.upper_numbers());
        let Self { sources: Sources { offsets, tiles: sources }, tiles, .. } = &*self;
        launch!(
            self.kernels,
            unknowns,
            global_nz1
                | global_nz3(
                    grid, upper, routine, material, stored, k, c, offsets, sources, tiles, values
                )
        );
    }

    fn sums_above_only(&self) -> bool {
        false
    }

    fn traffic(&self, routine: Routine, sizes: &Sizes) -> [f64; 2] {
        let again = if routine == Routine::Stored { 0.0 } else { sizes.tiles() };
        [again + sizes.list(4.0) + places(sizes), again + sizes.matrix()]
    }
}
