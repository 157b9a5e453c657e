//! Points in the order of a Hilbert curve \[Skilling2004\]: what is near in space is near in it.

use rayon::prelude::*;

use crate::BoundingBox;

/// The numbers of `points` in the order in which the curve visits them.
pub fn order(points: &[[f64; 3]]) -> Vec<u32> {
    let bounds = BoundingBox::around(points);
    let key = |(i, x): (usize, &[f64; 3])| (hilbert_index(quantize(*x, &bounds)), i as u32);
    let mut keys: Vec<(u64, u32)> = points.par_iter().enumerate().map(key).collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|(_, i)| i).collect()
}

/// Bits of the Hilbert curve in each direction; three times as many fit 64.
const BITS: u32 = 21;

/// The cell of `x` in a cube of 2^21 cells in each direction around `bounds`.
fn quantize(x: [f64; 3], bounds: &BoundingBox) -> [u32; 3] {
    let longest = bounds.extent().into_iter().fold(0.0, f64::max);
    let cells = f64::from(1 << BITS);
    [0, 1, 2].map(|d| ((x[d] - bounds.min[d]) / longest * cells).clamp(0.0, cells - 1.0) as u32)
}

/// The index along the Hilbert curve of a cell, [Skilling2004, AxestoTranspose].
fn hilbert_index(mut x: [u32; 3]) -> u64 {
    // Undo the turns and reflections of the curve, from the largest cubes to the smallest.
    for bit in (1..BITS).rev() {
        let (q, below) = (1 << bit, (1 << bit) - 1);
        for i in 0..3 {
            if x[i] & q != 0 {
                x[0] ^= below;
            } else {
                let swapped = (x[0] ^ x[i]) & below;
                x[0] ^= swapped;
                x[i] ^= swapped;
            }
        }
    }

    // The Gray code of the cell, and what it flips.
    x[1] ^= x[0];
    x[2] ^= x[1];
    let flips = (1..BITS).filter(|bit| x[2] & (1 << bit) != 0);
    let gray = flips.fold(0, |gray, bit| gray ^ ((1 << bit) - 1));

    // Bit by bit of the three axes, the highest first.
    let interleave = |index: u64, bit: u32| {
        x.iter().fold(index, |index, &v| index << 1 | u64::from((v ^ gray) >> bit & 1))
    };
    (0..BITS).rev().fold(0, interleave)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_every_cell_once_and_steps_to_neighbors() {
        let mut cells: Vec<(u64, [u32; 3])> = Vec::new();
        for i in 0..512u32 {
            let cell = [i & 7, i >> 3 & 7, i >> 6];
            cells.push((hilbert_index(cell), cell));
        }
        cells.sort_unstable();
        for (i, pair) in cells.windows(2).enumerate() {
            assert_eq!(pair[0].0, i as u64);
            let step: u32 = (0..3).map(|d| pair[0].1[d].abs_diff(pair[1].1[d])).sum();
            assert_eq!(step, 1);
        }
    }
}
