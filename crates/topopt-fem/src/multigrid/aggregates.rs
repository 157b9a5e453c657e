//! Groups of neighboring nodes, by the graph alone.

use std::collections::BTreeMap;

use rayon::prelude::*;
use topopt_linalg::BlockPattern;
use topopt_mesh::counting_sort::grouped;
use topopt_mesh::vector::difference;

use super::distinct::Distinct;
use super::neighbors::{Graph, NONE, Neighbors, roots};
use crate::DIM;

/// Points (nodes, or aggregates of a finer level), each in one aggregate.
#[derive(Debug, Clone)]
pub struct Aggregates {
    pub(super) of: Vec<u32>,
    pub(super) offsets: Vec<[f64; DIM]>,
    pub(super) members: Vec<Vec<u32>>,
    pub(super) centers: Vec<[f64; DIM]>,
}

impl Aggregates {
    /// The graph of the aggregates: neighbors have points that are neighbors in `graph`.
    pub(super) fn graph(&self, graph: &impl Graph) -> BlockPattern {
        let members = self.members.par_iter().enumerate();
        let rows = members.map_init(Distinct::new, |row, (own, members)| {
            row.clear();
            row.insert(own as u32);
            for &point in members {
                graph.each_neighbor(point as usize, |other| row.insert(self.of[other as usize]));
            }
            row.sorted()
        });
        BlockPattern::new(rows.collect())
    }

    /// Number of aggregates.
    #[allow(clippy::len_without_is_empty)] // no mesh is without nodes
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// Aggregate of every point.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// Position of every point less that of its aggregate's center.
    pub fn offsets(&self) -> &[[f64; DIM]] {
        &self.offsets
    }

    /// The points of every aggregate, increasing.
    pub fn members(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// Mean position of every aggregate.
    pub fn centers(&self) -> &[[f64; DIM]] {
        &self.centers
    }

    /// The standard greedy pass over points at `positions`, in the order of [`roots`]: a point all
    /// of whose neighbors are free starts an aggregate with them; what is left joins the
    /// neighboring aggregate that it touches most.
    pub(super) fn greedy(positions: &[[f64; DIM]], graph: &impl Graph) -> Self {
        Self::greedy_by(&Neighbors::of(positions.len(), graph), positions, graph)
    }

    /// Runs the pass of [`Aggregates::greedy`] with given `neighbors` in `graph`.
    pub(super) fn greedy_by(
        neighbors: &Neighbors,
        positions: &[[f64; DIM]],
        graph: &impl Graph,
    ) -> Self {
        let (of, mut count) = whole_neighborhoods(neighbors, RANGE);

        // By the aggregates as they were begun, so the order in which points join does not matter.
        let touched = |(node, &own): (usize, &u32)| match own {
            NONE => most_touched(node, graph, &of),
            _ => own,
        };
        let mut joined: Vec<u32> = of.par_iter().enumerate().map(touched).collect();

        // A point that touches none starts one of its own.
        for aggregate in joined.iter_mut().filter(|aggregate| **aggregate == NONE) {
            *aggregate = count;
            count += 1;
        }
        Self::gather(joined, count as usize, positions)
    }

    /// With every aggregate whose points lie in a line, or are one or two, joined to the one that
    /// it touches most in `graph`: it could not turn about that line, and rounding would decide how
    /// stiff it is. Void leaves such where it encloses single nodes.
    pub(super) fn joined(self, positions: &[[f64; DIM]], graph: &impl Graph) -> Self {
        let is_thin: Vec<bool> =
            self.members.par_iter().map(|points| is_in_line(points, positions)).collect();
        if !is_thin.contains(&true) {
            return self;
        }

        let mut of = self.of.clone();
        let stays = |aggregate: u32| !is_thin[aggregate as usize];
        for (points, _) in self.members.iter().zip(&is_thin).filter(|(_, is_thin)| **is_thin) {
            let mut touched: BTreeMap<u32, usize> = BTreeMap::new();
            for &point in points {
                graph.each_neighbor(point as usize, |other| {
                    *touched.entry(self.of[other as usize]).or_default() += 1;
                });
            }

            let most = touched.iter().filter(|(aggregate, _)| stays(**aggregate));
            if let Some((&most, _)) = most.max_by_key(|(_, times)| **times) {
                points.iter().for_each(|&point| of[point as usize] = most);
            }
        }

        // Numbers without gaps.
        let mut number = vec![NONE; self.len()];
        let mut count = 0;
        for aggregate in &mut of {
            let number = &mut number[*aggregate as usize];
            if *number == NONE {
                *number = count;
                count += 1;
            }
            *aggregate = *number;
        }
        Self::gather(of, count as usize, positions)
    }

    /// Members, centers and offsets of `count` aggregates.
    fn gather(of: Vec<u32>, count: usize, positions: &[[f64; DIM]]) -> Self {
        let members = grouped(&of, count, |point| point as u32).into_lists();

        let center = |points: &Vec<u32>| -> [f64; DIM] {
            let sum = |i| points.iter().map(|&point| positions[point as usize][i]).sum::<f64>();
            std::array::from_fn(|i| sum(i) / points.len() as f64)
        };
        let centers: Vec<_> = members.par_iter().map(center).collect();

        let offsets = offsets(positions, &of, &centers);
        Self { of, offsets, members, centers }
    }
}

/// Returns the offset of every point from the center of its aggregate.
pub(super) fn offsets(
    positions: &[[f64; DIM]],
    of: &[u32],
    centers: &[[f64; DIM]],
) -> Vec<[f64; DIM]> {
    let offset = |(x, &aggregate): (&[f64; DIM], &u32)| difference(*x, centers[aggregate as usize]);
    positions.par_iter().zip(of).map(offset).collect()
}

/// Points of a range that one thread groups. In chords of a mesh, a tenth of them is near its border.
const RANGE: usize = 1 << 23;

/// The aggregates that whole neighborhoods make, NONE for points left over, and their number. First
/// within ranges of at most `most` consecutive points, by all threads, then across ranges.
fn whole_neighborhoods(neighbors: &Neighbors, most: usize) -> (Vec<u32>, u32) {
    let n = neighbors.n_points();
    let size = n.div_ceil(n.div_ceil(most).max(1)).max(1);
    let roots = roots(neighbors, size);

    let mut of = vec![NONE; n];
    let ranges = of.par_chunks_mut(size).zip(&roots).enumerate();
    let counts: Vec<u32> = ranges
        .map(|(range, (of, roots))| group_range(neighbors, (range * size) as u32, of, roots, 0))
        .collect();

    // Numbers continue from range to range.
    let mut count = 0;
    for (of, own) in of.chunks_mut(size).zip(counts) {
        of.par_iter_mut().filter(|of| **of != NONE).for_each(|of| *of += count);
        count += own;
    }

    let is_free = |&root: &u32| {
        of[root as usize] == NONE
            && neighbors.row(root).iter().all(|&other| of[other as usize] == NONE)
    };
    let all = roots.par_iter().flat_map(|roots| roots.par_iter().copied());
    let across: Vec<u32> = all.filter(is_free).collect();
    count = group_range(neighbors, 0, &mut of, &across, count);
    (of, count)
}

/// Groups the points of a range that begins with `first`, whose aggregates do not leave it, around `roots`.
/// Aggregates have numbers from `count` on; returns the next one.
fn group_range(
    neighbors: &Neighbors,
    first: u32,
    of: &mut [u32],
    roots: &[u32],
    mut count: u32,
) -> u32 {
    for &root in roots {
        if of[(root - first) as usize] != NONE {
            continue; // most are, and their rows need not be looked up
        }
        let row = neighbors.row(root);
        if row.iter().all(|&other| of.get(other.wrapping_sub(first) as usize) == Some(&NONE)) {
            of[(root - first) as usize] = count;
            row.iter().for_each(|&other| of[(other - first) as usize] = count);
            count += 1;
        }
    }
    count
}

/// Number of points from which on aggregates are not checked.
const ENOUGH: usize = 12;
/// Least spread of points across a line, as a share of that along it.
const SPREAD: f64 = 0.03;

/// Whether all points lie nearly in a line.
fn is_in_line(points: &[u32], positions: &[[f64; DIM]]) -> bool {
    if points.len() >= ENOUGH {
        return false;
    }
    let from_first =
        |&point: &u32| difference(positions[point as usize], positions[points[0] as usize]);
    let square = |v: [f64; DIM]| v.iter().map(|v| v * v).sum::<f64>();
    let along = points.iter().map(from_first).max_by(|a, b| square(*a).total_cmp(&square(*b)));
    let along = along.unwrap_or([0.0; DIM]);
    let length = square(along);

    // |d x along|^2 / |along|^4 is the square of that share.
    let across = points.iter().map(|point| {
        let d = from_first(point);
        square(std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % DIM, (i + 2) % DIM);
            d[j] * along[k] - d[k] * along[j]
        }))
    });
    across.fold(0.0, f64::max) <= (SPREAD * length).powi(2)
}

