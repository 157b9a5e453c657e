//! Groups of neighboring nodes, by the graph alone.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use topopt_linalg::{BackendError, BlockPattern, Communicator, Cpu, Exchange, Halo};
use topopt_mesh::vector::difference;

use super::distinct::Distinct;
use crate::DIM;

/// Points (nodes, or aggregates of a finer level), each in one aggregate.
#[derive(Debug, Clone)]
pub struct Aggregates {
    of: Vec<u32>,
    offsets: Vec<[f64; DIM]>,
    members: Vec<Vec<u32>>,
    centers: Vec<[f64; DIM]>,
}

const NONE: u32 = u32::MAX;

impl Aggregates {
    /// The graph of the aggregates: neighbors have points that are neighbors in `graph`.
    pub(super) fn graph(&self, graph: &impl Graph) -> BlockPattern {
        let row = |row: &mut Distinct, (own, members): (usize, &Vec<u32>)| {
            row.clear();
            row.insert(own as u32);
            for &point in members {
                graph.each_neighbor(point as usize, |other| row.insert(self.of[other as usize]));
            }
            row.sorted()
        };
        let members = self.members.par_iter().enumerate();
        BlockPattern::new(members.map_init(Distinct::new, row).collect())
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
        let (of, mut count) = whole_neighborhoods(positions.len(), graph);

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
        let in_line = |points: &Vec<u32>| is_in_line(points, positions);
        let is_thin: Vec<bool> = self.members.par_iter().map(in_line).collect();
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

    /// These, of own points, among those of all ranks: with the aggregates of the ghosts among all points,
    /// at `positions`, which ranks exchange by `halo`. Members of an aggregate are own points.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub(super) fn among_ranks(
        self,
        positions: &[[f64; DIM]],
        halo: &Halo,
        communicator: &impl Communicator,
        are_divided: bool,
    ) -> Result<(Self, Numbers), BackendError> {
        let counts = communicator.gather_all(&[self.len() as f64]);
        let counts: Vec<usize> = counts.iter().flatten().map(|&count| count as usize).collect();
        let own = Numbers::own_of(&counts, communicator.rank());

        // Of every point the number and center of its aggregate.
        let lists = communicator.lists(&Cpu, halo, 1 + DIM)?;
        let of_point = |&aggregate: &u32| {
            let [x, y, z] = self.centers[aggregate as usize];
            [(own.start + aggregate as usize) as f64, x, y, z]
        };
        let known: Vec<f64> = self.of.iter().flat_map(of_point).collect();
        let mut found = vec![0.0; (1 + DIM) * positions.len()];
        communicator.expand(&Cpu, &lists, &known, &mut found);
        let found: &[[f64; 1 + DIM]] = found.as_chunks().0;
        let number = |&[number, ..]: &[f64; 1 + DIM]| number as u32;

        let (of, members, centers, ghosts): (Vec<u32>, _, Vec<_>, _) = if are_divided {
            let beyond = found[halo.own.end..].iter();
            let ghosts: BTreeMap<u32, [f64; DIM]> =
                beyond.map(|at @ &[_, x, y, z]| (number(at), [x, y, z])).collect();
            let (ghosts, at_ghosts): (Vec<u32>, Vec<_>) = ghosts.into_iter().unzip();
            let local = |at| match ghosts.binary_search(&number(at)) {
                Ok(ghost) => (self.len() + ghost) as u32,
                Err(_) => number(at) - own.start as u32,
            };
            let of = found.iter().map(local).collect();
            let mut members = self.members;
            members.resize(members.len() + ghosts.len(), Vec::new());
            (of, members, [self.centers, at_ghosts].concat(), ghosts)
        } else {
            let centers = communicator.gather_all(self.centers.as_flattened()).concat();
            let mut members = vec![Vec::new(); counts.iter().sum()];
            members[own].clone_from_slice(&self.members);
            (
                found.iter().map(number).collect(),
                members,
                centers.as_chunks().0.to_vec(),
                Vec::new(),
            )
        };
        communicator.check()?;
        let offsets = offsets(positions, &of, &centers);
        Ok((Self { of, offsets, members, centers }, Numbers { counts, ghosts }))
    }

