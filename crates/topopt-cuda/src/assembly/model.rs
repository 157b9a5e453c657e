//! Bytes and operations of an assembly, counted by hand: each array once, and numbers that are added to
//! in memory twice.

use topopt_linalg::Cost;

use super::pattern::PAIRS;
use super::strategy::AssemblyStrategy;
use super::task::Routine;

/// Numbers of a stored element: its tiles, and the capacities of its nodes where there is one unknown.
pub(super) fn stored_numbers(unknowns: usize) -> usize {
    PAIRS * unknowns * unknowns + if unknowns == 1 { 8 } else { 0 }
}

/// Operations of an element at its eight Gauss points: coefficients of the coordinates by eight threads, 72
/// each; Jacobian, cofactors and gradients of a point, 281.
const EVALUATION: f64 = 8.0 * (72.0 + 281.0);

/// Operations of a tile: eight points, then Lame's constants, or the eighth of the capacities that it has on
/// average.
fn tile(unknowns: usize) -> f64 {
    match unknowns {
        1 => 8.0 * 6.0 + 2.0 + 8.0 * 32.0 / 36.0,
        _ => 8.0 * 18.0 + 18.0 + 36.0,
    }
}

/// Sizes from which the cost of an assembly is counted.
pub(super) struct Sizes {
    pub nodes: f64,
    pub elements: f64,
    pub blocks: f64,
    pub upper: f64,
    /// Elements evaluated over those of the mesh.
    pub redundancy: f64,
    pub unknowns: usize,
    /// Bytes of a number.
    pub real: f64,
}

/// Cost of one assembly.
pub(super) fn cost(strategy: AssemblyStrategy, routine: Routine, sizes: &Sizes) -> Cost {
    use AssemblyStrategy::{Atomic, ElemColor, GlobalNz, LocalNz, LocalRow, Patch, SharedNz};
    let Sizes { nodes, elements, blocks, upper, redundancy, unknowns, real } = *sizes;
    let numbers = (unknowns * unknowns) as f64;
    let coefficients = if unknowns == 1 { 2.0 } else { 1.0 };
    let pairs = PAIRS as f64;
    let (tiles, block) = (pairs * numbers * real, numbers * real);

    // Tiles that are made, and what the routine reads and computes.
    let made = if strategy == LocalRow { 64.0 } else { pairs };
    let (read, flops) = match routine {
        Routine::Stored => {
            let stored = stored_numbers(unknowns) as f64;
            (elements * (stored + coefficients) * real, 2.0 * elements * stored)
        }
        _ => {
            let read = elements * redundancy * 32.0 + elements * coefficients * real + 24.0 * nodes;
            let evaluated = elements * redundancy * EVALUATION;
            let computed = if routine == Routine::Empty {
                0.0
            } else {
                evaluated + elements * made * tile(unknowns)
            };
            (read, computed)
        }
    };
    let sums = elements * pairs * numbers;

    // Of upper blocks: read again, and written below the diagonal with 9 bytes that say where.
    let finish = [upper * (block + 9.0), blocks * block];
    let lists = upper * 13.0;
    let (bytes_read, bytes_written) = match strategy {
        ElemColor | Atomic => {
            let numbers = elements * (4.0 * pairs + tiles);
            (numbers + finish[0], elements * tiles + blocks * block + finish[1])
        }
        Patch => (elements * (4.0 * pairs + 4.0) + lists + finish[0], upper * block + finish[1]),
        GlobalNz => {
            let again = if routine == Routine::Stored { 0.0 } else { elements * tiles };
            (again + elements * 4.0 * pairs + lists, again + blocks * block)
        }
        // The reverse connectivity, and what is held of both nodes.
        LocalRow => (40.0 * elements + 4.0 * blocks + 13.0 * nodes, blocks * block),
        LocalNz => (elements * 4.0 * pairs + lists, blocks * block),
        SharedNz => {
            (elements * (2.0 * pairs + 4.0 * redundancy) + lists + 4.0 * upper, blocks * block)
        }
    };
    Cost { bytes_read: read + bytes_read, bytes_written, flops: flops + sums }
}
