//! Tetrahedra in patches that fit the cache, with copies of their vertices.
//!
//! A patch is a run of tetrahedra along a Hilbert curve with its own copies of its vertices; those
//! of a vertex that several patches share are found through offsets and slots. The same tables
//! serve the fast iterative method, which takes the minimum of the copies, and the evolution of a
//! level set, which adds them up.

use std::ops::Range;

use rayon::prelude::*;
use topopt_mesh::counting_sort::grouped;
use topopt_mesh::hilbert;

use crate::Tetrahedra;

/// Tetrahedra of a patch, whose values then fit the cache of a processor.
const PATCH_CELLS: usize = 4096;

/// Most tetrahedra of a patch: their corners have 16-bit numbers.
const MOST_CELLS: usize = 1 << 14;

/// Tetrahedra that one table of local numbers serves.
const CELLS_AT_ONCE: usize = 1 << 20;

/// Tetrahedra in patches, as plain tables.
#[derive(Debug, Clone)]
pub struct Patches {
    tetrahedra: Tetrahedra,
    /// The tetrahedra in the order of the patches.
    order: Vec<u32>,
    /// Their local vertices.
    cells: Vec<[u16; 4]>,
    /// First tetrahedron and first copy of each patch, and the end, `[n_patches + 1]`.
    first_cell: Vec<u32>,
    first_copy: Vec<u32>,
    /// The vertex of each copy.
    vertices: Vec<u32>,
    /// `around[around_offsets[c]..around_offsets[c + 1]]` are the corners of tetrahedra that are
    /// copy c: four times the number in the patch, plus that of the corner.
    around_offsets: Vec<u32>,
    around: Vec<u16>,
    /// `slots[slot_offsets[v]..slot_offsets[v + 1]]` are the copies of vertex v.
    slot_offsets: Vec<usize>,
    slots: Vec<u32>,
}

/// One patch: slices of the tables of [`Patches`].
#[derive(Debug, Clone, Copy)]
pub struct Patch<'a> {
    /// Number of its first tetrahedron in the order of the patches.
    pub first_cell: usize,
    /// Number of its first copy.
    pub first_copy: usize,
    /// Local vertices of its tetrahedra.
    pub cells: &'a [[u16; 4]],
    /// Vertices by local number.
    pub vertices: &'a [u32],
    around_offsets: &'a [u32],
    around: &'a [u16],
}

impl<'a> Patch<'a> {
    /// The corners of tetrahedra that are a local vertex: four times the number of the tetrahedron
    /// in the patch, plus that of the corner.
    pub fn around(&self, local: u16) -> &'a [u16] {
        let offsets = &self.around_offsets[local as usize..local as usize + 2];
        &self.around[offsets[0] as usize..offsets[1] as usize]
    }
}

impl Patches {
    /// Cuts `tetrahedra` into patches that fit the cache of a processor.
    pub fn new(tetrahedra: Tetrahedra) -> Self {
        Self::with_limits(tetrahedra, PATCH_CELLS, usize::MAX)
    }

    /// Cuts `tetrahedra` into patches of at most `cells` tetrahedra, themselves at most 16384, and
    /// `vertices` vertices: those that the shared memory of a GPU holds. A tetrahedron alone always
    /// is a patch.
    pub fn with_limits(tetrahedra: Tetrahedra, cells: usize, vertices: usize) -> Self {
        let order = along_curve(&tetrahedra);
        let most_cells = cells.clamp(1, MOST_CELLS);
        let first_cell = starts(&tetrahedra, &order, most_cells, vertices);
        let n_patches = first_cell.len() - 1;

        // Local numbers are given where a vertex is first met.
        let n_cells = order.len();
        let mut cells = vec![[0; 4]; n_cells];
        let mut around = vec![0; 4 * n_cells];
        let cut = |local_numbers: &mut Vec<u32>, (numbers, cells, around): Tables| {
            let vertices = number(&tetrahedra, numbers, local_numbers, cells);
            let offsets = gather(cells, vertices.len(), around);
            (vertices, offsets)
        };
        let cuts: Vec<(Vec<u32>, Vec<u32>)> =
            by_patch(&first_cell, &order, &mut cells, &mut around)
                .into_par_iter()
                .with_min_len(CELLS_AT_ONCE / most_cells)
                .map_init(|| vec![u32::MAX; tetrahedra.points().len()], cut)
                .collect();

        let mut first_copy = vec![0u32; n_patches + 1];
        let (mut vertices, mut around_offsets) = (Vec::new(), Vec::new());
        for (p, (of_patch, offsets)) in cuts.into_iter().enumerate() {
            vertices.extend(of_patch);
            first_copy[p + 1] = vertices.len() as u32;
            around_offsets.extend(offsets.iter().map(|offset| 4 * first_cell[p] + offset));
        }
        around_offsets.push(4 * n_cells as u32);
        let slots = grouped(&vertices, tetrahedra.points().len(), |copy| copy as u32);
        Self {
            tetrahedra,
            order,
            cells,
            first_cell,
            first_copy,
            vertices,
            around_offsets,
            around,
            slot_offsets: slots.offsets,
            slots: slots.values,
        }
    }

