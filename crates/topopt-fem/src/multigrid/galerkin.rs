//! The first coarse matrix P^T (K + S) P, from the blocks of K_e between the nodes of elements.
//!
//! Rows are made in groups, and every element is evaluated once for each group that it touches,
//! whatever the number of aggregates and modes. A rigid motion of all aggregates together has no
//! energy, so the blocks on the diagonal follow from the others, except for elements that touch a
//! support. What is summed into a block, and in which order, does not depend on threads.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use topopt_linalg::{BlockCsr, BlockPattern};
use topopt_mesh::vector::difference;

use super::Aggregates;
use super::fine::FineTransfer;
use super::modes::{Modes, NodalModes};
use crate::lane_laws::lane_groups;
use crate::lanes::MAX_LANES;
use crate::operators::{Gradients, load_coefficients, load_coordinates};
use crate::{Discretization, ElementKernel, Shared};

/// Rows of a group: enough that few elements are in two, and few enough to share among threads.
const ROWS: usize = 64;

/// Pairs of different nodes of an element.
const PAIRS: usize = 28;

/// The elements that make the coarse stiffness of every group of rows.
pub(super) struct RowGroups(Vec<Elements>);

/// Elements that touch several aggregates, without a support, and those that touch a support.
struct Elements {
    free: Vec<u32>,
    held: Vec<u32>,
}

impl RowGroups {
    /// From the elements of every row.
    pub fn new<K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        straddling: &[Vec<u32>],
    ) -> Self {
        let constraints = problem.constraints();
        let groups = straddling.par_chunks(ROWS).map(|rows| {
            let mut elements = rows.concat();
            elements.sort_unstable();
            elements.dedup();
            let (mut held, mut free): (Vec<u32>, Vec<u32>) = elements.into_iter().partition(|&e| {
                let mut nodes = problem.mesh().hexes()[e as usize].iter();
                nodes.any(|&node| constraints.is_held(node as usize))
            });
            held.shrink_to_fit();
            free.shrink_to_fit();
            Elements { free, held }
        });
        Self(groups.collect())
    }
}

/// coarse = P^T (K + S) P for `coefficients` by term, and S, which takes the place of the terms
/// that hold nodes to the ground: `springs`, `[n_nodes][N]`, zero at held components, or none.
pub(super) fn galerkin<K: ElementKernel<N>, const N: usize, const M: usize>(
    transfer: &FineTransfer<K, N, M>,
    groups: &RowGroups,
    coefficients: &[&Vec<f64>],
    springs: &[[f64; N]],
    coarse: &mut BlockCsr<M>,
) where
    [f64; M]: NodalModes<N>,
{
    let arch = Arch::new();
    let made = Shared::own_rows(transfer.shared.as_ref(), coarse.pattern().n_rows());
    coarse.fill_groups(ROWS, |rows, pattern, blocks| {
        let Elements { free, held } = &groups.0[rows.start / ROWS];
        let rows = rows.start..rows.end.min(made.end); // none where all are ghosts'
        let mut sums = Sums { transfer, rows, pattern, blocks };
        arch.dispatch(AddElements::<_, false, N, M> {
            sums: &mut sums,
            coefficients,
            elements: free,
        });

        // Before the held elements and springs: what these add resists a rigid motion.
        sums.balance();
        arch.dispatch(AddElements::<_, true, N, M> {
            sums: &mut sums,
            coefficients,
            elements: held,
        });

        if !springs.is_empty() {
            for row in sums.rows.clone() {
                let place = sums.place(row, row as u32);
                transfer.add_springs(springs, row, &mut sums.blocks[place]);
            }
        }
    });
}

