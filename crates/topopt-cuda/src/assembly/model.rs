//! Bytes and operations of an assembly, counted by hand: each array once, and numbers that are
//! added to in memory twice.

use topopt_linalg::Cost;

use super::pattern::PAIRS;
use super::routine::Routine;

/// Numbers of a stored element: its tiles, and the capacities of its nodes where there is one unknown.
pub(super) fn stored_numbers(unknowns: usize) -> usize {
    PAIRS * unknowns * unknowns + if unknowns == 1 { 8 } else { 0 }
}

/// Operations of an element at its eight Gauss points: coefficients of the coordinates by eight
/// threads, 72 each; Jacobian, cofactors and gradients of a point, 281.
const EVALUATION: f64 = 8.0 * (72.0 + 281.0);

/// Operations of a tile: eight points, then Lame's constants, or the eighth of the capacities that
/// it has on average.
fn tile(unknowns: usize) -> f64 {
    match unknowns {
        1 => 8.0 * 6.0 + 2.0 + 8.0 * 32.0 / 36.0,
        _ => 8.0 * 18.0 + 18.0 + 36.0,
    }
}

/// Sizes from which the cost of an assembly is counted.
pub(crate) struct Sizes {
    pub nodes: f64,
    pub elements: f64,
    pub blocks: f64,
    pub upper: f64,
    pub unknowns: usize,
    /// Bytes of a number.
    pub real: f64,
}

impl Sizes {
    /// Bytes of a block, or a tile.
    pub fn block(&self) -> f64 {
        (self.unknowns * self.unknowns) as f64 * self.real
    }

    /// Bytes of the tiles of all elements.
    pub fn tiles(&self) -> f64 {
        self.elements * PAIRS as f64 * self.block()
    }

    /// Bytes of the whole matrix.
    pub fn matrix(&self) -> f64 {
        self.blocks * self.block()
    }

    /// Bytes of a list of all elements' tiles, at `bytes` per tile.
    pub fn list(&self, bytes: f64) -> f64 {
        bytes * self.elements * PAIRS as f64
    }

    /// Bytes of the upper blocks, read again for their mirror images, with 9 bytes of places each.
    pub fn finish(&self) -> f64 {
        self.upper * (self.block() + 9.0)
    }
}

/// Cost of one assembly that evaluates each element `redundancy` times, makes `tiles` per element
/// and adds `traffic` of its own.
pub(super) fn cost(
    routine: Routine,
    sizes: &Sizes,
    (redundancy, tiles): (f64, usize),
    [read, bytes_written]: [f64; 2],
) -> Cost {
    let Sizes { nodes, elements, unknowns, real, .. } = *sizes;
    let coefficients = if unknowns == 1 { 2.0 } else { 1.0 };
    let stored = stored_numbers(unknowns) as f64;
    let evaluated = elements * redundancy * EVALUATION + elements * tiles as f64 * tile(unknowns);
    let (of_elements, flops) = match routine {
        Routine::Stored => (elements * stored * real, 2.0 * elements * stored),
        Routine::Computed => (elements * redundancy * 32.0 + 24.0 * nodes, evaluated),
        Routine::Empty => (elements * redundancy * 32.0 + 24.0 * nodes, 0.0),
    };
    let sums = elements * (PAIRS * unknowns * unknowns) as f64;
    let bytes_read = of_elements + elements * coefficients * real + read;
    Cost { bytes_read, bytes_written, flops: flops + sums }
}