    /// The tetrahedra that were cut.
    pub fn tetrahedra(&self) -> &Tetrahedra {
        &self.tetrahedra
    }

    /// Number of patches.
    pub fn len(&self) -> usize {
        self.first_cell.len() - 1
    }

    /// Whether there is no patch.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of the tetrahedra in the order of the patches, `[n_cells]`.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Copies of the vertices in all patches together.
    pub fn n_copies(&self) -> usize {
        self.vertices.len()
    }

    /// Returns the first tetrahedron of each patch in the order of the patches, and the end,
    /// `[n_patches + 1]`.
    pub fn first_cells(&self) -> &[u32] {
        &self.first_cell
    }

    /// Returns the first copy of each patch, and the end, `[n_patches + 1]`.
    pub fn first_copies(&self) -> &[u32] {
        &self.first_copy
    }

    /// Local vertices of the tetrahedra in the order of the patches, `[n_cells][4]`.
    pub fn cells(&self) -> &[[u16; 4]] {
        &self.cells
    }

    /// The vertex of each copy, `[n_copies]`.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The tetrahedra around the copies: offsets, `[n_copies + 1]`, and corners of tetrahedra as
    /// [`Patch::around`] gives them, `[n_cells * 4]`.
    pub fn gathering(&self) -> (&[u32], &[u16]) {
        (&self.around_offsets, &self.around)
    }

    /// The copies of the vertices: offsets, `[n_points + 1]`, and slots, `[n_copies]`.
    pub fn slots(&self) -> (&[usize], &[u32]) {
        (&self.slot_offsets, &self.slots)
    }

    /// One patch.
    pub fn patch(&self, patch: usize) -> Patch<'_> {
        let range = |starts: &[u32]| starts[patch] as usize..starts[patch + 1] as usize;
        let (cells, copies) = (range(&self.first_cell), range(&self.first_copy));
        Patch {
            first_cell: cells.start,
            first_copy: copies.start,
            cells: &self.cells[cells],
            vertices: &self.vertices[copies.clone()],
            around_offsets: &self.around_offsets[copies.start..=copies.end],
            around: &self.around,
        }
    }

    /// The copies of a vertex, in the order of the patches.
    pub fn copies(&self, vertex: u32) -> &[u32] {
        let range: Range<usize> =
            self.slot_offsets[vertex as usize]..self.slot_offsets[vertex as usize + 1];
        &self.slots[range]
    }

    /// The patch of a copy, and its local number.
    pub fn place(&self, copy: u32) -> (usize, u16) {
        let patch = self.first_copy.partition_point(|&first| first <= copy) - 1;
        (patch, (copy - self.first_copy[patch]) as u16)
    }
}

/// The numbers of the tetrahedra by the place of their first vertex on a Hilbert curve. So those of
/// a hexahedron stay together, and only the vertices are sorted.
fn along_curve(tetrahedra: &Tetrahedra) -> Vec<u32> {
    let n_points = tetrahedra.points().len();
    let mut places = vec![0u32; n_points];
    for (place, vertex) in hilbert::order(tetrahedra.points()).into_iter().enumerate() {
        places[vertex as usize] = place as u32;
    }
    let keys: Vec<u32> =
        tetrahedra.cells().par_iter().map(|cell| places[cell[0] as usize]).collect();
    grouped(&keys, n_points, |cell| cell as u32).values
}

