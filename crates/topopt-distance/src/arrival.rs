//! The fast iterative method on patches.
//!
//! Patches that a front has reached are active. In each round those with the earliest values are
//! solved in parallel, each by itself in the order of its values, as far as a limit in time that
//! moves on with the rounds. Then the values of shared vertices go to the other patches that have
//! copies of them, which become active. A patch reads nothing of others in a round, so that results
//! do not depend on the number of threads. A queue of single vertices, cut into windows of time, is
//! also known from shortest paths [MeyerSanders2003].

use rayon::prelude::*;

use crate::DistanceError;
use crate::checks::checked_sources;
use crate::front::Front;
use crate::patches::Patches;
use crate::speed::{Metric, Speed, WithMetric, with_metric};
use crate::travel::mean_edge;

/// Width of the window of a round, in mean times of travel along an edge.
const WINDOW: f64 = 2.0;

/// When a front arrives.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrival {
    /// The time at each vertex, `[n_points]`; infinite where the front does not come.
    pub times: Vec<f64>,
    /// Arrivals that were computed from a face, an edge or a corner of a tetrahedron.
    pub local_solves: u64,
    /// Rounds of the patches.
    pub rounds: usize,
}

impl Arrival {
    /// The vertices in the order of their times, those that are not reached last; equal times by
    /// number.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.times.len() as u32).collect();
        let time = |&vertex: &u32| self.times[vertex as usize];
        order.par_sort_unstable_by(|a, b| time(a).total_cmp(&time(b)).then(a.cmp(b)));
        order
    }
}

/// Solves $\sqrt{\nabla\phi \cdot A \nabla\phi} = 1$ from `sources`, vertices and their values, by
/// the fast iterative method on patches \[FuKirbyWhitaker2013\].
///
/// The values of the sources stay, even where another source would be there earlier. Of a vertex
/// that is named twice the smaller value counts. The result is first order in the size of the
/// tetrahedra, except near single points, where a front is not smooth.
///
/// # Errors
/// [`DistanceError`] for a source that is not a vertex or has no finite value, or for a speed that
/// is not positive.
pub fn arrival(
    patches: &Patches,
    speed: &Speed,
    sources: &[(u32, f64)],
) -> Result<Arrival, DistanceError> {
    arrival_until(patches, speed, sources, f64::INFINITY)
}

/// Solves like [`arrival`], but stops the front at the time `end`. Later times are those found so
/// far, which may be too late, or infinite; patches that the front does not reach are not touched.
///
/// # Errors
/// As [`arrival`].
pub fn arrival_until(
    patches: &Patches,
    speed: &Speed,
    sources: &[(u32, f64)],
    end: f64,
) -> Result<Arrival, DistanceError> {
    let tetrahedra = patches.tetrahedra();
    let sources = &checked_sources(tetrahedra, sources)?;
    speed.check(tetrahedra)?;
    Ok(with_metric(speed, patches.order(), Rounds { patches, sources, end }))
}

/// Patches, sources and end time of the front.
struct Rounds<'a> {
    patches: &'a Patches,
    sources: &'a [(u32, f64)],
    end: f64,
}

impl WithMetric for Rounds<'_> {
    type Output = Arrival;

    fn with(self, metric: &impl Metric) -> Arrival {
        let window = WINDOW * mean_edge(self.patches, metric);
        let mut fronts = Fronts::new(self.patches);
        fronts.give(self.sources);

        let mut rounds = 0;
        loop {
            let earliest = fronts.earliest();
            if earliest >= self.end || earliest == f64::INFINITY {
                break;
            }
            // The earliest is always propagated, even if the window is lost in rounding.
            fronts.advance(metric, self.end.min(earliest + window));
            rounds += 1;
        }

        let local_solves = fronts.local_solves();
        Arrival { times: fronts.into_times(), local_solves, rounds }
    }
}

/// The fronts of the patches that were reached.
struct Fronts<'a> {
    patches: &'a Patches,
    fronts: Vec<Option<Box<Front>>>,
    /// Patches with something to propagate, and the earliest value of each patch.
    active: Vec<usize>,
    earliest: Vec<f64>,
}

impl<'a> Fronts<'a> {
    fn new(patches: &'a Patches) -> Self {
        let n = patches.len();
        let fronts = (0..n).map(|_| None).collect();
        Self { patches, fronts, active: Vec::new(), earliest: vec![f64::INFINITY; n] }
    }

    /// Gives the sources their values in all patches that have copies of them.
    fn give(&mut self, sources: &[(u32, f64)]) {
        for &(vertex, value) in sources {
            for &copy in self.patches.copies(vertex) {
                let (patch, local) = self.patches.place(copy);
                self.activate(patch, value).give(local, value);
            }
        }
    }

    /// The front of a patch that a value has reached.
    fn activate(&mut self, patch: usize, value: f64) -> &mut Front {
        if self.earliest[patch] == f64::INFINITY {
            self.active.push(patch);
        }
        self.earliest[patch] = self.earliest[patch].min(value);
        self.fronts[patch].get_or_insert_with(|| Box::new(Front::new(self.patches, patch)))
    }

    /// The earliest value that waits to be propagated.
    fn earliest(&self) -> f64 {
        self.active.iter().map(|&patch| self.earliest[patch]).fold(f64::INFINITY, f64::min)
    }

    /// One round: propagates all values up to `limit` within their patches, then to others.
    fn advance(&mut self, metric: &impl Metric, limit: f64) {
        let mut running = Vec::new();
        for &patch in &self.active {
            if self.earliest[patch] <= limit {
                running.extend(self.fronts[patch].take());
            }
        }
        let patches = self.patches;
        running.par_iter_mut().with_max_len(1).for_each(|front| {
            front.advance(patches, metric, limit);
        });

        let mut outboxes = Vec::with_capacity(running.len());
        for mut front in running {
            outboxes.push(std::mem::take(&mut front.outbox));
            self.earliest[front.patch] = front.earliest();
            let patch = front.patch;
            self.fronts[patch] = Some(front);
        }
        self.active.retain(|&patch| self.earliest[patch] < f64::INFINITY);
        for (copy, value) in outboxes.into_iter().flatten() {
            let (patch, local) = self.patches.place(copy);
            let front = self.fronts[patch].as_ref();
            if front.is_none_or(|front| front.would_lower(local, value)) {
                self.activate(patch, value).inbox.push((local, value));
            }
        }
    }

    fn local_solves(&self) -> u64 {
        self.fronts.iter().flatten().map(|front| front.local_solves).sum()
    }

    /// The smallest value of the copies of each vertex.
    fn into_times(self) -> Vec<f64> {
        let mut times = vec![f64::INFINITY; self.patches.tetrahedra().points().len()];
        for front in self.fronts.into_iter().flatten() {
            let vertices = self.patches.patch(front.patch).vertices;
            for (local, &vertex) in vertices.iter().enumerate() {
                times[vertex as usize] = front.time(local).min(times[vertex as usize]);
            }
        }
        times
    }
}
