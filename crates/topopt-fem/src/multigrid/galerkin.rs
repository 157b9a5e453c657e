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

use super::coarse::Modes;
use super::fine::FineTransfer;
use super::{Aggregates, MODES, difference};
use crate::lanes::MAX_LANES;
use crate::operators::{Gradients, load_coordinates, load_lame};
use crate::{DIM, Problem};

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
    pub fn new(problem: &Problem, straddling: &[Vec<u32>]) -> Self {
        let supports = problem.supports();
        let is_held = |&e: &u32| {
            let mut nodes = problem.mesh().hexes()[e as usize].iter();
            nodes.any(|&node| (0..DIM).any(|i| supports.is_fixed(node as usize, i)))
        };
        let group = |rows: &[Vec<u32>]| {
            let mut elements = rows.concat();
            elements.sort_unstable();
            elements.dedup();
            let (mut held, mut free): (Vec<u32>, Vec<u32>) =
                elements.into_iter().partition(is_held);
            held.shrink_to_fit();
            free.shrink_to_fit();
            Elements { free, held }
        };
        Self(straddling.par_chunks(ROWS).map(group).collect())
    }
}

/// coarse = P^T (K + S) P for moduli `moduli` and springs S.
pub(super) fn galerkin(
    transfer: &FineTransfer,
    groups: &RowGroups,
    moduli: &[f64],
    coarse: &mut BlockCsr<MODES>,
) {
    let arch = Arch::new();
    let springs = transfer.problem.supports().springs();
    coarse.fill_groups(ROWS, |rows, pattern, blocks| {
        let Elements { free, held } = &groups.0[rows.start / ROWS];
        let mut sums = Sums { transfer, rows, pattern, blocks };
        arch.dispatch(AddElements::<false> { sums: &mut sums, moduli, elements: free });
        sums.balance();
        arch.dispatch(AddElements::<true> { sums: &mut sums, moduli, elements: held });
        if let Some(springs) = springs {
            for row in sums.rows.clone() {
                let place = sums.place(row, row as u32);
                transfer.add_springs(springs.as_chunks().0, row, &mut sums.blocks[place]);
            }
        }
    });
}

/// The rows of a group.
struct Sums<'a> {
    transfer: &'a FineTransfer<'a>,
    rows: Range<usize>,
    pattern: &'a BlockPattern,
    /// Blocks of the rows, one row after the other.
    blocks: &'a mut [[[f64; MODES]; MODES]],
}