/// The aggregate, of those given by `of`, that `point` touches most, the last of several.
fn most_touched(point: usize, graph: &impl Graph, of: &[u32]) -> u32 {
    let mut touched: Vec<(u32, u32)> = Vec::new();
    graph.each_neighbor(point, |other| {
        let aggregate = of[other as usize];
        match touched.iter_mut().find(|(a, _)| *a == aggregate) {
            Some((_, times)) => *times += 1,
            None if aggregate != NONE => touched.push((aggregate, 1)),
            None => {}
        }
    });
    touched.iter().max_by_key(|(_, times)| *times).map_or(NONE, |t| t.0)
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;
    use topopt_mesh::generate::{Benchmark, Resolution};
    use topopt_mesh::{NodeToElements, Renumbering};

    use super::super::node_graph::NodeGraph;
    use super::*;

    #[test]
    fn whole_neighborhoods_are_whole_within_ranges_and_across() {
        let mesh = Benchmark::Michell.generate(Resolution::Elements(3000)).unwrap();
        let mesh = Renumbering::on_import(&mesh).apply(&mesh);
        let adjacency = NodeToElements::new(&mesh);
        let graph = NodeGraph::new(&mesh, &adjacency, &[]);
        let neighbors = || Neighbors::of(mesh.n_nodes(), &graph);
        let sorted = neighbors();
        let row = |node: usize| {
            let mut row = sorted.row(node as u32).to_vec();
            row.sort_unstable();
            row
        };
        let rows: Vec<Vec<u32>> = (0..mesh.n_nodes()).map(row).collect();

        for most in [97, 1000, 1 << 20] {
            let grouped = |threads: usize| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| whole_neighborhoods(&neighbors(), most))
            };
            let (of, count) = grouped(1);
            assert_eq!(grouped(3), (of.clone(), count), "ranges of {most}");

            let mut members = vec![Vec::new(); count as usize];
            let grouped = (0..).zip(&of).filter(|(_, own)| **own != NONE);
            grouped.for_each(|(node, own)| members[*own as usize].push(node));
            for points in members {
                assert!(points.iter().any(|&root: &u32| rows[root as usize] == points));
            }
            let is_free = |row: &Vec<u32>| row.iter().all(|&other| of[other as usize] == NONE);
            assert!(!rows.iter().any(is_free), "ranges of {most} leave a neighborhood");
        }
    }
}
