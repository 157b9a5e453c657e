//! Groups of strongly coupled points, grown one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use topopt_linalg::BlockCsr;

/// Neighbors of points with the strengths of their couplings, in compressed rows.
pub(super) struct Graph {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    /// |A_ij| / sqrt(|A_ii| |A_jj|), Frobenius norms of blocks.
    strengths: Vec<f32>,
}

impl Graph {
    /// Builds the graph of rows of blocks by their columns and norms, the own one among them.
    pub fn of_rows(rows: Vec<Vec<(u32, f64)>>) -> Self {
        let own = |row: usize| {
            let entry = rows[row].iter().find(|(column, _)| *column as usize == row);
            entry.map_or(0.0, |(_, norm)| *norm).sqrt()
        };
        let scale: Vec<f64> = (0..rows.len()).map(own).collect();
        let (mut offsets, mut columns, mut strengths) = (vec![0], Vec::new(), Vec::new());
        for (row, entries) in rows.iter().enumerate() {
            for &(column, norm) in entries.iter().filter(|(column, _)| *column as usize != row) {
                let scale = scale[row] * scale[column as usize];
                columns.push(column);
                strengths.push(if scale > 0.0 { (norm / scale) as f32 } else { 0.0 });
            }
            offsets.push(columns.len());
        }
        Self { offsets, columns, strengths }
    }

    /// Builds the graph of a matrix.
    pub fn of_matrix<const B: usize>(matrix: &BlockCsr<B>) -> Self {
        let norm =
            |block: &[[f64; B]; B]| block.as_flattened().iter().map(|v| v * v).sum::<f64>().sqrt();
        let row = |row: usize| {
            let columns = matrix.pattern().row(row).iter().copied();
            columns.zip(matrix.row(row).iter().map(norm)).collect()
        };
        Self::of_rows((0..matrix.pattern().n_rows()).map(row).collect())
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn neighbors(&self, point: u32) -> impl Iterator<Item = (u32, f32)> {
        let row = self.offsets[point as usize]..self.offsets[point as usize + 1];
        self.columns[row.clone()].iter().copied().zip(self.strengths[row].iter().copied())
    }

    /// Groups of up to `size` points, `[n_groups]`, each increasing: one grows by the point that is
    /// coupled with it most strongly, and the next one begins at the point whose neighbors are in
    /// groups for the most part. Points of fragments below a third of `size` join the group that
    /// they are coupled with most strongly, which has half of `size` more at most.
    pub fn groups(&self, size: usize) -> Vec<Vec<u32>> {
        let mut growth = Growth::of(self);
        for seed in 0..self.len() as u32 {
            growth.grow_from(seed, size);
            while let Some(seed) = growth.next_seed() {
                growth.grow_from(seed, size);
            }
        }
        growth.join_fragments(size);
        growth.groups.retain(|group| !group.is_empty());
        growth.groups.iter_mut().for_each(|group| group.sort_unstable());
        growth.groups
    }
}

/// In [`Growth`]: the point is in no group yet.
const FREE: u32 = u32::MAX;

/// Groups as they grow.
struct Growth<'a> {
    graph: &'a Graph,
    of: Vec<u32>,
    groups: Vec<Vec<u32>>,
    /// Points beside groups by the share of their neighbors in groups, in thousandths.
    front: BinaryHeap<(u32, Reverse<u32>)>,
}

impl<'a> Growth<'a> {
    fn of(graph: &'a Graph) -> Self {
        Self { graph, of: vec![FREE; graph.len()], groups: Vec::new(), front: BinaryHeap::new() }
    }

    fn is_free(&self, point: u32) -> bool {
        self.of[point as usize] == FREE
    }

    /// Grows a group from `seed`, unless that is in one.
    fn grow_from(&mut self, seed: u32, size: usize) {
        if !self.is_free(seed) {
            return;
        }

        let number = self.groups.len() as u32;
        let (mut members, mut candidates) = (Vec::with_capacity(size), vec![(seed, 1.0_f32)]);
        while members.len() < size && !candidates.is_empty() {
            let strongest = (0..candidates.len()).reduce(|best, next| {
                if candidates[next].1 > candidates[best].1 { next } else { best }
            });
            let (point, _) = candidates.swap_remove(strongest.unwrap_or_default());
            self.of[point as usize] = number;
            members.push(point);

            for (other, strength) in self.graph.neighbors(point) {
                if !self.is_free(other) {
                    continue;
                }
                match candidates.iter_mut().find(|(known, _)| *known == other) {
                    Some((_, sum)) => *sum += strength,
                    None => candidates.push((other, strength)),
                }
            }
        }

        // Candidates left over are seeds of later groups.
        for (point, _) in candidates {
            let (mut done, mut all) = (0, 0);
            for (other, _) in self.graph.neighbors(point) {
                (done, all) = (done + u32::from(!self.is_free(other)), all + 1);
            }
            self.front.push((1000 * done / all.max(1), Reverse(point)));
        }
        self.groups.push(members);
    }

    fn next_seed(&mut self) -> Option<u32> {
        loop {
            let (_, Reverse(point)) = self.front.pop()?;
            if self.is_free(point) {
                return Some(point);
            }
        }
    }

    fn join_fragments(&mut self, size: usize) {
        let is_small = |group: &Vec<u32>| 3 * group.len() < size;
        for number in 0..self.groups.len() {
            if !is_small(&self.groups[number]) {
                continue;
            }
            for point in std::mem::take(&mut self.groups[number]) {
                let takes_it = |other: &u32| {
                    let group = self.of[*other as usize] as usize;
                    let len = self.groups[group].len();
                    group != number && !is_small(&self.groups[group]) && 2 * len < 3 * size
                };
                let beside = self.graph.neighbors(point).filter(|(other, _)| takes_it(other));
                let strongest = beside.max_by(|a, b| a.1.total_cmp(&b.1));
                let target =
                    strongest.map_or(number, |(other, _)| self.of[other as usize] as usize);
                self.of[point as usize] = target as u32;
                self.groups[target].push(point);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of points, every third coupling ten times as strong as the others.
    fn chain(n: u32) -> Graph {
        let strength = |i: u32| if i.is_multiple_of(3) { 1.0 } else { 0.1 };
        let row = |i: u32| {
            let before = i.checked_sub(1).map(|other| (other, strength(other)));
            let after = (i + 1 < n).then(|| (i + 1, strength(i)));
            before.into_iter().chain([(i, 1.0)]).chain(after).collect()
        };
        Graph::of_rows((0..n).map(row).collect())
    }

    #[test]
    fn every_point_is_in_one_group_along_strong_couplings() {
        let groups = chain(30).groups(3);
        let mut all = groups.concat();
        all.sort_unstable();
        assert_eq!(all, (0..30).collect::<Vec<_>>());
        for i in (0..30).step_by(3) {
            let of = |point: u32| groups.iter().position(|group| group.contains(&point));
            assert_eq!(of(i), of(i + 1), "{groups:?}");
        }
    }

    #[test]
    fn fragments_join_their_neighbors() {
        for n in [7, 8, 9, 10, 25] {
            let groups = chain(n).groups(6);
            assert!(groups.iter().all(|group| (2..=9).contains(&group.len())), "{n}: {groups:?}");
        }
    }
}