/// Finds the starts in `order` of patches of at most `cells` tetrahedra and `vertices` vertices,
/// and the end.
fn starts(tetrahedra: &Tetrahedra, order: &[u32], cells: usize, vertices: usize) -> Vec<u32> {
    let n_cells = order.len();
    if vertices >= 4 * cells {
        let starts = (0..n_cells).step_by(cells).map(|start| start as u32);
        return starts.chain([n_cells as u32]).collect();
    }

    // The last patch that has met each vertex. One thread: 12 million tetrahedra take 0.1 s.
    let mut last_met = vec![u32::MAX; tetrahedra.points().len()];
    let mut starts: Vec<u32> = Vec::new();
    let mut n_vertices = 0;
    for (place, &number) in order.iter().enumerate() {
        let corners = tetrahedra.cells()[number as usize];
        let patch = starts.len() as u32;
        let n_new = corners.iter().filter(|corner| last_met[**corner as usize] != patch).count();
        let is_full = starts
            .last()
            .is_none_or(|&start| place - start as usize == cells || n_vertices + n_new > vertices);
        if is_full {
            starts.push(place as u32);
            n_vertices = 0;
        }

        let patch = starts.len() as u32;
        for corner in corners {
            let met = std::mem::replace(&mut last_met[corner as usize], patch);
            n_vertices += usize::from(met != patch);
        }
    }
    starts.push(n_cells as u32);
    starts
}

/// The numbers of the tetrahedra of a patch, and what is made of them.
type Tables<'a> = (&'a [u32], &'a mut [[u16; 4]], &'a mut [u16]);

/// The parts of the tables of each patch.
fn by_patch<'a>(
    first_cell: &[u32],
    mut order: &'a [u32],
    mut cells: &'a mut [[u16; 4]],
    mut around: &'a mut [u16],
) -> Vec<Tables<'a>> {
    let mut parts = Vec::with_capacity(first_cell.len() - 1);
    for range in first_cell.windows(2) {
        let n = (range[1] - range[0]) as usize;
        let own = (order.split_off(..n), cells.split_off_mut(..n), around.split_off_mut(..4 * n));
        if let (Some(numbers), Some(cells), Some(around)) = own {
            parts.push((numbers, cells, around));
        }
    }
    parts
}

/// The vertices of a patch with the tetrahedra `numbers`, and its `cells` by local number.
/// `local_numbers`, `[n_points]`, are all `u32::MAX` before and after.
fn number(
    tetrahedra: &Tetrahedra,
    numbers: &[u32],
    local_numbers: &mut [u32],
    cells: &mut [[u16; 4]],
) -> Vec<u32> {
    let mut vertices = Vec::new();
    for (cell, &number) in cells.iter_mut().zip(numbers) {
        for (corner, vertex) in cell.iter_mut().zip(tetrahedra.cells()[number as usize]) {
            let local = &mut local_numbers[vertex as usize];
            if *local == u32::MAX {
                *local = vertices.len() as u32;
                vertices.push(vertex);
            }
            *corner = *local as u16;
        }
    }
    vertices.iter().for_each(|&vertex| local_numbers[vertex as usize] = u32::MAX);
    vertices
}

/// The corners of the `cells` of a patch by vertex, and where those of each vertex begin.
fn gather(cells: &[[u16; 4]], n_vertices: usize, around: &mut [u16]) -> Vec<u32> {
    let mut offsets = vec![0u32; n_vertices + 1];
    for &local in cells.as_flattened() {
        offsets[local as usize + 1] += 1;
    }
    for local in 0..n_vertices {
        offsets[local + 1] += offsets[local];
    }
    offsets.pop();

    let mut next = offsets.clone();
    for (corner, &local) in cells.as_flattened().iter().enumerate() {
        around[next[local as usize] as usize] = corner as u16;
        next[local as usize] += 1;
    }
    offsets
}
