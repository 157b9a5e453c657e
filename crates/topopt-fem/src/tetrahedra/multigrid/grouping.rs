//! Groups of strongly coupled points, grown one after the other in each region of the part.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;
use topopt_linalg::BlockCsr;
use topopt_mesh::hilbert;

use crate::DIM;

/// Neighbors of points with the strengths of their couplings, in compressed rows.
pub(super) struct Graph {
    offsets: Vec<usize>,
    /// Columns, and |A_ij| / sqrt(|A_ii| |A_jj|), Frobenius norms of blocks.
    neighbors: Vec<(u32, f32)>,
    /// The points along a Hilbert curve, and the place of each point along it.
    order: Vec<u32>,
    places: Vec<u32>,
}

impl Graph {
    /// Builds the graph of points at `positions` with rows of blocks, given by their columns and
    /// norms, the own one among them.
    pub fn of_rows(rows: &[Vec<(u32, f64)>], positions: &[[f64; DIM]]) -> Self {
        let own = |(row, entries): (usize, &Vec<(u32, f64)>)| {
            let entry = entries.iter().find(|(column, _)| *column as usize == row);
            entry.map_or(0.0, |(_, norm)| *norm).sqrt()
        };
        let scale: Vec<f64> = rows.par_iter().enumerate().map(own).collect();
        let others = |row: usize| rows[row].iter().filter(move |entry| entry.0 as usize != row);
        let strength = |row: usize, (column, norm): (u32, f64)| {
            let scale = scale[row] * scale[column as usize];
            (column, if scale > 0.0 { (norm / scale) as f32 } else { 0.0 })
        };

        let of_row = |row: usize| others(row).map(move |&entry| strength(row, entry));
        let neighbors = (0..rows.len()).into_par_iter().flat_map_iter(of_row).collect();
        let ends = (0..rows.len()).scan(0, |end, row| {
            *end += others(row).count();
            Some(*end)
        });
        let order = hilbert::order(positions);
        let mut places = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&point, place)| places[point as usize] = place);
        Self { offsets: std::iter::once(0).chain(ends).collect(), neighbors, order, places }
    }

    /// Builds the graph of a matrix whose points are at `positions`.
    pub fn of_matrix<const B: usize>(matrix: &BlockCsr<B>, positions: &[[f64; DIM]]) -> Self {
        let row = |row: usize| -> Vec<(u32, f64)> {
            let columns = matrix.pattern().row(row).iter().copied();
            columns.zip(matrix.row(row).iter().map(frobenius)).collect()
        };
        let rows: Vec<_> = (0..matrix.pattern().n_rows()).into_par_iter().map(row).collect();
        Self::of_rows(&rows, positions)
    }

    fn neighbors(&self, point: u32) -> &[(u32, f32)] {
        &self.neighbors[self.offsets[point as usize]..self.offsets[point as usize + 1]]
    }

    /// Groups of up to `size` points, `[n_groups]`, each increasing: one grows by
    /// the point that is coupled with it most strongly, and the next one begins at the point whose
    /// neighbors are in groups for the most part. Points of fragments below a third of `size` join
    /// the group that they are coupled with most strongly, which has half of `size` more at most.
    pub fn groups(&self, size: usize) -> Vec<Vec<u32>> {
        let regions = self.order.par_chunks(REGION).enumerate();
        let of_region = |(region, points)| Growth::new(self, points, region * REGION).groups(size);

        let mut groups: Vec<Vec<u32>> = regions.flat_map_iter(of_region).collect();
        self.join_fragments(&mut groups, size);
        groups.retain(|group| !group.is_empty());
        groups.par_iter_mut().for_each(|group| group.sort_unstable());
        groups
    }

    fn join_fragments(&self, groups: &mut [Vec<u32>], size: usize) {
        let mut of = vec![0; self.offsets.len() - 1];
        for (number, group) in (0..).zip(groups.iter()) {
            group.iter().for_each(|&point| of[point as usize] = number);
        }
        let is_small = |group: &Vec<u32>| 3 * group.len() < size;
        for number in 0..groups.len() {
            if !is_small(&groups[number]) {
                continue;
            }
            for point in std::mem::take(&mut groups[number]) {
                let takes_it = |other: u32| {
                    let group = of[other as usize] as usize;
                    let len = groups[group].len();
                    group != number && !is_small(&groups[group]) && 2 * len < 3 * size
                };
                let beside = self.neighbors(point).iter().filter(|(other, _)| takes_it(*other));
                let strongest = beside.max_by(|a, b| a.1.total_cmp(&b.1));
                let target = strongest.map_or(number, |(other, _)| of[*other as usize] as usize);
                of[point as usize] = target as u32;
                groups[target].push(point);
            }
        }
    }
}