/// The rows of a group.
struct Sums<'a, 't, K, const N: usize, const M: usize> {
    transfer: &'a FineTransfer<'t, K, N, M>,
    rows: Range<usize>,
    pattern: &'a BlockPattern,
    /// Blocks of the rows, one row after the other.
    blocks: &'a mut [[[f64; M]; M]],
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> Sums<'_, '_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// Place of a block of the group.
    fn place(&self, row: usize, column: u32) -> usize {
        let start = self.pattern.offsets()[row] - self.pattern.offsets()[self.rows.start];
        start + self.pattern.row(row).binary_search(&column).unwrap_or_default()
    }

    /// Makes the blocks on the diagonal so that a rigid motion of everything has no force.
    fn balance(&mut self) {
        let centers = self.transfer.aggregates.centers();
        for row in self.rows.clone() {
            let mut diagonal = [[0.0; M]; M];
            for &column in self.pattern.row(row) {
                let block = &self.blocks[self.place(row, column)];
                let offset = difference(centers[column as usize], centers[row]);
                for (sum, block) in diagonal.iter_mut().zip(block) {
                    let moved = block.of_parent(offset);
                    (0..M).for_each(|i| sum[i] -= moved[i]);
                }
            }
            let place = self.place(row, row as u32);
            self.blocks[place] = diagonal;
        }
    }

    /// Adds the stiffness that an element makes between aggregates; `entry(k, c)` is entry c of the
    /// block of its nodes of pair k. Of a held element also that within an aggregate.
    #[inline(always)]
    fn add_element<const HELD: bool>(
        &mut self,
        e: usize,
        entry: impl Fn(usize, usize) -> f64 + Copy,
    ) {
        let FineTransfer { problem, aggregates, .. } = self.transfer;
        let hex = &problem.mesh().hexes()[e];
        let mut of = [0; 8];
        for a in 0..8 {
            of[a] = aggregates.of()[hex[a] as usize];
        }

        for a in 0..8 {
            let row = of[a] as usize;
            // An aggregate is taken once, at the first node that is in it.
            if !self.rows.contains(&row) || of[..a].contains(&of[a]) {
                continue;
            }

            for b in 0..8 {
                let column = of[b] as usize;
                // Of two blocks across the diagonal in the same group, one is made for both.
                let is_across = column < row && self.rows.contains(&column);
                if is_across || column == row && !HELD || of[..b].contains(&of[b]) {
                    continue;
                }

                let pair = Pair { problem, aggregates, hex, of: &of, rows: of[a], columns: of[b] };
                let block = pair.block::<M, HELD>(entry);
                let place = self.place(row, of[b]);
                add(&mut self.blocks[place], |i, j| block[i][j]);

                if column > row && self.rows.contains(&column) {
                    let place = self.place(column, of[a]);
                    add(&mut self.blocks[place], |i, j| block[j][i]);
                }
            }
        }
    }
}

/// Two aggregates, or one and itself, and an element that touches both.
struct Pair<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    aggregates: &'a Aggregates,
    hex: &'a [u32; 8],
    /// Aggregate of each node.
    of: &'a [u32; 8],
    rows: u32,
    columns: u32,
}

