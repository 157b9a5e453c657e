//! Elements in patches: gather nodal values, work on a patch, scatter without conflicts.
//!
//! Consecutive elements form a patch small enough for the cache. Each patch sums into its own
//! copies of its nodes; a second pass sums the copies of every node in a fixed order. So there
//! are no atomics, and results do not depend on the number of threads.

use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;
use topopt_mesh::cells::Shape;
use topopt_mesh::counting_sort::{Grouped, grouped};
use topopt_mesh::{HexMesh, tetrahedron};

use crate::kernel::Summed;
use crate::lanes::MAX_LANES;

/// Elements of a patch. Its nodes, at most ten per element, are numbered by 16 bits.
const PATCH_ELEMENTS: usize = 1024;

/// A run of consecutive elements with local node numbers.
#[derive(Debug, Clone)]
pub struct Patch {
    /// Elements of the patch, by their numbers in the mesh.
    pub elements: Range<usize>,
    /// Mesh nodes by local number.
    pub nodes: Vec<u32>,
    /// Local nodes of its elements, one element after the other.
    locals: Vec<u16>,
    /// Whether the hexahedra from `g * MAX_LANES` on, as many as that, lie in a row in which each
    /// of the eight nodes runs through consecutive local numbers; of tetrahedra never.
    pub rows: Vec<bool>,
    /// Whether the tetrahedra from `g * MAX_LANES` on, as many as that, all have straight edges.
    pub are_straight: Vec<bool>,
}

/// All elements of a mesh in patches, and where each node has its copies.
#[derive(Debug)]
pub struct Patches {
    patches: Vec<Patch>,
    /// `slots[offsets[n]..offsets[n + 1]]` are the copies of node n.
    offsets: Vec<u32>,
    slots: Vec<u32>,
    /// Copies of all patches one after the other; kept to save the allocation.
    copies: Mutex<Vec<f64>>,
}

impl Patches {
    /// Cuts `mesh` into patches of consecutive elements.
    pub fn new(mesh: &HexMesh) -> Self {
        let n_patches = mesh.n_elements().div_ceil(PATCH_ELEMENTS);
        let patches: Vec<Patch> = (0..n_patches)
            .into_par_iter()
            .map(|p| {
                let start = p * PATCH_ELEMENTS;
                Patch::new(mesh, start..mesh.n_elements().min(start + PATCH_ELEMENTS))
            })
            .collect();

        // In the order of the patches, which is that in which a node's copies are added.
        let nodes: Vec<u32> =
            patches.par_iter().flat_map_iter(|patch| patch.nodes.iter().copied()).collect();
        let Grouped { offsets, values: slots } =
            grouped(&nodes, mesh.n_nodes(), |slot| slot as u32);
        let offsets = offsets.into_par_iter().map(|start| start as u32).collect();
        Self { patches, offsets, slots, copies: Mutex::default() }
    }

    /// The patches, in the order of the elements.
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// Sums contributions of elements at nodes.
    ///
    /// `work(scratch, patch, sums)` adds the contributions of one patch to `sums`,
    /// `[patch nodes]`, which start at zero; `scratch` is reused from patch to patch.
    /// `finish(node, sum)` gives the values written to `y`, `[n_nodes]`, several numbers each.
    pub fn scatter<Scratch: Default, T: Summed>(
        &self,
        y: &mut [f64],
        work: impl Fn(&mut Scratch, &Patch, &mut [T]) + Sync,
        finish: impl Fn(usize, T) -> T + Sync,
    ) {
        let width = T::ZERO.numbers().len();
        let mut copies = self.copies.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        copies.resize(width * self.slots.len(), 0.0);
        let copies = T::slice(&mut copies);

        // Each patch owns the slice of its copies, so that none waits for another.
        let mut rest = &mut *copies;
        let mut sums = Vec::with_capacity(self.patches.len());
        for patch in &self.patches {
            let (mine, others) = rest.split_at_mut(patch.nodes.len());
            sums.push(mine);
            rest = others;
        }

        let sum_up = |scratch: &mut Scratch, (patch, sums): (&Patch, &mut [T])| {
            sums.fill(T::ZERO);
            work(scratch, patch, sums);
        };
        self.patches.par_iter().zip(sums).for_each_init(Scratch::default, sum_up);

        let copies = &*copies;
        T::slice(y).par_iter_mut().with_min_len(4096).enumerate().for_each(|(node, y)| {
            let mut total = T::ZERO;
            let [start, end] = [node, node + 1].map(|n| self.offsets[n] as usize);
            for &slot in &self.slots[start..end] {
                let copy = copies[slot as usize];
                total.numbers_mut().iter_mut().zip(copy.numbers()).for_each(|(t, c)| *t += c);
            }
            *y = finish(node, total);
        });
    }

