//! `local_row`: row by row, each from the coordinates.

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use super::model::Sizes;
use super::routine::Routine;
use super::task::{Assemble, Parts, Task, launch};
use crate::kernel::Grid::Threads;
use crate::kernels::{self, RowsView};
use crate::operators::adjacency::ReverseConnectivity;
use crate::vector::Real;

/// Nodes that evaluate an element.
const NODES: f64 = 8.0;

pub(super) struct LocalRow<R> {
    kernels: kernels::AssembleLocalRow<R>,
    reverse: ReverseConnectivity,
    /// `[n_nodes]`.
    held: CudaSlice<u8>,
}

impl<R: Real> LocalRow<R> {
    pub fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        Ok(Self {
            kernels: kernels::AssembleLocalRow::load_for(parts.formulation, parts.device)?,
            reverse: ReverseConnectivity::new(parts.device, parts.adjacency)?,
            held: parts.device.upload(&parts.pattern.held)?,
        })
    }
}

impl<R: Real> Assemble<R> for LocalRow<R> {
    fn sum_up(&mut self, task: &Task<'_, R>, values: &mut CudaSlice<R>) {
        let Task { mesh, unknowns, rows, material, stored, coefficients: [k, c], .. } = *task;
        let ReverseConnectivity { offsets, elements, locals } = &self.reverse;
        let rows = RowsView {
            n_rows: mesh.n_nodes.into(),
            offsets: offsets.into(),
            elements: elements.into(),
            locals: locals.into(),
            held: (&self.held).into(),
            row_offsets: (&rows.offsets).into(),
            columns: (&rows.columns).into(),
        };
        let (grid, routine) = (Threads(8 * mesh.n_nodes), task.routine());
        launch!(
            self.kernels,
            unknowns,
            local_row1 | local_row3(grid, rows, mesh, routine, material, stored, k, c, values)
        );
    }

    fn sums_above_only(&self) -> bool {
        false
    }

    fn traffic(&self, _: Routine, sizes: &Sizes) -> [f64; 2] {
        // The reverse connectivity, and what is held of both nodes.
        let lists = 40.0 * sizes.elements + 4.0 * sizes.blocks + 13.0 * sizes.nodes;
        [lists, sizes.matrix()]
    }

    fn redundancy(&self) -> f64 {
        NODES
    }

    fn tiles(&self) -> usize {
        64 // both ways round
    }
}