    /// Members, centers and offsets of `count` aggregates.
    fn gather(of: Vec<u32>, count: usize, positions: &[[f64; DIM]]) -> Self {
        let mut members = vec![Vec::new(); count];

        // Every thread fills its own range of aggregates.
        let share = count.div_ceil(rayon::current_num_threads()).max(1);
        members.par_chunks_mut(share).enumerate().for_each(|(range, members)| {
            for (point, &aggregate) in of.iter().enumerate() {
                if let Some(own) = members.get_mut((aggregate as usize).wrapping_sub(range * share))
                {
                    own.push(point as u32);
                }
            }
        });

        let center = |points: &Vec<u32>| -> [f64; DIM] {
            let sum = |i| points.iter().map(|&point| positions[point as usize][i]).sum::<f64>();
            std::array::from_fn(|i| sum(i) / points.len() as f64)
        };
        let centers: Vec<_> = members.par_iter().map(center).collect();

        let offsets = offsets(positions, &of, &centers);
        Self { of, offsets, members, centers }
    }
}

/// Of every point from the center of its aggregate.
fn offsets(positions: &[[f64; DIM]], of: &[u32], centers: &[[f64; DIM]]) -> Vec<[f64; DIM]> {
    let offset = |(x, &aggregate): (&[f64; DIM], &u32)| difference(*x, centers[aggregate as usize]);
    positions.par_iter().zip(of).map(offset).collect()
}

/// How aggregates are numbered through all ranks.
pub(super) struct Numbers {
    /// How many each rank has.
    pub counts: Vec<usize>,
    /// Those of ghosts, increasing, which follow the own ones here; none where all are here.
    pub ghosts: Vec<u32>,
}

impl Numbers {
    /// The own ones of `rank`.
    pub fn own(&self, rank: usize) -> Range<usize> {
        Self::own_of(&self.counts, rank)
    }

    fn own_of(counts: &[usize], rank: usize) -> Range<usize> {
        let first = counts[..rank].iter().sum();
        first..first + counts[rank]
    }

    /// The rank that has a ghost.
    pub fn rank_of(&self, ghost: usize) -> usize {
        let mut end = 0;
        let is_beyond = |count: &&usize| {
            end += **count;
            end <= self.ghosts[ghost] as usize
        };
        self.counts.iter().take_while(is_beyond).count()
    }
}

/// The aggregates that whole neighborhoods make, NONE for points left over, and their number.
fn whole_neighborhoods(n_points: usize, graph: &impl Graph) -> (Vec<u32>, u32) {
    let neighbors = Neighbors::of(n_points, graph);
    let mut of = vec![NONE; n_points];
    let mut count = 0;
    for node in roots(&neighbors) {
        if of[node as usize] != NONE {
            continue; // most are, and their rows need not be looked up
        }
        let row = neighbors.row(node);
        if row.iter().all(|&other| of[other as usize] == NONE) {
            of[node as usize] = count;
            row.iter().for_each(|&other| of[other as usize] = count);
            count += 1;
        }
    }
    (of, count)
}

/// Aggregates of so many points are not checked.
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

/// Points and their neighbors.
pub(super) trait Graph: Sync {
    /// Calls `visit` with the neighbors of a point, itself perhaps among them, some several times.
    fn each_neighbor(&self, point: usize, visit: impl FnMut(u32));

    /// How many more neighbors a point has that are not visited, as they are not to be grouped.
    fn n_beyond(&self, _point: usize) -> u32 {
        0
    }
}

impl Graph for BlockPattern {
    fn each_neighbor(&self, point: usize, visit: impl FnMut(u32)) {
        self.row(point).iter().copied().for_each(visit);
    }
}

/// The neighbors of every point, each once, in the order in which a graph visits them. They are
/// made and kept in chunks, by several threads.
struct Neighbors {
    n_points: usize,
    chunks: Vec<Chunk>,
}

/// Consecutive points and their neighbors in compressed rows.
#[derive(Default)]
struct Chunk {
    ends: Vec<u32>,
    points: Vec<u32>,
    /// How often the graph visits neighbors of each point.
    visits: Vec<u32>,
}

/// Points of a chunk.
const CHUNK: usize = 4096;

