//! `elem_color`: element by element, a launch per color.

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;
use topopt_mesh::Coloring;

use super::model::Sizes;
use super::pattern::{MARKED, PAIRS};
use super::routine::Routine;
use super::task::{Assemble, Parts, Task, clear, launch};
use crate::kernel::Grid::Threads;
use crate::kernels::{self, Part};
use crate::vector::Real;

pub(super) struct ElemColor<R> {
    kernels: kernels::AssembleElemColor<R>,
    colors: Vec<Part>,
    /// The elements color by color.
    order: CudaSlice<u32>,
    /// Marked where a node stands twice in the element, `[n_elements][36]`.
    targets: CudaSlice<u32>,
}

impl<R: Real> ElemColor<R> {
    pub fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        let coloring = Coloring::greedy(parts.mesh, parts.adjacency);
        let groups = coloring.groups();
        let part = |first: &mut u32, count: usize| {
            let part = Part { first: *first, count: count as u32 };
            *first += part.count;
            Some(part)
        };
        let mut targets = parts.pattern.targets(parts.mesh.hexes())?;
        let elements = targets.par_chunks_mut(PAIRS).zip(parts.mesh.hexes());
        elements.filter(|(_, hex)| has_a_node_twice(hex)).for_each(|(targets, _)| {
            targets.iter_mut().for_each(|target| *target |= MARKED);
        });
        Ok(Self {
            kernels: kernels::AssembleElemColor::load_for(parts.formulation, parts.device)?,
            colors: groups.iter().map(Vec::len).scan(0, part).collect(),
            order: parts.device.upload(&groups.concat())?,
            targets: parts.device.upload(&targets)?,
        })
    }
}

fn has_a_node_twice(hex: &[u32; 8]) -> bool {
    (1..8).any(|a| hex[..a].contains(&hex[a]))
}

impl<R: Real> Assemble<R> for ElemColor<R> {
    fn sum_up(&mut self, task: &Task<'_, R>, values: &mut CudaSlice<R>) {
        let Task { mesh, unknowns, material, stored, coefficients: [k, c], .. } = *task;
        clear(mesh.device(), values);
        let (routine, order, targets) = (task.routine(), &self.order, &self.targets);
        for &part in &self.colors {
            let (grid, values) = (Threads(8 * part.count as usize), &mut *values);
            launch!(
                self.kernels,
                unknowns,
                elem_color1
                    | elem_color3(
                        grid, part, order, mesh, routine, material, stored, k, c, targets, values
                    )
            );
        }
    }

    fn sums_above_only(&self) -> bool {
        true
    }

    fn traffic(&self, _: Routine, sizes: &Sizes) -> [f64; 2] {
        [sizes.list(4.0) + sizes.tiles() + sizes.finish(), sizes.tiles() + 2.0 * sizes.matrix()]
    }
}