    /// Sums the values that `of_element(element)` gives at the nodes of each element; `finish` as
    /// in [`scatter`](Self::scatter).
    pub fn scatter_elements<T: Summed, const E: usize>(
        &self,
        y: &mut [f64],
        of_element: impl Fn(usize) -> [T; E] + Sync,
        finish: impl Fn(usize, T) -> T + Sync,
    ) {
        self.scatter(
            y,
            |_: &mut (), patch, sums| {
                for (e, nodes) in patch.elements.clone().zip(patch.locals::<E>()) {
                    for (value, &node) in of_element(e).iter().zip(nodes) {
                        let sum = sums[node as usize].numbers_mut().iter_mut();
                        sum.zip(value.numbers()).for_each(|(sum, value)| *sum += value);
                    }
                }
            },
            finish,
        );
    }

    /// Writes one value per element: `work(scratch, patch, values)` fills those of a patch.
    pub fn each_element<Scratch: Default>(
        &self,
        out: &mut [f64],
        work: impl Fn(&mut Scratch, &Patch, &mut [f64]) + Sync,
    ) {
        let fill = |scratch: &mut Scratch, (patch, values): (&Patch, &mut [f64])| {
            work(scratch, patch, values);
        };
        let values = out.par_chunks_mut(PATCH_ELEMENTS);
        self.patches.par_iter().zip(values).for_each_init(Scratch::default, fill);
    }

    /// Copies a node has on average: 1 where patches share nothing.
    pub fn copies_per_node(&self) -> f64 {
        self.slots.len() as f64 / (self.offsets.len() - 1) as f64
    }
}

impl Patch {
    /// Elements of the patch from number `first` on, by their numbers in the mesh.
    #[inline(always)]
    pub(crate) fn range(&self, first: usize, count: usize) -> Range<usize> {
        let first = self.elements.start + first;
        first..first + count
    }

    fn new(mesh: &HexMesh, elements: Range<usize>) -> Self {
        let n = mesh.nodes_per_element();
        let connectivity = &mesh.connectivity()[n * elements.start..n * elements.end];
        let mut nodes: Vec<u32> = connectivity.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.shrink_to_fit(); // four times as many were numbered
        let local = |node: &u32| nodes.binary_search(node).unwrap_or_default() as u16;
        let locals: Vec<u16> = connectivity.iter().map(local).collect();
        let groups = locals.chunks(n * MAX_LANES);
        let (rows, are_straight) = match mesh.shape() {
            Shape::Tetrahedron => (Vec::new(), straight_groups(mesh, elements.clone())),
            _ => (groups.map(|group| is_row(group.as_chunks().0)).collect(), Vec::new()),
        };
        Self { elements, nodes, locals, rows, are_straight }
    }

    /// Local nodes of its elements of E nodes, `[elements][E]`.
    pub fn locals<const E: usize>(&self) -> &[[u16; E]] {
        debug_assert_eq!(self.locals.len(), E * self.elements.len());
        self.locals.as_chunks().0
    }

    /// Whether any of its elements lie in a row.
    pub fn has_rows(&self) -> bool {
        self.rows.contains(&true)
    }

    /// Replaces `out` by the components of `value(node)` at the nodes of the patch.
    pub fn gather<const D: usize>(
        &self,
        out: &mut [Vec<f64>; D],
        value: impl Fn(usize) -> [f64; D],
    ) {
        for plane in out.iter_mut() {
            plane.resize(self.nodes.len(), 0.0);
        }
        for (n, &node) in self.nodes.iter().enumerate() {
            let value = value(node as usize);
            for i in 0..D {
                out[i][n] = value[i];
            }
        }
    }
}

/// Whether all of as many tetrahedra as lanes have straight edges, for each such group.
fn straight_groups(mesh: &HexMesh, elements: Range<usize>) -> Vec<bool> {
    let groups = elements.clone().step_by(MAX_LANES);
    let is_straight = |e: usize| tetrahedron::is_straight(&mesh.tetrahedron_coordinates(e));
    groups.map(|first| (first..elements.end.min(first + MAX_LANES)).all(is_straight)).collect()
}

/// Whether every node of as many elements as lanes runs through consecutive numbers.
fn is_row(hexes: &[[u16; 8]]) -> bool {
    let mut pairs = hexes.windows(2);
    hexes.len() == MAX_LANES && pairs.all(|pair| pair[1] == pair[0].map(|node| node + 1))
}