impl<K: ElementKernel<N>, const N: usize> Pair<'_, K, N> {
    /// The sum of P_a^T K_ab P_b over nodes a of the one and b of the other aggregate.
    #[inline(always)]
    fn block<const M: usize, const HELD: bool>(
        &self,
        entry: impl Fn(usize, usize) -> f64 + Copy,
    ) -> [[f64; M]; M]
    where
        [f64; M]: NodalModes<N>,
    {
        let offsets = self.aggregates.offsets();
        let mut target = [[0.0; M]; M];
        for a in 0..8 {
            if self.of[a] != self.rows {
                continue;
            }

            // sum of K_ab P_b: a row of it is P_b^T k for a row k of K_ab.
            let mut forces = [[0.0; M]; N];
            for b in 0..8 {
                if self.of[b] != self.columns {
                    continue;
                }
                let r = offsets[self.hex[b] as usize];
                let block =
                    if HELD { self.held_block(a, b, entry) } else { block_between(a, b, entry) };
                for i in 0..N {
                    let moved = <[f64; M]>::of_node(block[i], r);
                    (0..M).for_each(|c| forces[i][c] += moved[c]);
                }
            }

            // P_a^T times each column of that.
            let r = offsets[self.hex[a] as usize];
            for c in 0..M {
                let mut column = [0.0; N];
                (0..N).for_each(|i| column[i] = forces[i][c]);
                let moved = <[f64; M]>::of_node(column, r);
                (0..M).for_each(|m| target[m][c] += moved[m]);
            }
        }
        target
    }

    /// The block of nodes a and b, zero for held components; that of a node with itself balances
    /// those with all others.
    fn held_block(
        &self,
        a: usize,
        b: usize,
        entry: impl Fn(usize, usize) -> f64 + Copy,
    ) -> [[f64; N]; N] {
        let is_fixed =
            |node: usize, i: usize| self.problem.constraints().is_fixed(self.hex[node] as usize, i);
        let mut block = [[0.0; N]; N];
        for other in (0..8).filter(|&other| other != a && (other == b || a == b)) {
            let between: [[f64; N]; N] = block_between(a, other, entry);
            let sign = if a == b { -1.0 } else { 1.0 };
            for i in (0..N).filter(|&i| !is_fixed(a, i)) {
                for j in (0..N).filter(|&j| !is_fixed(b, j)) {
                    block[i][j] += sign * between[i][j];
                }
            }
        }
        block
    }
}

/// target += block, entry by entry.
#[inline(always)]
fn add<const M: usize>(target: &mut [[f64; M]; M], block: impl Fn(usize, usize) -> f64) {
    for i in 0..M {
        for j in 0..M {
            target[i][j] += block(i, j);
        }
    }
}

/// The block of different nodes a and b.
#[inline(always)]
fn block_between<const N: usize>(
    a: usize,
    b: usize,
    entry: impl Fn(usize, usize) -> f64 + Copy,
) -> [[f64; N]; N] {
    let k = pair(a.min(b), a.max(b));
    let mut block = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..N {
            block[i][j] = entry(k, if a < b { N * i + j } else { N * j + i });
        }
    }
    block
}

/// Number of the pair of nodes a < b.
#[inline(always)]
const fn pair(a: usize, b: usize) -> usize {
    b * (b - 1) / 2 + a
}

/// Adds the stiffness that elements make between aggregates.
struct AddElements<'a, 'b, 't, K, const HELD: bool, const N: usize, const M: usize> {
    sums: &'a mut Sums<'b, 't, K, N, M>,
    coefficients: &'a [&'a Vec<f64>],
    elements: &'a [u32],
}

impl<K: ElementKernel<N>, const HELD: bool, const N: usize, const M: usize> WithSimd
    for AddElements<'_, '_, '_, K, HELD, N, M>
where
    [f64; M]: NodalModes<N>,
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { sums, coefficients, elements } = self;
        let problem = sums.transfer.problem;

        // Set in place: gradients of eight elements are 12 kB, too much to hand over by copies.
        let mut gradients = Gradients::zeros(simd);
        let mut blocks = [[[[0.0; MAX_LANES]; N]; N]; PAIRS];

        let all = problem.elements();
        for (kernel, elements) in lane_groups(problem.kernel(), &all, elements, S::F64_LANES) {
            let x = load_coordinates(simd, &all, elements);
            kernel.integrate(simd, &x, &mut gradients);
            let loaded = load_coefficients(simd, elements, coefficients);

            for b in 1..8 {
                for a in 0..b {
                    let block = kernel.block(simd, &gradients, [a, b], &loaded);
                    for i in 0..N {
                        for j in 0..N {
                            block[i][j].store(&mut blocks[pair(a, b)][i][j]);
                        }
                    }
                }
            }

            for (lane, &e) in elements.iter().enumerate() {
                sums.add_element::<HELD>(e as usize, |k, c| blocks[k][c / N][c % N][lane]);
            }
        }
    }
}
