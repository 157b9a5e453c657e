//! Neighbors of points, and the order in which points may start aggregates.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use topopt_linalg::BlockPattern;

use super::distinct::Distinct;

/// No point, or no aggregate.
pub(super) const NONE: u32 = u32::MAX;

/// Points and their neighbors.
pub(super) trait Graph: Sync {
    /// Calls `visit` with the neighbors of a point, itself perhaps among them, some several times.
    fn each_neighbor(&self, point: usize, visit: impl FnMut(u32));

    /// Number of neighbors of a point that are not visited, since they are not to be grouped.
    fn n_beyond(&self, _point: usize) -> u32 {
        0
    }
}

impl Graph for BlockPattern {
    fn each_neighbor(&self, point: usize, visit: impl FnMut(u32)) {
        self.row(point).iter().copied().for_each(visit);
    }
}

impl Graph for Neighbors {
    fn each_neighbor(&self, point: usize, visit: impl FnMut(u32)) {
        self.row(point as u32).iter().copied().for_each(visit);
    }
}

/// The neighbors of every point, each once, in the order in which a graph visits them. They are
/// made and kept in chunks, by several threads.
pub(super) struct Neighbors {
    n_points: usize,
    chunks: Vec<Chunk>,
}

/// Consecutive points and their neighbors in compressed rows.
#[derive(Default)]
struct Chunk {
    ends: Vec<u32>,
    points: Vec<u32>,
    /// Number of visits to neighbors per point.
    visits: Vec<u32>,
}

impl Chunk {
    /// Lists the neighbors of `points`; `room` is for them and for those of one.
    fn of(points: Range<usize>, graph: &impl Graph, (all, row): &mut (Vec<u32>, Distinct)) -> Self {
        let mut chunk = Self::default();
        all.clear();
        for point in points {
            let mut visits = 0;
            row.clear();
            graph.each_neighbor(point, |other| {
                visits += 1;
                row.insert(other);
            });
            all.extend_from_slice(row.values());
            chunk.ends.push(all.len() as u32);
            chunk.visits.push(visits + graph.n_beyond(point));
        }
        Self { points: all.clone(), ..chunk }
    }
}

/// Points of a chunk.
const CHUNK: usize = 4096;

impl Neighbors {
    pub fn of(n_points: usize, graph: &impl Graph) -> Self {
        // Room that a thread has for all its chunks: each then takes memory once.
        let room = || (Vec::new(), Distinct::new());
        let chunks = (0..n_points).into_par_iter().step_by(CHUNK);
        let chunks = chunks.map_init(room, |room, first| {
            Chunk::of(first..n_points.min(first + CHUNK), graph, room)
        });
        Self { n_points, chunks: chunks.collect() }
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.n_points
    }

    /// Number of pairs of a point and a neighbor.
    pub fn n_pairs(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.points.len()).sum()
    }

    /// The neighbors of a point.
    pub fn row(&self, point: u32) -> &[u32] {
        let (chunk, k) = (&self.chunks[point as usize / CHUNK], point as usize % CHUNK);
        let start = if k == 0 { 0 } else { chunk.ends[k - 1] };
        &chunk.points[start as usize..chunk.ends[k] as usize]
    }

    fn visits(&self, point: u32) -> u32 {
        self.chunks[point as usize / CHUNK].visits[point as usize % CHUNK]
    }
}

/// The points of each range of `size` consecutive ones, in the order in which they may start
/// aggregates: breadth first, so that each begins beside the last ones; those inside before those
/// with few neighbors, so that aggregates are full.
pub(super) fn roots(neighbors: &Neighbors, size: usize) -> Vec<Vec<u32>> {
    let inside = visits_of_quartile(neighbors);
    let n_ranges = neighbors.n_points.div_ceil(size);
    let of_range = |range: usize| {
        let end = neighbors.n_points.min((range + 1) * size);
        inside_first(neighbors, breadth_first(neighbors, (range * size) as u32..end as u32), inside)
    };
    (0..n_ranges).into_par_iter().map(of_range).collect()
}

/// The points of `order`: first those with at least `inside` visited neighbors, last those with
/// few, each group in its order.
fn inside_first(neighbors: &Neighbors, order: Vec<u32>, inside: u32) -> Vec<u32> {
    // As on a face, an edge, a corner of a box
    let exposure = |&point: &u32| {
        let visits = neighbors.visits(point);
        (0..3).filter(|k| visits << k < inside).count() as u8
    };
    let exposures: Vec<u8> = order.par_iter().map(exposure).collect();
    let mut roots = Vec::with_capacity(order.len());
    for exposed in 0..4 {
        let points = order.par_iter().zip(&exposures);
        let exposed = points.filter(|&(_, &exposure)| exposure == exposed);
        roots.par_extend(exposed.map(|(&point, _)| point));
    }
    roots
}

