//! The front within one patch: which vertices have arrived, and which wait to be propagated.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use topopt_mesh::vector::difference;

use crate::local_solver::{through_edge, through_face};
use crate::patches::{Patch, Patches};
use crate::speed::Metric;

/// The values of a patch's copies, and what is still to be done with them.
#[derive(Debug)]
pub(crate) struct Front {
    pub patch: usize,
    /// Times of arrival by local vertex that may still be lowered; minus infinity if given.
    bounds: Vec<f64>,
    /// Times that went to the neighbors and have not been lowered since; infinite elsewhere.
    settled: Vec<f64>,
    /// Lower values of shared vertices that other patches have found.
    pub inbox: Vec<(u16, f64)>,
    /// Copies in other patches, and the values for them.
    pub outbox: Vec<(u32, f64)>,
    pub local_solves: u64,
    queue: BinaryHeap<Waiting>,
    /// Shared vertices that were lowered in this round.
    lowered: Vec<u16>,
    is_lowered: Vec<bool>,
    is_shared: Vec<bool>,
    /// Points of the copies, mapped by the metric.
    points: Vec<[f64; 3]>,
    /// Bit c: at corner c of the tetrahedron there is an obtuse angle between two edges.
    obtuse: Vec<u8>,
}

impl Front {
    /// The front of a patch that nothing has reached.
    pub fn new(patches: &Patches, patch: usize) -> Self {
        let n = patches.patch(patch).vertices.len();
        Self {
            patch,
            bounds: vec![f64::INFINITY; n],
            settled: vec![f64::INFINITY; n],
            inbox: Vec::new(),
            outbox: Vec::new(),
            local_solves: 0,
            queue: BinaryHeap::new(),
            lowered: Vec::new(),
            is_lowered: vec![false; n],
            is_shared: Vec::new(),
            points: Vec::new(),
            obtuse: Vec::new(),
        }
    }

    /// Gives a vertex a value that stays.
    pub fn give(&mut self, local: u16, value: f64) {
        self.bounds[local as usize] = f64::NEG_INFINITY;
        self.queue.push(Waiting { value, local });
    }

    /// The time of a vertex as far as it is known.
    pub fn time(&self, local: usize) -> f64 {
        let bound = self.bounds[local];
        if bound == f64::NEG_INFINITY { self.settled[local] } else { bound }
    }

    /// Whether a value is lower than that of a vertex.
    pub fn would_lower(&self, local: u16, value: f64) -> bool {
        value < self.bounds[local as usize]
    }

    /// The smallest value that waits to be propagated; infinite if none does.
    pub fn earliest(&self) -> f64 {
        let received = self.inbox.iter().map(|&(_, value)| value);
        let waiting = self.queue.peek().map_or(f64::INFINITY, |waiting| waiting.value);
        received.fold(waiting, f64::min)
    }

    /// Propagates all values up to `limit`, in their order, and fills the outbox.
    pub fn advance(&mut self, patches: &Patches, metric: &impl Metric, limit: f64) {
        let patch = patches.patch(self.patch);
        if self.points.is_empty() {
            let points = patches.tetrahedra().points();
            let place = |&vertex: &u32| metric.place(points[vertex as usize]);
            self.points = patch.vertices.iter().map(place).collect();
            let is_shared = |&vertex: &u32| patches.copies(vertex).len() > 1;
            self.is_shared = patch.vertices.iter().map(is_shared).collect();
            let obtuse = |(cell, corners)| self.obtuse_corners(metric, cell, corners);
            self.obtuse = (patch.first_cell..).zip(patch.cells).map(obtuse).collect();
        }

        for (local, value) in std::mem::take(&mut self.inbox) {
            if self.would_lower(local, value) {
                self.lower(local, value);
            }
        }
        while let Some(next) = self.queue.peek().copied().filter(|next| next.value <= limit) {
            self.queue.pop();
            // Later entries of the same vertex are those from before it was lowered.
            let settled = &mut self.settled[next.local as usize];
            if *settled == f64::INFINITY {
                *settled = next.value;
                self.propagate(&patch, metric, next);
            }
        }
        self.send(&patch, patches);
    }

