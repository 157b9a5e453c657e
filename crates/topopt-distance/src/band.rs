//! The part of the patches where a level set is known: sums over its tetrahedra at its vertices.

use rayon::prelude::*;

use crate::patches::Patches;

/// The vertices with values within a band, the tetrahedra around them, and where their sums lie.
pub(crate) struct Band<'a> {
    patches: &'a Patches,
    parts: Vec<Part>,
    /// Vertices in the band, ascending.
    vertices: Vec<u32>,
    /// `slots[offsets[i]..offsets[i + 1]]` are the sums of vertex i of the band.
    offsets: Vec<usize>,
    slots: Vec<u32>,
}

/// The tetrahedra of a patch around vertices of the band.
struct Part {
    patch: usize,
    /// Local numbers of the tetrahedra.
    cells: Vec<u16>,
}

/// A tetrahedron of the band.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cell {
    /// Number of the tetrahedron.
    pub number: u32,
    /// Vertices of the tetrahedron.
    pub corners: [u32; 4],
    /// Values at its corners.
    pub values: [f64; 4],
}

impl<'a> Band<'a> {
    /// The band where |value| < `width`.
    pub fn new(patches: &'a Patches, values: &[f64], width: f64) -> Self {
        let is_inside = |vertex: &u32| values[*vertex as usize].abs() < width;
        let vertices: Vec<u32> =
            (0..values.len() as u32).into_par_iter().filter(is_inside).collect();

        let parts = (0..patches.len()).into_par_iter().map(|number| {
            let patch = patches.patch(number);
            let moves: Vec<bool> = patch.vertices.iter().map(is_inside).collect();
            let cells = (0..patch.cells.len() as u16).zip(patch.cells);
            let moving = cells.filter(|(_, cell)| cell.iter().any(|&v| moves[v as usize]));
            Part { patch: number, cells: moving.map(|(local, _)| local).collect() }
        });
        let parts: Vec<Part> = parts.filter(|part| !part.cells.is_empty()).collect();

        // The sums of the parts lie one after the other. All patches of a vertex in the band are
        // there.
        let mut first_sum = vec![0u32; patches.len()];
        let mut n_sums = 0;
        for part in &parts {
            first_sum[part.patch] = n_sums;
            n_sums += patches.patch(part.patch).vertices.len() as u32;
        }
        let slot = |&copy: &u32| {
            let (patch, local) = patches.place(copy);
            first_sum[patch] + u32::from(local)
        };
        let copies = vertices.par_iter().flat_map_iter(|&vertex| patches.copies(vertex));
        let slots = copies.map(slot).collect();
        let mut offsets = vec![0];
        for (i, &vertex) in vertices.iter().enumerate() {
            offsets.push(offsets[i] + patches.copies(vertex).len());
        }
        Self { patches, parts, vertices, offsets, slots }
    }

    /// Vertices in the band, ascending.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The smallest number of all tetrahedra; infinite if there are none.
    pub fn smallest(&self, values: &[f64], of_cell: impl Fn(Cell) -> f64 + Sync) -> f64 {
        let of_part = |part: &Part| {
            let mut smallest = f64::INFINITY;
            self.visit(part, values, |cell, _| smallest = smallest.min(of_cell(cell)));
            smallest
        };
        self.parts.par_iter().map(of_part).reduce(|| f64::INFINITY, f64::min)
    }

    /// `finish(vertex, sums)` of the vertices in the band, where `of_cell` gives what a tetrahedron
    /// adds at its four corners. Sums are those of the patches, added in the order of these.
    pub fn sum<const N: usize>(
        &self,
        values: &[f64],
        of_cell: impl Fn(Cell) -> [[f64; N]; 4] + Sync,
        finish: impl Fn(u32, [f64; N]) -> f64 + Sync,
    ) -> Vec<f64> {
        let n_sums = |part: &Part| self.patches.patch(part.patch).vertices.len();
        let mut sums = vec![[0.0; N]; self.parts.iter().map(n_sums).sum()];
        let mut rest = sums.as_mut_slice();
        let mut own = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (sums, others) = rest.split_at_mut(n_sums(part));
            own.push((part, sums));
            rest = others;
        }

        own.into_par_iter().for_each(|(part, sums)| {
            self.visit(part, values, |cell, locals| {
                let terms = of_cell(cell);
                for a in 0..4 {
                    let sums = &mut sums[locals[a] as usize];
                    for k in 0..N {
                        sums[k] += terms[a][k];
                    }
                }
            });
        });

        let vertices = self.vertices.par_iter().enumerate().map(|(i, &vertex)| {
            let mut total = [0.0; N];
            for &slot in &self.slots[self.offsets[i]..self.offsets[i + 1]] {
                for k in 0..N {
                    total[k] += sums[slot as usize][k];
                }
            }
            finish(vertex, total)
        });
        vertices.collect()
    }

    /// Calls `each` with the tetrahedra of a part and the local numbers of their corners.
    fn visit(&self, part: &Part, values: &[f64], mut each: impl FnMut(Cell, [u16; 4])) {
        let patch = self.patches.patch(part.patch);
        let order = &self.patches.order()[patch.first_cell..];
        for &cell in &part.cells {
            let locals = patch.cells[cell as usize];
            let mut of_cell = Cell { number: order[cell as usize], ..Cell::default() };
            for a in 0..4 {
                of_cell.corners[a] = patch.vertices[locals[a] as usize];
                of_cell.values[a] = values[of_cell.corners[a] as usize];
            }
            each(of_cell, locals);
        }
    }
}