/// Third quartile, over the points, of the number of neighbors visited.
fn visits_of_quartile(neighbors: &Neighbors) -> u32 {
    let counts = neighbors.chunks.par_iter().fold(Vec::new, |mut counts, chunk| {
        for &visits in &chunk.visits {
            let visits = visits as usize;
            counts.resize(counts.len().max(visits + 1), 0);
            counts[visits] += 1;
        }
        counts
    });
    let counts = counts.reduce(Vec::new, |a: Vec<usize>, b| {
        let (mut long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
        long.iter_mut().zip(short).for_each(|(sum, count)| *sum += count);
        long
    });

    let mut below = 0;
    let quartile = counts.iter().position(|count| {
        below += count;
        below > neighbors.n_points * 3 / 4
    });
    quartile.unwrap_or(0) as u32
}

/// The points of a range breadth first: as a queue would have them, but level by level, by several
/// threads where a level is large.
fn breadth_first(neighbors: &Neighbors, range: Range<u32>) -> Vec<u32> {
    let found = range.clone().into_par_iter().map(|_| NONE.into()).collect();
    let walk = Walk { neighbors, found, first: range.start };
    let mut queue: Vec<u32> = Vec::with_capacity(range.len());
    for seed in range {
        if !walk.is_found(seed) {
            walk.find(seed, 0);
            let mut level = queue.len();
            queue.push(seed);
            while level < queue.len() {
                let end = queue.len();
                match end - level < FEW {
                    true => walk.beside_few(level, &mut queue),
                    false => walk.beside_many(level, &mut queue),
                }
                level = end;
            }
        }
    }
    queue
}

/// Points of a level that one thread takes: beside void, levels are small and many, and threads would
/// wait for each other.
const FEW: usize = 2048;

/// A walk over the points of a range.
struct Walk<'n> {
    neighbors: &'n Neighbors,
    /// 0 for seeds, else one more than the place in the queue of the first point beside it.
    found: Vec<AtomicU32>,
    /// First of the range.
    first: u32,
}

impl Walk<'_> {
    fn first_beside(&self, point: u32) -> u32 {
        let found = self.found.get(point.wrapping_sub(self.first) as usize);
        // Points of other ranges are never later.
        found.map_or(0, |found| found.load(Ordering::Relaxed))
    }

    fn is_found(&self, point: u32) -> bool {
        self.first_beside(point) != NONE
    }

    /// Takes note that a `point` of the range is beside that of a place. The smallest place stays,
    /// whichever thread comes first.
    fn find(&self, point: u32, place: u32) {
        self.found[(point - self.first) as usize].fetch_min(place, Ordering::Relaxed);
    }

    /// Appends the points beside those of the queue from `level` on, one after the other.
    fn beside_few(&self, level: usize, queue: &mut Vec<u32>) {
        for place in level..queue.len() {
            for &other in self.neighbors.row(queue[place]) {
                if !self.is_found(other) {
                    self.find(other, place as u32 + 1);
                    queue.push(other);
                }
            }
        }
    }

    /// Appends the same points in the same order, by several threads.
    fn beside_many(&self, level: usize, queue: &mut Vec<u32>) {
        let places = level as u32 + 1..queue.len() as u32 + 1;
        let points = places.into_par_iter().zip(&queue[level..]).with_min_len(256);
        let beside = points.flat_map_iter(|(place, &point)| {
            let row = self.neighbors.row(point).iter().copied();
            row.filter(move |&other| self.first_beside(other) > place).map(move |other| {
                self.find(other, place);
                (place, other)
            })
        });
        let beside: Vec<(u32, u32)> = beside.collect();

        // In the order of this level; a point comes once, after the first that it is beside.
        let is_first = |&&(place, other): &&(u32, u32)| self.first_beside(other) == place;
        queue.par_extend(beside.par_iter().filter(is_first).map(|pair| pair.1));
    }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};
    use topopt_mesh::{NodeToElements, Renumbering};

    use super::*;

    #[test]
    fn one_thread_and_several_find_a_level_in_one_order() {
        let mesh = Benchmark::Michell.generate(Resolution::Elements(3000)).unwrap();
        let mesh = Renumbering::shuffled(&mesh, 2).apply(&mesh);
        let adjacency = NodeToElements::new(&mesh);
        let around = |node| adjacency.elements_of(node).iter().map(|&e| mesh.element(e as usize));
        let rows = (0..mesh.n_nodes()).map(|node| around(node).flatten().copied().collect());
        let neighbors = Neighbors::of(mesh.n_nodes(), &BlockPattern::new(rows.collect()));
        let range = 1000..mesh.n_nodes() as u32;
        let walks = [(); 2].map(|()| {
            let found = range.clone().map(|_| NONE.into()).collect();
            let walk = Walk { neighbors: &neighbors, found, first: range.start };
            walk.find(range.start, 0);
            walk
        });

        let [mut few, mut many] = [(); 2].map(|()| vec![range.start]);
        let mut level = 0;
        while level < few.len() {
            let end = few.len();
            walks[0].beside_few(level, &mut few);
            walks[1].beside_many(level, &mut many);
            assert_eq!(few, many);
            level = end;
        }
        assert!(few.len() > range.len() / 2);
    }
}
