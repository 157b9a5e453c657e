//! Points in the order of a Hilbert curve \[Skilling2004\]: what is near in space is near in it.

use rayon::prelude::*;

use crate::BoundingBox;
use crate::counting_sort::{Grouped, grouped, parts};

/// Points of a group are this many on average, where they are spread evenly: few enough to be
/// sorted in a thread's cache.
const OF_GROUP: usize = 64;

/// The numbers of `points` in the order in which the curve visits them.
pub fn order(points: &[[f64; 3]]) -> Vec<u32> {
    let bounds = BoundingBox::around(points);
    let mut indices = vec![0; points.len()];
    let blocks = indices.par_chunks_mut(LANES).zip(points.par_chunks(LANES)).with_min_len(64);
    blocks.for_each(|(indices, points)| {
        let mut cells = [[0; LANES]; 3];
        for (lane, x) in points.iter().enumerate() {
            let cell = quantize(*x, &bounds);
            (0..3).for_each(|d| cells[d][lane] = cell[d]);
        }
        indices.copy_from_slice(&hilbert_indices(cells)[..points.len()]);
    });

    // By the first bits of the index, then each group by the others.
    let bits = (points.len() / OF_GROUP).max(1).ilog2().min(3 * BITS);
    let groups: Vec<u32> =
        indices.par_iter().map(|index| (index >> (3 * BITS - bits)) as u32).collect();
    let Grouped { offsets, values: mut order } = grouped(&groups, 1 << bits, |i| i as u32);

    let ends = offsets[1..].chunks(GROUPS).filter_map(|ends| ends.last().copied());
    let (starts, chunks) = parts(&mut order, ends);
    let chunks = chunks.into_par_iter().zip(starts).zip(offsets[1..].par_chunks(GROUPS));
    chunks.for_each(|((order, start), ends)| sort_groups(order, start, ends, &indices));
    order
}

/// Groups that are sorted by one thread at a time.
const GROUPS: usize = 256;

/// Sorts each of the groups of `order`, which `start` there and then at each of `ends`, by `indices`; where
/// these are the same, by number.
fn sort_groups(mut order: &mut [u32], mut start: usize, ends: &[usize], indices: &[u64]) {
    let mut keys: Vec<(u64, u32)> = Vec::new();
    for &end in ends {
        let (group, others) = order.split_at_mut(end - start);
        keys.clear();
        keys.extend(group.iter().map(|&i| (indices[i as usize], i)));
        keys.par_sort_unstable(); // by all threads where a far point puts many into one group
        group.iter_mut().zip(&keys).for_each(|(place, key)| *place = key.1);
        (order, start) = (others, end);
    }
}

/// Bits of the Hilbert curve in each direction; three times as many fit 64.
const BITS: u32 = 21;

/// The cell of `x` in a cube of 2^21 cells in each direction around `bounds`.
fn quantize(x: [f64; 3], bounds: &BoundingBox) -> [u32; 3] {
    let longest = bounds.extent().into_iter().fold(0.0, f64::max);
    let cells = f64::from(1 << BITS);
    [0, 1, 2].map(|d| ((x[d] - bounds.min[d]) / longest * cells).clamp(0.0, cells - 1.0) as u32)
}

/// Cells whose indices are computed at a time, by vector instructions.
const LANES: usize = 8;

/// The indices along the Hilbert curve of cells `[3][lane]`, [Skilling2004, AxestoTranspose];
/// without branches.
fn hilbert_indices(mut x: [[u32; LANES]; 3]) -> [u64; LANES] {
    // Undo the turns and reflections of the curve, from the largest cubes to the smallest.
    for bit in (1..BITS).rev() {
        let below = (1 << bit) - 1;
        for i in 0..3 {
            for lane in 0..LANES {
                // All bits below where this one is set, none where it is not.
                let reflected = (x[i][lane] >> bit & 1).wrapping_neg() & below;
                let swapped = (x[0][lane] ^ x[i][lane]) & (below ^ reflected);
                x[i][lane] ^= swapped;
                x[0][lane] ^= swapped ^ reflected;
            }
        }
    }

    std::array::from_fn(|lane| {
        // The Gray code of the cell, and what it flips: each bit as often as there are ones above it.
        let [x, y, z] = x.map(|x| x[lane]);
        let (y, z) = (y ^ x, z ^ y ^ x);
        let mut flips = z >> 1;
        for shift in [1, 2, 4, 8, 16] {
            flips ^= flips >> shift;
        }

        // Bit by bit of the three axes, the highest first.
        [x, y, z].into_iter().fold(0, |index, v| index << 1 | spread(v ^ flips))
    })
}

/// Bit i of a number of [`BITS`] bits as bit 3 i.
fn spread(x: u32) -> u64 {
    let mut x = u64::from(x);
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hilbert_index(cell: [u32; 3]) -> u64 {
        hilbert_indices(cell.map(|x| [x; LANES]))[LANES - 1]
    }

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

    #[test]
    fn points_come_by_index_then_by_number_on_any_number_of_threads() {
        // In a rod, so that groups are uneven, and some in the same place.
        let point = |i: u32| {
            let random = |step: u32| f64::from(i.wrapping_mul(step) >> 12);
            [random(2_654_435_761), 0.01 * random(40_503), f64::from(i % 7)]
        };
        for n in [1, 70, 30_000] {
            let mut points: Vec<[f64; 3]> = (0..n).map(point).collect();
            points.extend_from_within(..n as usize / 3);

            let bounds = BoundingBox::around(&points);
            let mut expected: Vec<u32> = (0..points.len() as u32).collect();
            expected.sort_by_key(|&i| hilbert_index(quantize(points[i as usize], &bounds)));
            for n_threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                assert_eq!(pool.install(|| order(&points)), expected);
            }
        }
    }
}
