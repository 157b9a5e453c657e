//! `patch`: elements add to the rows of their patch in shared memory, and by atomics to those of others.

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;
use topopt_mesh::counting_sort::grouped;
use topopt_mesh::hilbert;

use super::kernels::{self, RowPatchesView};
use super::places;
use crate::assembly::model::Sizes;
use crate::assembly::pattern::{MARKED, PAIRS, marks, pair, place, too_large};
use crate::assembly::routine::Routine;
use crate::assembly::task::{Assemble, Parts, Task, clear, launch};
use crate::kernel::Grid::{Blocks, Threads};
use crate::vector::Real;

/// Numbers of the rows of a patch at most.
const NUMBERS: usize = defined!("assemble_patch.cu", "NUMBERS");

pub(crate) struct Patch<R> {
    kernels: kernels::AssemblePatch<R>,
    n_patches: usize,
    first_blocks: CudaSlice<u32>,
    first_elements: CudaSlice<u32>,
    blocks: CudaSlice<u32>,
    elements: CudaSlice<u32>,
    targets: CudaSlice<u32>,
    /// Upper blocks to which elements of other patches add.
    boundary_blocks: CudaSlice<u32>,
    /// Sums that elements of other patches add to these blocks, `[n_boundary][unknowns][unknowns]`.
    boundary: CudaSlice<R>,
    n_boundary: usize,
}

impl<R: Real> Patch<R> {
    pub fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        let (device, hexes) = (parts.device, parts.mesh.hexes());
        let rows = RowPatches::new(parts)?;

        // An element belongs to the patch of its first node.
        let owners: Vec<u32> = hexes.par_iter().map(|hex| rows.patch[hex[0] as usize]).collect();
        let elements = grouped(&owners, rows.first_blocks.len() - 1, |e| e as u32);
        let starts: Vec<u32> = elements.offsets.iter().map(|&start| start as u32).collect();

        let (targets, boundary_blocks) = rows.targets(parts, &owners)?;
        let numbers = parts.unknowns * parts.unknowns;
        Ok(Self {
            kernels: kernels::AssemblePatch::load_for(parts.formulation, device)?,
            n_patches: rows.first_blocks.len() - 1,
            first_blocks: device.upload(&rows.first_blocks)?,
            first_elements: device.upload(&starts)?,
            blocks: device.upload(&rows.blocks)?,
            elements: device.upload(&elements.values)?,
            targets: device.upload(&targets)?,
            boundary_blocks: device.upload_list(&boundary_blocks)?,
            boundary: device.zeros((numbers * boundary_blocks.len()).max(1))?,
            n_boundary: boundary_blocks.len(),
        })
    }

    fn view(&self) -> RowPatchesView {
        RowPatchesView {
            n_patches: self.n_patches.into(),
            first_blocks: (&self.first_blocks).into(),
            first_elements: (&self.first_elements).into(),
            blocks: (&self.blocks).into(),
            elements: (&self.elements).into(),
            targets: (&self.targets).into(),
        }
    }
}

/// Rows in patches, along a Hilbert curve.
struct RowPatches {
    /// The patch of every node.
    patch: Vec<u32>,
    /// Place of the first block of every node in its patch.
    first: Vec<u32>,
    /// `[n_patches + 1]`.
    first_blocks: Vec<u32>,
    /// Upper blocks, patch by patch.
    blocks: Vec<u32>,
}

impl RowPatches {
    fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        let offsets = &parts.pattern.upper_offsets;
        let most = NUMBERS / (parts.unknowns * parts.unknowns);
        let order = hilbert::order(parts.mesh.coordinates());
        let (mut patch, mut first) = (vec![0; order.len()], vec![0; order.len()]);
        let (mut first_blocks, mut end) = (vec![0u32], 0u32);

        for &node in &order {
            let n = node as usize;
            let length = offsets[n + 1] - offsets[n];
            if length as usize > most {
                return Err(too_large(format!("the {length} blocks of node {node}")));
            }
            let start = first_blocks[first_blocks.len() - 1];
            if (end + length - start) as usize > most {
                first_blocks.push(end);
            }
            patch[n] = first_blocks.len() as u32 - 1;
            first[n] = end - first_blocks[first_blocks.len() - 1];
            end += length;
        }

        first_blocks.push(end);
        let row = |&node: &u32| offsets[node as usize]..offsets[node as usize + 1];
        let blocks = order.par_iter().flat_map_iter(row).collect();
        Ok(Self { patch, first, first_blocks, blocks })
    }

    /// Returns the targets of the tiles of elements, whose patches are `owners`, and the boundary blocks: a
    /// target is a block of the patch, if that has the row of the tile, or else a block of the boundary.
    fn targets(
        &self,
        parts: &Parts<'_>,
        owners: &[u32],
    ) -> Result<(Vec<u32>, Vec<u32>), BackendError> {
        let (hexes, pattern) = (parts.mesh.hexes(), parts.pattern);
        let row = |e: usize, p: usize| {
            let [a, b] = pair(p).map(|local| hexes[e][local]);
            a.min(b) as usize
        };
        let tiles = pattern.tiles(hexes)?;
        let tiles = tiles.as_flattened();
        let is_inside =
            |item: usize| self.patch[row(item / PAIRS, item % PAIRS)] == owners[item / PAIRS];
        let outside = (0..tiles.len()).into_par_iter().filter(|&item| !is_inside(item));
        let mut boundary: Vec<u32> = outside.map(|item| place(tiles[item])).collect();
        boundary.par_sort_unstable();
        boundary.dedup();

        let target = |item: usize| {
            let (tile, row) = (tiles[item], row(item / PAIRS, item % PAIRS));
            let u = place(tile);
            let found = match is_inside(item) {
                true => MARKED | (self.first[row] + u - pattern.upper_offsets[row]),
                false => boundary.partition_point(|&block| block < u) as u32,
            };
            found | marks(tile)
        };
        Ok(((0..tiles.len()).into_par_iter().map(target).collect(), boundary))
    }
}

impl<R: Real> Assemble<R> for Patch<R> {
    fn sum_up(&mut self, task: &Task<'_, R>, values: &mut CudaSlice<R>) {
        let Task { mesh, unknowns, upper, material, stored, coefficients: [k, c], .. } = *task;
        clear(mesh.device(), &mut self.boundary);
        let (grid, patches, routine) = (Blocks(self.n_patches), self.view(), task.routine());
        let (rows, boundary) = (&mut *values, &mut self.boundary);
        launch!(
            self.kernels,
            unknowns,
            patch1
                | patch3(
                    grid, patches, upper, mesh, routine, material, stored, k, c, rows, boundary
                )
        );

        let grid = Threads(unknowns * unknowns * self.n_boundary);
        let (n, blocks, boundary) = (self.n_boundary as u32, &self.boundary_blocks, &self.boundary);
        launch!(
            self.kernels,
            unknowns,
            patch_boundary1 | patch_boundary3(grid, upper, n, blocks, boundary, values)
        );
    }

    fn sums_above_only(&self) -> bool {
        true
    }

    fn traffic(&self, _: Routine, sizes: &Sizes) -> [f64; 2] {
        let targets = sizes.list(4.0) + 4.0 * sizes.elements + places(sizes);
        [targets + sizes.finish(), sizes.upper * sizes.block() + sizes.matrix()]
    }
}