    /// Lowers the vertices around `from` by the arrivals that need it.
    fn propagate(&mut self, patch: &Patch, metric: &impl Metric, from: Waiting) {
        for &corner in patch.around(from.local) {
            let (cell, place) = (corner as usize / 4, corner as usize % 4);
            let corners = patch.cells[cell];
            for [to, a, b] in OTHERS[place] {
                let face = [from.local, corners[a as usize], corners[b as usize]];
                let target = corners[to as usize];
                let old = self.bounds[target as usize];
                let values =
                    [from.value, self.settled[face[1] as usize], self.settled[face[2] as usize]];

                // What arrives from a later vertex needs an earlier one, and an obtuse angle.
                if values[0] >= old
                    && (self.obtuse[cell] >> to & 1 == 0 || values[1] >= old && values[2] >= old)
                {
                    continue;
                }
                self.local_solves += 1;
                let value = self.arrival(metric, patch.first_cell + cell, target, face, values);
                if value < old {
                    self.lower(target, value);
                    if self.is_shared[target as usize] && !self.is_lowered[target as usize] {
                        self.is_lowered[target as usize] = true;
                        self.lowered.push(target);
                    }
                }
            }
        }
    }

    /// The arrival at `to` that needs the first vertex of the opposite face. Vertices that are not
    /// settled are left out: their turn comes.
    #[inline]
    fn arrival(
        &self,
        metric: &impl Metric,
        cell: usize,
        to: u16,
        face: [u16; 3],
        values: [f64; 3],
    ) -> f64 {
        let origin = self.points[to as usize];
        let edge = |a: usize| difference(self.points[face[a] as usize], origin);
        let product = |a, b| metric.product(cell, a, b);
        let along = edge(0);
        let squared = product(along, along);
        let through = |a: usize| {
            let (values, edge) = ([values[0], values[a]], edge(a));
            through_edge(values, [squared, product(edge, edge), product(along, edge)])
        };

        match (values[1] < f64::INFINITY, values[2] < f64::INFINITY) {
            (false, false) => values[0] + squared.sqrt(),
            (true, false) => through(1),
            (false, true) => through(2),
            (true, true) => {
                let (p, q) = (edge(1), edge(2));
                let [g11, g22, g12] = [product(p, p), product(q, q), product(p, q)];
                let [g02, g01] = [product(along, q), product(along, p)];
                through_face(values, [squared, g11, g22, g12, g02, g01])
            }
        }
    }

    /// Bit c: at corner c there is an obtuse angle between two edges.
    fn obtuse_corners(&self, metric: &impl Metric, cell: usize, corners: &[u16; 4]) -> u8 {
        let x = corners.map(|local| self.points[local as usize]);
        let mut bits = 0;
        for corner in 0..4 {
            let edges = [1, 2, 3].map(|turn| difference(x[(corner + turn) % 4], x[corner]));
            let is_obtuse = |(a, b): (usize, usize)| metric.product(cell, edges[a], edges[b]) < 0.0;
            bits |= u8::from([(0, 1), (1, 2), (2, 0)].into_iter().any(is_obtuse)) << corner;
        }
        bits
    }

    /// Lowers a value and puts it in the queue.
    fn lower(&mut self, local: u16, value: f64) {
        self.bounds[local as usize] = value;
        self.settled[local as usize] = f64::INFINITY;
        self.queue.push(Waiting { value, local });
    }

    /// Fills the outbox with the shared vertices that were lowered.
    fn send(&mut self, patch: &Patch, patches: &Patches) {
        for local in std::mem::take(&mut self.lowered) {
            self.is_lowered[local as usize] = false;
            let value = self.bounds[local as usize];
            for &copy in patches.copies(patch.vertices[local as usize]) {
                if copy as usize != patch.first_copy + local as usize {
                    self.outbox.push((copy, value));
                }
            }
        }
    }
}

/// The other three corners of a tetrahedron by corner, each before the two that remain.
const OTHERS: [[[u8; 3]; 3]; 4] = [
    [[1, 2, 3], [2, 3, 1], [3, 1, 2]],
    [[0, 2, 3], [2, 3, 0], [3, 0, 2]],
    [[0, 1, 3], [1, 3, 0], [3, 0, 1]],
    [[0, 1, 2], [1, 2, 0], [2, 0, 1]],
];

/// A vertex in the queue, the earliest first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Waiting {
    value: f64,
    local: u16,
}

impl Eq for Waiting {}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.value.total_cmp(&self.value).then(other.local.cmp(&self.local))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
