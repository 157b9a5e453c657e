//! Smoothing that keeps the volume, the boundary of the mesh and the part.

use rayon::prelude::*;
use topopt_mesh::vector::{cross, difference, dot, length};

use crate::TriangleSurface;

/// Step that shrinks, and the frequency that passes unchanged [Taubin1995, section 3].
const LAMBDA: f64 = 0.5;
const PASS_BAND: f64 = 0.1;

/// Steps of the correction of the volume, which converges quadratically as long as no vertex
/// reaches the end of its edge.
const CORRECTIONS: usize = 24;

/// Relative difference of volumes that counts as none.
const TOLERANCE: f64 = 1e-13;

/// Least square of the cosine between normal and edge at which a vertex moves as far along the
/// normal as it should; next to the surface's own plane an edge leads too far aside.
const LEAST_SQUARE: f64 = 0.1;

impl TriangleSurface {
    /// Smooths by `steps` pairs of a shrinking and a swelling step \[Taubin1995\] with equal
    /// weights of the neighbors, then moves the vertices until the enclosed volume is `volume`, or
    /// as near to it as they can.
    ///
    /// Vertices on the boundary of the mesh stay where they are, and the others move along the edge
    /// of the tetrahedra that they lie on, as far as its normal direction says: they never leave
    /// the part, and parts of a surface that was not decimated never cross.
    pub fn smooth(&mut self, steps: usize, volume: f64) {
        let neighbors = Neighbors::of(self);
        let mu = 1.0 / (PASS_BAND - 1.0 / LAMBDA);
        for _ in 0..steps {
            self.step(&neighbors, LAMBDA);
            self.step(&neighbors, mu);
        }
        self.restore(volume);
    }

    /// Moves the free vertices until the volume is `volume`, or as near to it as they can.
    pub(crate) fn restore(&mut self, volume: f64) {
        let (mut missing, mut step) = (volume - self.volume(), 1.0);
        for _ in 0..CORRECTIONS {
            if missing.abs() <= TOLERANCE * volume.abs() {
                break;
            }
            let moved = self.corrected(missing, step);
            let before = std::mem::replace(&mut self.vertices, moved);
            let left = volume - self.volume();
            // Too far, as from small pieces that grow faster the larger they are: half of it.
            if left.abs() < missing.abs() {
                (missing, step) = (left, 1.0);
            } else {
                (self.vertices, step) = (before, 0.5 * step);
            }
        }
    }

    /// x + `factor` L x for the free vertices, L being the umbrella operator along the normals.
    fn step(&mut self, neighbors: &Neighbors, factor: f64) {
        let gradient = self.volume_gradient();
        let moved = |vertex: usize| {
            let x = self.vertices[vertex];
            let Some(track) = Track::of(self, vertex, gradient[vertex]) else { return x };
            let around = neighbors.of_vertex(vertex);
            let mean = |i: usize| {
                let sum: f64 = around.iter().map(|&n| self.vertices[n as usize][i]).sum();
                sum / around.len() as f64
            };
            track.after(factor * dot(track.normal, std::array::from_fn(|i| mean(i) - x[i])))
        };
        self.vertices = (0..self.vertices.len()).into_par_iter().map(moved).collect();
    }

    /// The vertices after the share `step` of a Newton step that adds the volume `missing`.
    fn corrected(&self, missing: f64, step: f64) -> Vec<[f64; 3]> {
        let gradient = self.volume_gradient();
        let track = |vertex: usize| Track::of(self, vertex, gradient[vertex]);
        let rates = (0..self.vertices.len()).filter_map(track).map(|track| track.rate(missing));
        let rate: f64 = rates.sum();
        let moved = |vertex: usize| match track(vertex) {
            Some(track) if rate > 0.0 => track.after(step * missing / rate),
            _ => self.vertices[vertex],
        };
        (0..self.vertices.len()).into_par_iter().map(moved).collect()
    }

