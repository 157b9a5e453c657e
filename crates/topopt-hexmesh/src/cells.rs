//! The cells of the grid that make each body: by volume, with a manifold skin, in whole pieces.

use std::collections::{BTreeMap, BTreeSet};

use crate::fraction::PER_CELL;
use crate::grid::Grid;

/// Sweeps of the repair.
const SWEEPS: usize = 60;
/// Repairs until no body is left in pieces.
const PASSES: usize = 4;

/// Region that a cell is in: 0 is outside, bodies follow.
pub(crate) type Region = u16;

/// Bodies in the cells of a grid.
pub(crate) struct Bodies<'a> {
    /// The grid.
    pub grid: &'a Grid,
    /// Samples of each cell that lie inside of each body, `[n_bodies][n_cells]`.
    pub samples: &'a [Vec<u8>],
    /// Number of pieces of each body, `[n_bodies]`.
    pub pieces: &'a [usize],
    /// Pairs of bodies with something in common, the smaller number first.
    pub contacts: &'a BTreeSet<[Region; 2]>,
}

impl Bodies<'_> {
    /// Gives each cell of which more than half lies inside of bodies to the one with the largest
    /// share, repaired so that the skin of each body is a manifold; of its pieces the largest stay.
    /// Returns none if the repair does not end.
    pub fn regions(&self) -> Option<Vec<Region>> {
        let n_cells: usize = self.grid.cells().iter().product();
        let mut regions: Vec<Region> = (0..n_cells).map(|cell| self.region(cell)).collect();
        let table = manifold_patterns();
        for _ in 0..PASSES {
            let is_repaired = (0..SWEEPS).any(|n| self.sweep(&table, n, &mut regions) == 0);
            let is_whole = self.keep_largest(&mut regions);
            if !is_repaired || is_whole || self.pieces.len() == 1 {
                return is_repaired.then_some(regions);
            }
        }
        None
    }

    /// Share of a cell that lies in a region.
    fn share(&self, cell: usize, region: Region) -> f64 {
        let of_body = |own: &Vec<u8>| f64::from(own[cell]) / f64::from(PER_CELL);
        match region {
            0 => 1.0 - self.samples.iter().map(of_body).sum::<f64>(),
            body => of_body(&self.samples[body as usize - 1]),
        }
    }

    fn region(&self, cell: usize) -> Region {
        let fuller = |a: Region, b| if self.share(cell, b) > self.share(cell, a) { b } else { a };
        let fullest = (1..=self.samples.len() as Region).reduce(fuller).unwrap_or_default();
        if self.share(cell, 0) < 0.5 { fullest } else { 0 }
    }

    /// Moves, at each vertex with a bad pattern, the cell that costs the least volume to another
    /// region; returns how many.
    fn sweep(&self, table: &[bool; 256], number: usize, regions: &mut [Region]) -> usize {
        let n = self.grid.cells();
        // Numbers that vary the choice where sweeps go round in circles.
        let mut random = 12345_u32 ^ number as u32;
        let mut flips = 0;
        for i in 1..n[0] {
            for j in 1..n[1] {
                for k in 1..n[2] {
                    let place =
                        |b: usize| [i - 1 + (b & 1), j - 1 + (b >> 1 & 1), k - 1 + (b >> 2)];
                    let around: [usize; 8] = std::array::from_fn(|b| self.grid.cell(place(b)));
                    let pattern = around.map(|cell| regions[cell]);
                    if self.is_manifold(table, &pattern) {
                        continue;
                    }
                    let spreads: [f64; 8] = around.map(|_| noise(&mut random, number));
                    let cost = |b: usize, region: Region| {
                        self.cost(around[b], [pattern[b], region], number) + spreads[b]
                    };
                    let is_inner =
                        |b: &usize| (0..3).all(|a| place(*b)[a] > 0 && place(*b)[a] + 1 < n[a]);
                    let is_good = |pattern: &Pattern| self.is_manifold(table, pattern);
                    if let Some((b, region)) = moved(&pattern, is_good, cost, is_inner) {
                        regions[around[b]] = region;
                        flips += 1;
                    }
                }
            }
        }
        flips
    }

    /// Whether the skin of each region around a vertex is one fan, and bodies there have something
    /// in common.
    fn is_manifold(&self, table: &[bool; 256], pattern: &Pattern) -> bool {
        if pattern.iter().all(|region| *region == pattern[0]) {
            return true;
        }
        let present = present(pattern);
        let mask =
            |region: Region| (0..8).map(|b| usize::from(pattern[b] == region) << b).sum::<usize>();
        let bodies = || present.iter().copied().filter(|region| *region > 0);
        present.iter().all(|&region| table[mask(region)])
            && bodies().all(|a| bodies().all(|b| a >= b || self.contacts.contains(&[a, b])))
    }

    /// Volume that a move from a region to another costs, in cells; in late sweeps cells are added
    /// rather than removed.
    fn cost(&self, cell: usize, [from, to]: [Region; 2], sweep: usize) -> f64 {
        let lost = 0.5 * (self.share(cell, from) - self.share(cell, to));
        lost + f64::from(u8::from(sweep > 12 && to == 0))
    }

    /// Gives all but the largest pieces of each body to the region that most of their faces touch;
    /// returns whether there were none.
    fn keep_largest(&self, regions: &mut [Region]) -> bool {
        let (piece, pieces) = self.pieces_of(regions);
        let mut is_whole = true;
        for (body, &count) in (1..).zip(self.pieces) {
            let mut own: Vec<&Piece> = pieces.iter().filter(|own| own.region == body).collect();
            own.sort_by_key(|piece| std::cmp::Reverse(piece.size));
            for small in own.into_iter().skip(count) {
                is_whole = false;
                let to = small.neighbor();
                let cells = piece.iter().enumerate().filter(|(_, p)| **p == small.number);
                cells.for_each(|(cell, _)| regions[cell] = to);
            }
        }
        is_whole
    }

    /// Pieces of bodies: the piece of each cell, and all of them.
    fn pieces_of(&self, regions: &[Region]) -> (Vec<u32>, Vec<Piece>) {
        let [_, ny, nz] = self.grid.cells();
        let steps = [1, nz, ny * nz];
        let mut piece = vec![u32::MAX; regions.len()];
        let mut pieces: Vec<Piece> = Vec::new();
        for first in 0..regions.len() {
            if regions[first] == 0 || piece[first] != u32::MAX {
                continue;
            }
            let number = pieces.len() as u32;
            let (region, touched) = (regions[first], BTreeMap::new());
            let mut own = Piece { number, region, size: 0, touched };
            piece[first] = number;
            let mut front = vec![first];
            while let Some(cell) = front.pop() {
                own.size += 1;
                // The margin keeps neighbors in range.
                for other in steps.iter().flat_map(|step| [cell - step, cell + step]) {
                    if regions[other] != region {
                        *own.touched.entry(regions[other]).or_default() += 1;
                    } else if piece[other] == u32::MAX {
                        piece[other] = number;
                        front.push(other);
                    }
                }
            }
            pieces.push(own);
        }
        (piece, pieces)
    }
}

