//! `shared_nz`: non-zero by non-zero, from elements that a patch has in shared memory.

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;
use topopt_mesh::hilbert;

use super::kernels::{self, PatchesView};
use super::places;
use crate::assembly::model::Sizes;
use crate::assembly::pattern::too_large;
use crate::assembly::routine::Routine;
use crate::assembly::task::{Assemble, Parts, Task, launch};
use crate::kernel::Grid::Blocks;
use crate::operators::clusters::POSITION;
use crate::vector::Real;

/// Elements in shared memory at a time.
const PASS: usize = defined!("assemble_shared_nz.cu", "PASS");
/// Numbers of a pass in a source.
const OF_A_PASS: usize = defined!("assemble_shared_nz.cu", "OF_A_PASS");
/// Most blocks of a patch: a thread each.
const MOST_BLOCKS: usize = defined!("assemble_shared_nz.cu", "BLOCK");
/// Elements that the 16 bits of a source count.
const MOST_ELEMENTS: usize = PASS * ((1 << 16) / OF_A_PASS);
/// Nodes along the curve that are cut into patches by one thread.
const NODES_AT_ONCE: usize = 4096;

pub(crate) struct SharedNz<R> {
    kernels: kernels::AssembleSharedNz<R>,
    n_patches: usize,
    first_blocks: CudaSlice<u32>,
    first_elements: CudaSlice<u32>,
    blocks: CudaSlice<u32>,
    elements: CudaSlice<u32>,
    offsets: CudaSlice<u32>,
    sources: CudaSlice<u16>,
    redundancy: f64,
}

impl<R: Real> SharedNz<R> {
    pub fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        let order = hilbert::order(parts.mesh.coordinates());
        let cut = |nodes: &[u32]| cut(parts, nodes);
        let groups = order.par_chunks(NODES_AT_ONCE).map(cut);
        let patches = groups.collect::<Result<Vec<_>, _>>()?.concat();

        let device = parts.device;
        let starts = |length: &dyn Fn(&Patch) -> usize| {
            let mut starts = vec![0u32];
            patches
                .iter()
                .for_each(|patch| starts.push(starts[starts.len() - 1] + length(patch) as u32));
            device.upload(&starts)
        };
        let all = |list: fn(&Patch) -> &Vec<u32>| -> Vec<u32> {
            patches.par_iter().flat_map_iter(|patch| list(patch).iter().copied()).collect()
        };
        let elements = all(|patch| &patch.elements);
        let mut offsets = vec![0u32];
        let mut end = 0;
        for count in patches.iter().flat_map(|patch| &patch.counts) {
            end += count;
            offsets.push(end);
        }
        let sources = patches.par_iter().flat_map_iter(|patch| patch.sources.iter().copied());
        Ok(Self {
            kernels: kernels::AssembleSharedNz::load_for(parts.formulation, device)?,
            n_patches: patches.len(),
            first_blocks: starts(&|patch| patch.blocks.len())?,
            first_elements: starts(&|patch| patch.elements.len())?,
            blocks: device.upload(&all(|patch| &patch.blocks))?,
            offsets: device.upload(&offsets)?,
            sources: device.upload(&sources.collect::<Vec<u16>>())?,
            redundancy: elements.len() as f64 / parts.mesh.n_elements() as f64,
            elements: device.upload(&elements)?,
        })
    }

    fn view(&self) -> PatchesView {
        PatchesView {
            n_patches: self.n_patches.into(),
            first_blocks: (&self.first_blocks).into(),
            first_elements: (&self.first_elements).into(),
            blocks: (&self.blocks).into(),
            elements: (&self.elements).into(),
            offsets: (&self.offsets).into(),
            sources: (&self.sources).into(),
        }
    }
}

/// Upper blocks and all elements that contribute to them.
#[derive(Clone)]
struct Patch {
    blocks: Vec<u32>,
    /// Increasing.
    elements: Vec<u32>,
    /// Number of sources of each block.
    counts: Vec<u32>,
    /// Sources of all blocks, block by block, by increasing elements.
    sources: Vec<u16>,
}