    /// Derivative of the volume by the vertices: a third of the area vectors around, outwards.
    pub(crate) fn volume_gradient(&self) -> Vec<[f64; 3]> {
        let mut gradient = vec![[0.0; 3]; self.vertices.len()];
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|vertex| self.vertices[vertex as usize]);
            let third =
                cross(difference(b, a), difference(c, a)).map(|twice_area| twice_area / 6.0);
            for vertex in triangle {
                (0..3).for_each(|i| gradient[*vertex as usize][i] += third[i]);
            }
        }
        gradient
    }
}

/// How a free vertex moves.
struct Track {
    /// Its normal, of length 1, and a third of the area around it.
    normal: [f64; 3],
    area: f64,
    /// The edge that it moves along, and its share of it.
    start: [f64; 3],
    edge: [f64; 3],
    share: f64,
    /// Cosine of the angle between normal and edge.
    slope: f64,
}

impl Track {
    /// None for a vertex that stays: on the boundary of the mesh, or without a normal or an edge.
    fn of(surface: &TriangleSurface, vertex: usize, gradient: [f64; 3]) -> Option<Self> {
        let [start, end] = surface.tracks[vertex];
        let edge = difference(end, start);
        let [area, length] = [gradient, edge].map(length);
        let moves = !surface.on_boundary[vertex] && area > 0.0 && length > 0.0;
        moves.then(|| {
            let normal = gradient.map(|g| g / area);
            let share = dot(difference(surface.vertices[vertex], start), edge) / (length * length);
            Self { normal, area, start, edge, share, slope: dot(normal, edge) / length }
        })
    }

    /// The share of a distance along the normal that the vertex can follow.
    fn following(&self) -> f64 {
        self.slope * self.slope / (self.slope * self.slope).max(LEAST_SQUARE)
    }

    /// Derivative of the volume by the distance along the normal, 0 at the end towards which
    /// `missing` volume moves the vertex.
    fn rate(&self, missing: f64) -> f64 {
        let is_at_end =
            if missing * self.slope > 0.0 { self.share >= 1.0 } else { self.share <= 0.0 };
        if is_at_end { 0.0 } else { self.area * self.following() }
    }

    /// The vertex moved until it is at `distance` along the normal.
    fn after(&self, distance: f64) -> [f64; 3] {
        let length = length(self.edge);
        let along = distance * self.slope / (self.slope * self.slope).max(LEAST_SQUARE);
        let share = (self.share + along / length).clamp(0.0, 1.0);
        std::array::from_fn(|i| self.start[i] + share * self.edge[i])
    }
}

/// The neighbors of every vertex in compressed rows: the heads of its directed edges, each of
/// which a closed surface has once.
struct Neighbors {
    offsets: Vec<usize>,
    heads: Vec<u32>,
}

impl Neighbors {
    fn of(surface: &TriangleSurface) -> Self {
        let mut offsets = vec![0; surface.vertices.len() + 1];
        for &vertex in surface.triangles.as_flattened() {
            offsets[vertex as usize + 1] += 1;
        }
        for vertex in 0..surface.vertices.len() {
            offsets[vertex + 1] += offsets[vertex];
        }
        let mut next = offsets.clone();
        let mut heads = vec![0; 3 * surface.triangles.len()];
        for [a, b, c] in &surface.triangles {
            for (tail, head) in [(a, b), (b, c), (c, a)] {
                let slot = &mut next[*tail as usize];
                heads[*slot] = *head;
                *slot += 1;
            }
        }
        Self { offsets, heads }
    }

    fn of_vertex(&self, vertex: usize) -> &[u32] {
        &self.heads[self.offsets[vertex]..self.offsets[vertex + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_volume() {
        let vertices = vec![[0.1, 0.0, 0.2], [1.0, 0.1, 0.0], [0.0, 1.2, 0.1], [0.2, 0.3, 0.9]];
        let triangles = vec![[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        let surface = TriangleSurface { vertices, triangles, ..TriangleSurface::default() };
        let gradient = surface.volume_gradient();
        for vertex in 0..4 {
            for i in 0..3 {
                let shifted = |step: f64| {
                    let mut moved = surface.clone();
                    moved.vertices[vertex][i] += step;
                    moved.volume()
                };
                let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                assert!((difference - gradient[vertex][i]).abs() < 1e-9);
            }
        }
    }
}
