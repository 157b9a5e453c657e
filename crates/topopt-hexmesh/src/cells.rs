//! The cells of the grid that make the body: by volume, with a manifold skin, in whole pieces.

use crate::grid::Grid;

/// Sweeps of the repair.
const SWEEPS: usize = 60;

/// Chooses the cells of which more than half lies inside, repaired so that their skin is a
/// manifold; of its pieces the `n_pieces` largest. Returns none if the repair does not end.
pub(crate) fn body(grid: &Grid, fractions: &[f32], n_pieces: usize) -> Option<Vec<bool>> {
    let mut cells: Vec<bool> = fractions.iter().map(|&share| share > 0.5).collect();
    let table = manifold_patterns();
    let is_repaired = (0..SWEEPS).any(|n| sweep(grid, fractions, &table, n, &mut cells) == 0);
    keep_largest(grid, &mut cells, n_pieces);
    is_repaired.then_some(cells)
}

/// Whether the skin around a grid vertex is one fan, for each pattern of its eight cells: the
/// filled cells hang together by faces, and so do the empty ones.
fn manifold_patterns() -> [bool; 256] {
    std::array::from_fn(|mask| components(mask) <= 1 && components(255 ^ mask) <= 1)
}

/// Number of components of the set bits, which are neighbors where one of three digits differs.
fn components(mask: usize) -> usize {
    let (mut seen, mut count) = (0, 0);
    for first in (0..8).filter(|bit| mask >> bit & 1 == 1) {
        if seen >> first & 1 == 1 {
            continue;
        }
        count += 1;
        seen |= 1 << first;
        let mut front = vec![first];
        while let Some(bit) = front.pop() {
            for other in [1, 2, 4].map(|digit| bit ^ digit) {
                if mask >> other & 1 == 1 && seen >> other & 1 == 0 {
                    seen |= 1 << other;
                    front.push(other);
                }
            }
        }
    }
    count
}

/// Flips, at each vertex with a bad pattern, the cell that costs the least volume; returns how
/// many.
fn sweep(
    grid: &Grid,
    fractions: &[f32],
    table: &[bool; 256],
    number: usize,
    cells: &mut [bool],
) -> usize {
    let n = grid.cells();
    // Numbers that vary the choice where sweeps go round in circles.
    let mut random = 12345_u32 ^ number as u32;
    let mut flips = 0;
    for i in 1..n[0] {
        for j in 1..n[1] {
            for k in 1..n[2] {
                let place = |b: usize| [i - 1 + (b & 1), j - 1 + (b >> 1 & 1), k - 1 + (b >> 2)];
                let around: [usize; 8] = std::array::from_fn(|b| grid.cell(place(b)));
                let mask = (0..8).map(|b| usize::from(cells[around[b]]) << b).sum::<usize>();
                if table[mask] {
                    continue;
                }
                let costs = around.map(|cell| {
                    let spread = noise(&mut random, number);
                    flip_cost(fractions[cell], cells[cell], number) + spread
                });
                let is_inner =
                    |b: &usize| (0..3).all(|a| place(*b)[a] > 0 && place(*b)[a] + 1 < n[a]);
                if let Some(b) = flipped(table, mask, &costs, is_inner) {
                    cells[around[b]] = !cells[around[b]];
                    flips += 1;
                }
            }
        }
    }
    flips
}

/// Volume that a flip costs, in cells; in late sweeps cells are added rather than removed.
fn flip_cost(share: f32, is_set: bool, sweep: usize) -> f64 {
    let share = f64::from(share);
    let lost = if is_set { share - 0.5 } else { 0.5 - share };
    lost + f64::from(u8::from(sweep > 12 && is_set))
}

/// Next number of a linear congruential sequence, which counts from the sixth sweep on.
fn noise(random: &mut u32, sweep: usize) -> f64 {
    *random = random.wrapping_mul(1_103_515_245).wrapping_add(12345) & 0x7fff_ffff;
    if sweep > 5 { 0.4 * f64::from(*random) / 2_147_483_647.0 } else { 0.0 }
}

/// Cell whose flip mends a pattern at the least cost. Where no flip does alone, one is added, and
/// the next sweep continues.
fn flipped(
    table: &[bool; 256],
    mask: usize,
    costs: &[f64; 8],
    is_inner: impl Fn(&usize) -> bool + Copy,
) -> Option<usize> {
    let least = |a: usize, b: usize| if costs[b] < costs[a] { b } else { a };
    let mends = (0..8).filter(is_inner).filter(|b| table[mask ^ (1 << b)]).reduce(least);
    mends.or_else(|| (0..8).filter(is_inner).filter(|b| mask >> b & 1 == 0).reduce(least))
}

/// Empties all but the largest pieces.
fn keep_largest(grid: &Grid, cells: &mut [bool], n_pieces: usize) {
    let [_, ny, nz] = grid.cells();
    let steps = [1, nz, ny * nz];
    let mut piece = vec![u32::MAX; cells.len()];
    let mut sizes: Vec<usize> = Vec::new();
    for first in 0..cells.len() {
        if !cells[first] || piece[first] != u32::MAX {
            continue;
        }
        let number = sizes.len() as u32;
        piece[first] = number;
        let (mut front, mut size) = (vec![first], 0);
        while let Some(cell) = front.pop() {
            size += 1;
            // The margin keeps neighbors in range.
            for other in steps.iter().flat_map(|step| [cell - step, cell + step]) {
                if cells[other] && piece[other] == u32::MAX {
                    piece[other] = number;
                    front.push(other);
                }
            }
        }
        sizes.push(size);
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&p| std::cmp::Reverse(sizes[p]));
    let kept: Vec<u32> = order.into_iter().take(n_pieces).map(|p| p as u32).collect();
    (0..cells.len()).for_each(|c| cells[c] &= kept.contains(&piece[c]));
}