/// Frobenius norm of a block.
pub(super) fn frobenius<const B: usize>(block: &[[f64; B]; B]) -> f64 {
    block.as_flattened().iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Consecutive points along a Hilbert curve that groups grow in by themselves, so that regions can
/// be worked on at the same time: few enough for that, and many enough to be bounded by few.
const REGION: usize = 4096;
/// In [`Growth::sums`]: the point is not beside the group that grows.
const APART: f32 = -1.0;

/// Groups as they grow in a region. Its points are numbered by their places in it.
struct Growth<'a> {
    graph: &'a Graph,
    points: &'a [u32],
    start: usize,
    is_free: Vec<bool>,
    /// Neighbors of every point in the region, and how many of these are in groups.
    counts: Vec<[u32; 2]>,
    /// Strengths of all couplings with the group that grows.
    sums: Vec<f32>,
    /// Points beside groups by the share of their neighbors in groups, in thousandths.
    front: BinaryHeap<(u32, Reverse<u32>)>,
}

impl<'a> Growth<'a> {
    fn new(graph: &'a Graph, points: &'a [u32], start: usize) -> Self {
        let (n, front) = (points.len(), BinaryHeap::new());
        let (is_free, sums, counts) = (vec![true; n], vec![APART; n], Vec::new());
        let mut growth = Self { graph, points, start, is_free, counts, sums, front };
        let count = |place| [growth.neighbors(place).count() as u32, 0];
        growth.counts = (0..n as u32).map(count).collect();
        growth
    }

    /// Neighbors of a point in the region, with strengths.
    fn neighbors(&self, place: u32) -> impl Iterator<Item = (u32, f32)> + use<'a> {
        let Self { graph, points, start, .. } = *self;
        let row = graph.neighbors(points[place as usize]).iter();
        row.filter_map(move |&(point, strength)| {
            let place = (graph.places[point as usize] as usize).checked_sub(start)?;
            (place < points.len()).then_some((place as u32, strength))
        })
    }

    fn groups(mut self, size: usize) -> Vec<Vec<u32>> {
        let mut groups = Vec::with_capacity(self.points.len() / size + 1);
        for seed in 0..self.points.len() as u32 {
            let mut next = Some(seed).filter(|&seed| self.is_free[seed as usize]);
            while let Some(seed) = next {
                groups.push(self.grow_from(seed, size));
                next = self.next_seed();
            }
        }
        groups
    }

    /// Grows a group from `seed`.
    fn grow_from(&mut self, seed: u32, size: usize) -> Vec<u32> {
        let (mut members, mut candidates) = (Vec::with_capacity(size), vec![seed]);
        while members.len() < size && !candidates.is_empty() {
            let sum = |candidate: usize| self.sums[candidates[candidate] as usize];
            let strongest = (0..candidates.len())
                .reduce(|best, next| if sum(next) > sum(best) { next } else { best });
            let place = candidates.swap_remove(strongest.unwrap_or_default());
            self.is_free[place as usize] = false;
            members.push(self.points[place as usize]);

            for (other, strength) in self.neighbors(place) {
                let at = other as usize;
                self.counts[at][1] += 1;
                if !self.is_free[at] {
                    continue;
                }
                if self.sums[at] == APART {
                    self.sums[at] = 0.0;
                    candidates.push(other);
                }
                self.sums[at] += strength;
            }
        }

        for place in candidates {
            let [all, done] = self.counts[place as usize];
            self.front.push((1000 * done / all.max(1), Reverse(place)));
            self.sums[place as usize] = APART;
        }
        members
    }

    fn next_seed(&mut self) -> Option<u32> {
        loop {
            let (_, Reverse(place)) = self.front.pop()?;
            if self.is_free[place as usize] {
                return Some(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of points, every third coupling ten times as strong as the others.
    fn chain(n: u32) -> Graph {
        let positions: Vec<[f64; DIM]> = (0..n).map(|i| [f64::from(i), 0.0, 0.0]).collect();
        let strength = |i: u32| if i.is_multiple_of(3) { 1.0 } else { 0.1 };
        let row = |i: u32| {
            let before = i.checked_sub(1).map(|other| (other, strength(other)));
            let after = (i + 1 < n).then(|| (i + 1, strength(i)));
            before.into_iter().chain([(i, 1.0)]).chain(after).collect()
        };
        Graph::of_rows(&(0..n).map(row).collect::<Vec<_>>(), &positions)
    }

    fn groups_of_chain(n: u32, size: usize) -> Vec<Vec<u32>> {
        chain(n).groups(size)
    }

    #[test]
    fn every_point_is_in_one_group_along_strong_couplings() {
        let groups = groups_of_chain(30, 3);
        let mut all = groups.concat();
        all.sort_unstable();
        assert_eq!(all, (0..30).collect::<Vec<_>>());
        for i in (0..30).step_by(3) {
            let of = |point: u32| groups.iter().position(|group| group.contains(&point));
            assert_eq!(of(i), of(i + 1), "{groups:?}");
        }
    }

    #[test]
    fn groups_are_the_same_on_any_number_of_threads() {
        let n = 3 * REGION as u32;
        let on = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| groups_of_chain(n, 8))
        };
        let groups = on(1);
        assert_eq!(groups, on(3));
        assert_eq!(groups.concat().len(), n as usize);
        assert!(groups.iter().all(|group| (3..=12).contains(&group.len())));
    }

    #[test]
    fn fragments_join_their_neighbors() {
        for n in [7, 8, 9, 10, 25] {
            let groups = groups_of_chain(n, 6);
            assert!(groups.iter().all(|group| (2..=9).contains(&group.len())), "{n}: {groups:?}");
        }
    }
}