impl Neighbors {
    fn of(n_points: usize, graph: &impl Graph) -> Self {
        let chunk = |c: usize| {
            let (mut chunk, mut row) = (Chunk::default(), Distinct::new());
            for point in c * CHUNK..n_points.min((c + 1) * CHUNK) {
                let mut visits = 0;
                row.clear();
                graph.each_neighbor(point, |other| {
                    visits += 1;
                    row.insert(other);
                });
                chunk.points.extend_from_slice(row.values());
                chunk.ends.push(chunk.points.len() as u32);
                chunk.visits.push(visits + graph.n_beyond(point));
            }
            chunk.points.shrink_to_fit();
            chunk
        };
        let n_chunks = n_points.div_ceil(CHUNK);
        Self { n_points, chunks: (0..n_chunks).into_par_iter().map(chunk).collect() }
    }

    fn row(&self, point: u32) -> &[u32] {
        let (chunk, k) = (&self.chunks[point as usize / CHUNK], point as usize % CHUNK);
        let start = if k == 0 { 0 } else { chunk.ends[k - 1] };
        &chunk.points[start as usize..chunk.ends[k] as usize]
    }

    fn visits(&self, point: u32) -> u32 {
        self.chunks[point as usize / CHUNK].visits[point as usize % CHUNK]
    }
}

/// All points in the order in which they may start aggregates: breadth first, so that each begins
/// beside the last ones; those inside before those with few neighbors, so that aggregates are full.
fn roots(neighbors: &Neighbors) -> impl Iterator<Item = u32> {
    let order = breadth_first(neighbors);
    let inside = visits_of_quartile(neighbors);
    // As on a face, an edge, a corner of a box
    let exposure = |&point: &u32| {
        let visits = neighbors.visits(point);
        (0..3).filter(|k| visits << k < inside).count() as u8
    };
    let exposures: Vec<u8> = order.par_iter().map(exposure).collect();
    let exposed = |exposed: u8| -> Vec<u32> {
        let points = order.par_iter().zip(&exposures);
        points.filter(|&(_, &exposure)| exposure == exposed).map(|(&point, _)| point).collect()
    };
    [0, 1, 2, 3].map(exposed).into_iter().flatten()
}

/// How many neighbors are visited of three quarters of the points, at most.
fn visits_of_quartile(neighbors: &Neighbors) -> u32 {
    let counted = |mut counts: Vec<usize>, chunk: &Chunk| {
        for &visits in &chunk.visits {
            let visits = visits as usize;
            counts.resize(counts.len().max(visits + 1), 0);
            counts[visits] += 1;
        }
        counts
    };
    let summed = |a: Vec<usize>, b: Vec<usize>| {
        let (mut long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
        long.iter_mut().zip(short).for_each(|(sum, count)| *sum += count);
        long
    };
    let counts = neighbors.chunks.par_iter().fold(Vec::new, counted).reduce(Vec::new, summed);

    let mut below = 0;
    let quartile = counts.iter().position(|count| {
        below += count;
        below > neighbors.n_points * 3 / 4
    });
    quartile.unwrap_or(0) as u32
}

/// All points breadth first: as a queue would have them, but level by level, by several threads.
fn breadth_first(neighbors: &Neighbors) -> Vec<u32> {
    let n = neighbors.n_points;

    // 0 for seeds, else one more than the place in the queue of the first point beside it.
    let found: Vec<AtomicU32> = (0..n).into_par_iter().map(|_| NONE.into()).collect();
    let first_beside = |point: u32| found[point as usize].load(Ordering::Relaxed);
    let first_beside = &first_beside;

    let mut queue: Vec<u32> = Vec::with_capacity(n);
    for seed in 0..n as u32 {
        if first_beside(seed) != NONE {
            continue;
        }
        found[seed as usize].store(0, Ordering::Relaxed);
        let mut level = queue.len();
        queue.push(seed);

        while level < queue.len() {
            let places = level as u32 + 1..queue.len() as u32 + 1;
            let points = places.into_par_iter().zip(&queue[level..]).with_min_len(256);

            // The smallest place stays, whichever thread comes first.
            points.clone().for_each(|(place, &point)| {
                let found = neighbors.row(point).iter().map(|&other| &found[other as usize]);
                found.filter(|found| found.load(Ordering::Relaxed) > place).for_each(|found| {
                    found.fetch_min(place, Ordering::Relaxed);
                });
            });

            // In the order of this level; a point comes once, after the first that it is beside.
            let beside = |(place, &point): (u32, &u32)| {
                let row = neighbors.row(point).iter().copied();
                row.filter(move |&other| first_beside(other) == place)
            };
            let next: Vec<u32> = points.flat_map_iter(beside).collect();

            level = queue.len();
            queue.extend(next);
        }
    }
    queue
}