impl Sums<'_> {
    /// Place of a block of the group.
    fn place(&self, row: usize, column: u32) -> usize {
        let start = self.pattern.offsets()[row] - self.pattern.offsets()[self.rows.start];
        start + self.pattern.row(row).binary_search(&column).unwrap_or_default()
    }

    /// Makes the blocks on the diagonal so that a rigid motion of everything has no force.
    fn balance(&mut self) {
        let centers = self.transfer.aggregates.centers();
        for row in self.rows.clone() {
            let mut diagonal = [[0.0; MODES]; MODES];
            for &column in self.pattern.row(row) {
                let block = &self.blocks[self.place(row, column)];
                let offset = difference(centers[column as usize], centers[row]);
                for (sum, block) in diagonal.iter_mut().zip(block) {
                    let moved = block.of_parent(offset);
                    (0..MODES).for_each(|i| sum[i] -= moved[i]);
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
        let FineTransfer { problem, aggregates } = self.transfer;
        let hex = &problem.mesh().hexes()[e];
        let mut of = [0; 8];
        for a in 0..8 {
            of[a] = aggregates.of()[hex[a] as usize];
        }
        for a in 0..8 {
            let row = of[a] as usize;
            if !self.rows.contains(&row) || of[..a].contains(&of[a]) {
                continue;
            }
            for b in 0..8 {
                let column = of[b] as usize;
                let is_across = column < row && self.rows.contains(&column);
                if is_across || column == row && !HELD || of[..b].contains(&of[b]) {
                    continue;
                }
                let pair = Pair { problem, aggregates, hex, of: &of, rows: of[a], columns: of[b] };
                let block = pair.block::<HELD>(entry);
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
struct Pair<'a> {
    problem: &'a Problem,
    aggregates: &'a Aggregates,
    hex: &'a [u32; 8],
    /// Aggregate of each node.
    of: &'a [u32; 8],
    rows: u32,
    columns: u32,
}

impl Pair<'_> {
    /// The sum of P_a^T K_ab P_b over nodes a of the one and b of the other aggregate.
    #[inline(always)]
    fn block<const HELD: bool>(
        &self,
        entry: impl Fn(usize, usize) -> f64 + Copy,
    ) -> [[f64; MODES]; MODES] {
        let offsets = self.aggregates.offsets();
        let mut target = [[0.0; MODES]; MODES];
        for a in 0..8 {
            if self.of[a] != self.rows {
                continue;
            }
            // sum of K_ab P_b: a row of it is (k, r x k) for a row k of K_ab.
            let mut forces = [[0.0; MODES]; DIM];
            for b in 0..8 {
                if self.of[b] != self.columns {
                    continue;
                }
                let r = offsets[self.hex[b] as usize];
                let block = match HELD {
                    true => self.held_block(a, b, entry),
                    false => block_between(a, b, entry),
                };
                for i in 0..DIM {
                    let k = block[i];
                    forces[i][0] += k[0];
                    forces[i][1] += k[1];
                    forces[i][2] += k[2];
                    forces[i][3] += r[1] * k[2] - r[2] * k[1];
                    forces[i][4] += r[2] * k[0] - r[0] * k[2];
                    forces[i][5] += r[0] * k[1] - r[1] * k[0];
                }
            }
            let r = offsets[self.hex[a] as usize];
            let [x, y, z] = &forces;
            for c in 0..MODES {
                target[0][c] += x[c];
                target[1][c] += y[c];
                target[2][c] += z[c];
                target[3][c] += r[1] * z[c] - r[2] * y[c];
                target[4][c] += r[2] * x[c] - r[0] * z[c];
                target[5][c] += r[0] * y[c] - r[1] * x[c];
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
    ) -> [[f64; DIM]; DIM] {
        let is_fixed =
            |node: usize, i: usize| self.problem.supports().is_fixed(self.hex[node] as usize, i);
        let mut block = [[0.0; DIM]; DIM];
        for other in (0..8).filter(|&other| other != a && (other == b || a == b)) {
            let between = block_between(a, other, entry);
            let sign = if a == b { -1.0 } else { 1.0 };
            for i in (0..DIM).filter(|&i| !is_fixed(a, i)) {
                for j in (0..DIM).filter(|&j| !is_fixed(b, j)) {
                    block[i][j] += sign * between[i][j];
                }
            }
        }
        block
    }
}

/// target += block, entry by entry.
#[inline(always)]
fn add(target: &mut [[f64; MODES]; MODES], block: impl Fn(usize, usize) -> f64) {
    for i in 0..MODES {
        for j in 0..MODES {
            target[i][j] += block(i, j);
        }
    }
}

/// The block of different nodes a and b.
#[inline(always)]
fn block_between(
    a: usize,
    b: usize,
    entry: impl Fn(usize, usize) -> f64 + Copy,
) -> [[f64; DIM]; DIM] {
    let k = pair(a.min(b), a.max(b));
    let mut block = [[0.0; DIM]; DIM];
    for i in 0..DIM {
        for j in 0..DIM {
            block[i][j] = entry(k, if a < b { DIM * i + j } else { DIM * j + i });
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
struct AddElements<'a, 'b, const HELD: bool> {
    sums: &'a mut Sums<'b>,
    moduli: &'a [f64],
    elements: &'a [u32],
}

impl<const HELD: bool> WithSimd for AddElements<'_, '_, HELD> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { sums, moduli, elements } = self;
        let problem = sums.transfer.problem;
        let lame = problem.material().unit_lame();
        let mut gradients = Gradients::zeros(simd);
        let mut blocks = [[[0.0; MAX_LANES]; DIM * DIM]; PAIRS];
        for elements in elements.chunks(S::F64_LANES) {
            gradients.set(simd, &load_coordinates(simd, problem.mesh(), elements));
            let lame = load_lame(simd, elements, moduli, lame);
            for b in 1..8 {
                for a in 0..b {
                    let block = gradients.block(a, b, lame);
                    for c in 0..DIM * DIM {
                        block[c / DIM][c % DIM].store(&mut blocks[pair(a, b)][c]);
                    }
                }
            }
            for (lane, &e) in elements.iter().enumerate() {
                sums.add_element::<HELD>(e as usize, |k, c| blocks[k][c][lane]);
            }
        }
    }
}
