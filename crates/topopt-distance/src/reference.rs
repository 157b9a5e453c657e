//! The oracle of the tests: one queue of single vertices for the whole mesh, and plain loops.

use std::collections::BTreeSet;

use topopt_mesh::counting_sort::grouped;
use topopt_mesh::vector::difference;

use crate::checks::check_sources;
use crate::local_solver::{through_edge, through_face};
use crate::speed::{Metric, Speed, WithMetric, with_metric};
use crate::{DistanceError, Tetrahedra};

/// Solves the equation of [`arrival`](crate::arrival()) by fast marching: the earliest vertex
/// passes its value on to the vertices around, and again if it is lowered later.
///
/// # Errors
/// As [`arrival`](crate::arrival()).
pub fn arrival(
    tetrahedra: &Tetrahedra,
    speed: &Speed,
    sources: &[(u32, f64)],
) -> Result<Vec<f64>, DistanceError> {
    check_sources(tetrahedra, sources)?;
    speed.check(tetrahedra)?;
    let order: Vec<u32> = (0..tetrahedra.cells().len() as u32).collect();
    Ok(with_metric(speed, &order, Marching { tetrahedra, sources }))
}

struct Marching<'a> {
    tetrahedra: &'a Tetrahedra,
    sources: &'a [(u32, f64)],
}

impl WithMetric for Marching<'_> {
    type Output = Vec<f64>;

    fn with(self, metric: &impl Metric) -> Vec<f64> {
        let (points, cells) = (self.tetrahedra.points(), self.tetrahedra.cells());
        let corners = cells.as_flattened();
        let around = grouped(corners, points.len(), |corner| corner / 4);
        let of_vertex =
            |vertex: usize| &around.values[around.offsets[vertex]..around.offsets[vertex + 1]];

        let mut times = vec![f64::INFINITY; points.len()];
        let mut queue = BTreeSet::new();
        for &(vertex, value) in self.sources {
            times[vertex as usize] = value.min(times[vertex as usize]);
        }
        let given: BTreeSet<u32> = self.sources.iter().map(|source| source.0).collect();
        queue.extend(given.iter().map(|&vertex| (ordered(times[vertex as usize]), vertex)));

        while let Some((_, from)) = queue.pop_first() {
            for &cell in of_vertex(from as usize) {
                for &to in cells[cell].iter().filter(|&to| *to != from && !given.contains(to)) {
                    let value = earliest(metric, self.tetrahedra, &times, cell, to);
                    if value < times[to as usize] {
                        queue.remove(&(ordered(times[to as usize]), to));
                        queue.insert((ordered(value), to));
                        times[to as usize] = value;
                    }
                }
            }
        }
        times
    }
}

/// The earliest arrival at `to` from anywhere on the opposite face.
fn earliest(
    metric: &impl Metric,
    tetrahedra: &Tetrahedra,
    times: &[f64],
    cell: usize,
    to: u32,
) -> f64 {
    let place = |vertex: u32| metric.place(tetrahedra.points()[vertex as usize]);
    let reached = |vertex: &u32| *vertex != to && times[*vertex as usize].is_finite();
    let face: Vec<u32> = tetrahedra.cells()[cell].into_iter().filter(reached).collect();
    let edges: Vec<[f64; 3]> =
        face.iter().map(|&vertex| difference(place(vertex), place(to))).collect();

    let mut best = f64::INFINITY;
    for first in 0..face.len() {
        let turned = |i: usize| (first + i) % face.len();
        let product = |a, b| metric.product(cell, edges[turned(a)], edges[turned(b)]);
        let values = [0, 1, 2].map(|i| times[face[turned(i)] as usize]);
        let [a, b, c] = values;
        best = best.min(match face.len() {
            1 => a + product(0, 0).sqrt(),
            2 => through_edge([a, b], [product(0, 0), product(1, 1), product(0, 1)]),
            _ => {
                let pairs = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];
                through_face([a, b, c], pairs.map(|(a, b)| product(a, b)))
            }
        });
    }
    best
}

/// Bits that are in the order of the numbers.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}