/// Patches of the rows of `nodes`: whole rows as long as they fit, and a row that is longer than a
/// patch in several.
fn cut(parts: &Parts<'_>, nodes: &[u32]) -> Result<Vec<Patch>, BackendError> {
    let row = |node: u32| {
        let offsets = &parts.pattern.upper_offsets;
        offsets[node as usize]..offsets[node as usize + 1]
    };
    let mut patches = Vec::new();
    let mut rest = nodes;
    while let Some(&first) = rest.first() {
        let mut elements = distinct(parts.adjacency.elements_of(first as usize));
        let (mut count, mut blocks) = (1, row(first).len());
        for &node in &rest[1..] {
            let more = [&elements[..], parts.adjacency.elements_of(node as usize)].concat();
            let more = distinct(&more);
            if more.len() > PASS || blocks + row(node).len() > MOST_BLOCKS {
                break;
            }
            (elements, count, blocks) = (more, count + 1, blocks + row(node).len());
        }
        if elements.len() > MOST_ELEMENTS {
            return Err(too_large(format!("the {} elements of node {first}", elements.len())));
        }

        let own: Vec<(u32, u32)> =
            rest[..count].iter().flat_map(|&node| row(node).map(move |u| (u, node))).collect();
        patches.extend(own.chunks(MOST_BLOCKS).map(|own| Patch::new(parts, own, &elements)));
        rest = &rest[count..];
    }
    Ok(patches)
}

fn distinct(elements: &[u32]) -> Vec<u32> {
    let mut elements = elements.to_vec();
    elements.sort_unstable();
    elements.dedup();
    elements
}

impl Patch {
    /// Builds a patch of upper blocks, each with its row, whose elements are among `elements`.
    fn new(parts: &Parts<'_>, own: &[(u32, u32)], elements: &[u32]) -> Self {
        let (pattern, hexes) = (parts.pattern, parts.mesh.hexes());
        let mut patch = Self {
            blocks: own.iter().map(|&(u, _)| u).collect(),
            elements: elements.to_vec(),
            counts: Vec::with_capacity(own.len()),
            sources: Vec::new(),
        };
        for &(u, node) in own {
            let column = pattern.columns()[pattern.places[u as usize] as usize];
            let before = patch.sources.len();
            for (e, a) in parts.adjacency.of(node as usize) {
                let slot = elements.partition_point(|&other| other < e);
                let first = slot / PASS * OF_A_PASS + slot % PASS * 64 + POSITION[a as usize] * 8;
                let hex = hexes[e as usize].iter().enumerate();
                let same = hex.filter(|&(_, &other)| other == column);
                patch.sources.extend(same.map(|(b, _)| (first + POSITION[b]) as u16));
            }
            patch.sources[before..].sort_unstable();
            patch.counts.push((patch.sources.len() - before) as u32);
        }
        patch
    }
}

impl<R: Real> Assemble<R> for SharedNz<R> {
    fn sum_up(&mut self, task: &Task<'_, R>, values: &mut CudaSlice<R>) {
        let Task { mesh, unknowns, upper, material, stored, coefficients: [k, c], .. } = *task;
        let (grid, patches, routine) = (Blocks(self.n_patches), self.view(), task.routine());
        launch!(
            self.kernels,
            unknowns,
            shared_nz1
                | shared_nz3(grid, patches, upper, mesh, routine, material, stored, k, c, values)
        );
    }

    fn sums_above_only(&self) -> bool {
        false
    }

    fn traffic(&self, _: Routine, sizes: &Sizes) -> [f64; 2] {
        let elements = 4.0 * self.redundancy * sizes.elements;
        [sizes.list(2.0) + elements + places(sizes) + 4.0 * sizes.upper, sizes.matrix()]
    }

    fn redundancy(&self) -> f64 {
        self.redundancy
    }
}
