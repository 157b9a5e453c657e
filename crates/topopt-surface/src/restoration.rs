//! The volume of a surface restored, within the part.

use rayon::prelude::*;
use topopt_mesh::vector::{cross, difference, dot, length};

use crate::TriangleSurface;

/// Steps of the correction of the volume, which converges quadratically as long as no vertex
/// reaches the end of its edge.
const CORRECTIONS: usize = 24;

/// Relative difference of volumes that counts as none.
const TOLERANCE: f64 = 1e-13;

/// Least square of the cosine between normal and edge at which a vertex moves as far along the
/// normal as it should; next to the surface's own plane an edge leads too far aside.
const LEAST_SQUARE: f64 = 0.1;

impl TriangleSurface {
    /// Moves the free vertices until the volume is `volume`, or as near to it as they can. They
    /// move along the edge of the tetrahedra that they lie on, and so never leave the part;
    /// vertices on the boundary of the mesh stay.
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
    /// A third of the area around it.
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
            Self { area, start, edge, share, slope: dot(normal, edge) / length }
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
