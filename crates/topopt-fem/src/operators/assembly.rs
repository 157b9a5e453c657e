//! The assembled matrix of N x N blocks, by groups of rows.
//!
//! An element is evaluated once for each group that it touches, several elements at a time. What is
//! summed into a block, and in which order, follows from the numbers of the elements alone, and is
//! the same on both sides of the diagonal: the matrix is symmetric to the bit.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use topopt_linalg::{BlockCsr, BlockPattern};
use topopt_mesh::{HexMesh, NodeToElements};

use super::element_lanes::{load_coefficients, load_coordinates};
use super::gradients::Gradients;
use crate::lane_laws::lane_groups;
use crate::lanes::MAX_LANES;
use crate::{Constraints, ElementKernel, Elements};

/// Rows of a group: enough that few elements are in two, and few enough to share among threads.
const ROWS: usize = 1024;

/// Pairs of nodes a <= b of an element.
const PAIRS: usize = 36;

/// The elements of every group of rows, increasing.
#[derive(Debug)]
pub struct RowElements(Vec<Vec<u32>>);

impl RowElements {
    /// Collects the elements that touch each group of `ROWS` nodes of a mesh.
    pub fn new(mesh: &HexMesh, adjacency: &NodeToElements) -> Self {
        let firsts = (0..mesh.n_nodes()).into_par_iter().step_by(ROWS);
        let groups = firsts.map(|first| {
            let rows = first..mesh.n_nodes().min(first + ROWS);
            let mut elements: Vec<u32> =
                rows.flat_map(|node| adjacency.elements_of(node)).copied().collect();
            elements.sort_unstable();
            elements.dedup();
            elements.shrink_to_fit();
            elements
        });
        Self(groups.collect())
    }

    /// Recomputes `matrix`, whose pattern is [`pattern`]: `sum_e sum_t c_et K_et` for
    /// `coefficients` by term, with the identity in the rows and columns of held components.
    /// Without terms the sum is zero.
    pub fn assemble<K: ElementKernel<N>, const N: usize>(
        &self,
        kernel: &K,
        elements: &Elements,
        constraints: &Constraints<N>,
        coefficients: &[&Vec<f64>],
        matrix: &mut BlockCsr<N>,
    ) {
        let arch = Arch::new();
        matrix.fill_groups(ROWS, |rows, pattern, blocks| {
            let numbers = match coefficients {
                [] => &[][..],
                _ => &self.0[rows.start / ROWS],
            };
            let mut sums = Rows { rows, pattern, blocks };
            let rows = &mut sums;
            arch.dispatch(AddElements { kernel, elements, numbers, coefficients, rows });
            sums.hold(constraints);
        });
    }
}

/// Bytes of the matrix with the elements of its rows, and of the adjacency that both are made by:
/// 27 blocks per row, and elements in some two groups.
pub fn bytes<const N: usize>(n_nodes: usize, n_elements: usize) -> usize {
    (16 + 27 * (4 + 8 * N * N)) * n_nodes + 48 * n_elements
}

/// Returns the block pattern of the matrix: one block per pair of nodes that share an element.
pub fn pattern(mesh: &HexMesh, adjacency: &NodeToElements) -> BlockPattern {
    let rows = (0..mesh.n_nodes()).into_par_iter().map_init(Vec::new, |columns, node| {
        columns.clear();
        columns.extend(adjacency.elements_of(node).iter().flat_map(|&e| mesh.hexes()[e as usize]));
        columns.sort_unstable();
        columns.dedup();
        columns.clone()
    });
    BlockPattern::new(rows.collect())
}

/// The rows of a group.
struct Rows<'a, const N: usize> {
    rows: Range<usize>,
    pattern: &'a BlockPattern,
    /// Blocks of the rows, one row after the other.
    blocks: &'a mut [[[f64; N]; N]],
}

impl<const N: usize> Rows<'_, N> {
    /// Adds the matrix of an element: `entry(a, b, i, j)` is the entry of components i and j of its
    /// nodes a <= b.
    #[inline(always)]
    fn add(&mut self, hex: &[u32; 8], entry: impl Fn(usize, usize, usize, usize) -> f64) {
        let (own, pattern) = (&self.rows, self.pattern);
        let start = pattern.offsets()[own.start];
        // Of rows of this group, where they begin and their columns.
        let rows = hex.map(|node| {
            let row = node as usize;
            own.contains(&row).then(|| (pattern.offsets()[row] - start, pattern.row(row)))
        });

        let place = |row: usize, column: usize| {
            let (first, columns) = rows[row]?;
            Some(first + columns.binary_search(&hex[column]).ok()?)
        };
        let mut add = |place: Option<usize>, entry: &dyn Fn(usize, usize) -> f64| {
            if let Some(block) = place.map(|place| &mut self.blocks[place]) {
                (0..N).for_each(|i| (0..N).for_each(|j| block[i][j] += entry(i, j)));
            }
        };

        for b in 0..8 {
            add(place(b, b), &|i, j| entry(b, b, i, j));
            for a in 0..b {
                // Both at once where a node stands twice: a block on the diagonal stays symmetric.
                if hex[a] == hex[b] {
                    add(place(a, b), &|i, j| entry(a, b, i, j) + entry(a, b, j, i));
                    continue;
                }
                add(place(a, b), &|i, j| entry(a, b, i, j));
                add(place(b, a), &|i, j| entry(a, b, j, i));
            }
        }
    }

    /// Makes the rows and columns of held components those of the identity.
    fn hold(&mut self, constraints: &Constraints<N>) {
        let start = self.pattern.offsets()[self.rows.start];
        for row in self.rows.clone() {
            let first = self.pattern.offsets()[row] - start;
            for (block, &column) in self.blocks[first..].iter_mut().zip(self.pattern.row(row)) {
                let column = column as usize;
                if !constraints.is_held(row) && !constraints.is_held(column) {
                    continue;
                }
                for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
                    if constraints.is_fixed(row, i) || constraints.is_fixed(column, j) {
                        block[i][j] = f64::from(row == column && i == j);
                    }
                }
            }
        }
    }
}

/// Adds the matrices of elements to the rows of a group.
struct AddElements<'a, 'b, K, const N: usize> {
    kernel: &'a K,
    elements: &'a Elements<'a>,
    numbers: &'a [u32],
    coefficients: &'a [&'a Vec<f64>],
    rows: &'a mut Rows<'b, N>,
}

impl<K: ElementKernel<N>, const N: usize> WithSimd for AddElements<'_, '_, K, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { kernel, elements, numbers, coefficients, rows } = self;
        let mut gradients = Gradients::zeros(simd);
        let mut blocks = [[[[0.0; MAX_LANES]; N]; N]; PAIRS];

        for (kernel, numbers) in lane_groups(kernel, elements, numbers, S::F64_LANES) {
            kernel.integrate(simd, &load_coordinates(simd, elements, numbers), &mut gradients);
            let loaded = load_coefficients(simd, numbers, coefficients);
            for b in 0..8 {
                for a in 0..=b {
                    let block = kernel.block(simd, &gradients, [a, b], &loaded);
                    for i in 0..N {
                        for j in 0..N {
                            block[i][j].store(&mut blocks[pair(a, b)][i][j]);
                        }
                    }
                }
            }

            for (lane, &e) in numbers.iter().enumerate() {
                let hex = elements.hex(e as usize);
                rows.add(hex, |a, b, i, j| blocks[pair(a, b)][i][j][lane]);
            }
        }
    }
}

/// Number of the pair of nodes a <= b.
#[inline(always)]
const fn pair(a: usize, b: usize) -> usize {
    b * (b + 1) / 2 + a
}