/// Piece of a body, of cells that hang together by faces.
struct Piece {
    number: u32,
    region: Region,
    /// Number of cells.
    size: usize,
    /// Faces to each other region.
    touched: BTreeMap<Region, usize>,
}

impl Piece {
    /// Region that most faces touch.
    fn neighbor(&self) -> Region {
        let most = self
            .touched
            .iter()
            .max_by_key(|(region, count)| (**count, std::cmp::Reverse(**region)));
        most.map_or(0, |(region, _)| *region)
    }
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

/// Next number of a linear congruential sequence, which counts from the sixth sweep on.
fn noise(random: &mut u32, sweep: usize) -> f64 {
    *random = random.wrapping_mul(1_103_515_245).wrapping_add(12345) & 0x7fff_ffff;
    if sweep > 5 { 0.4 * f64::from(*random) / 2_147_483_647.0 } else { 0.0 }
}

/// Regions of the eight cells around a vertex.
type Pattern = [Region; 8];

/// Regions in a pattern, ascending.
fn present(pattern: &Pattern) -> Vec<Region> {
    let mut present = pattern.to_vec();
    present.sort_unstable();
    present.dedup();
    present
}

/// Cell, and the region that it moves to, that mends a pattern at the least cost. Where no move
/// does alone, a cell is added to a body, and the next sweep continues.
fn moved(
    pattern: &Pattern,
    is_good: impl Fn(&Pattern) -> bool,
    cost: impl Fn(usize, Region) -> f64,
    is_inner: impl Fn(&usize) -> bool,
) -> Option<(usize, Region)> {
    let present = present(pattern);
    let to_others = |b: usize| present.iter().map(move |&region| (b, region));
    let moves = (0..8).filter(is_inner).flat_map(to_others);
    let moves: Vec<(usize, Region)> = moves.filter(|&(b, to)| pattern[b] != to).collect();
    let cheaper = |a: (usize, Region), b: (usize, Region)| {
        if cost(b.0, b.1) < cost(a.0, a.1) { b } else { a }
    };
    let mends = |&(b, region): &(usize, Region)| {
        let mut pattern = *pattern;
        pattern[b] = region;
        is_good(&pattern)
    };
    let least = moves.iter().copied().filter(mends).reduce(cheaper);
    least.or_else(|| moves.iter().copied().filter(|(_, to)| *to > 0).reduce(cheaper))
}
