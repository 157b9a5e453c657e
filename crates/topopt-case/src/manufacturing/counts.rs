//! `Counts`: numbers of cubes of a body, and of the void around it, in cells of an endless grid.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

/// Cell of the grid by its place along the axes.
pub(super) type Cell = [i64; 3];

/// Edge of a block of cells, as a power of 2, and cells of a block.
const EDGE: u32 = 3;
const CELLS: usize = 1 << (3 * EDGE);

/// Numbers of cubes in cells. Memory is taken by blocks of cells with a cube alone: a box around
/// all would be much larger than the part where folds bring places to an oblique line or plane, or
/// to others far away.
pub(super) struct Counts {
    /// Numbers of the blocks.
    blocks: HashMap<Cell, usize>,
    /// Cubes of the body in the upper half, those of the void in the lower one,
    /// `[n_blocks][CELLS]`.
    counts: Vec<AtomicU64>,
}

/// Block that was looked up last, with its number: the next cube is mostly in the same one.
pub(super) type Last = Option<(Cell, usize)>;

impl Counts {
    /// Counts cubes, whether they are void and the cells that they come to, which `cubes` yields in
    /// any order.
    pub fn of<I: ParallelIterator<Item = (bool, Cell)>>(cubes: impl Fn() -> I) -> Self {
        let blocks = cubes().map(|(_, cell)| block_of(cell)).fold(Blocks::default, Blocks::with);
        let blocks = blocks.reduce(Blocks::default, Blocks::and).all;
        let n_cells = CELLS * blocks.len();
        let counts = (0..n_cells).into_par_iter().map(|_| AtomicU64::new(0)).collect();
        let counted = Self { blocks: blocks.into_iter().zip(0..).collect(), counts };
        cubes().for_each_init(Last::default, |last, (is_void, cell)| {
            let one = if is_void { 1 } else { 1 << 32 };
            counted.at(cell, last).fetch_add(one, Ordering::Relaxed);
        });
        counted
    }

    /// Cubes of the body and of the void in the cell of one that was counted.
    pub fn body_and_void(&self, cell: Cell, last: &mut Last) -> [u64; 2] {
        let counted = self.at(cell, last).load(Ordering::Relaxed);
        [counted >> 32, counted & u64::from(u32::MAX)]
    }

    fn at(&self, cell: Cell, last: &mut Last) -> &AtomicU64 {
        let block = block_of(cell);
        let number = match *last {
            Some((known, number)) if known == block => number,
            _ => self.blocks[&block],
        };
        *last = Some((block, number));
        let [x, y, z] = cell.map(|x| x as usize % (1 << EDGE));
        &self.counts[CELLS * number + x + (y << EDGE) + (z << (2 * EDGE))]
    }
}

fn block_of(cell: Cell) -> Cell {
    cell.map(|x| x >> EDGE)
}

/// Blocks with a cube.
#[derive(Default)]
struct Blocks {
    last: Option<Cell>,
    all: HashSet<Cell>,
}

impl Blocks {
    fn with(mut self, block: Cell) -> Self {
        if self.last != Some(block) {
            self.all.insert(block);
        }
        Self { last: Some(block), ..self }
    }

    fn and(mut self, other: Self) -> Self {
        self.all.extend(other.all);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cubes along a diagonal, and as many at a distance of 1e12 cells: a box around them would
    /// have 1e36 cells.
    #[test]
    fn cells_far_from_each_other_take_no_memory_between() {
        let cell = |i: u64| {
            let far = if i.is_multiple_of(2) { 0 } else { -1_000_000_000_000 };
            [far + i as i64 / 4; 3]
        };
        let cubes = || (0..4000_u64).into_par_iter().map(|i| (i.is_multiple_of(3), cell(i)));
        let counts = Counts::of(cubes);
        assert!(counts.counts.len() <= 2 * CELLS * (1000 / 8 + 1));
        let mut last = Last::default();
        for i in 0..4000_u64 {
            let others = (i / 4 * 4..i / 4 * 4 + 4).filter(|other| other % 2 == i % 2);
            let (void, body): (Vec<u64>, Vec<u64>) = others.partition(|other| other % 3 == 0);
            let expected = [body, void].map(|cubes| cubes.len() as u64);
            assert_eq!(counts.body_and_void(cell(i), &mut last), expected, "{i}");
        }
    }
}
