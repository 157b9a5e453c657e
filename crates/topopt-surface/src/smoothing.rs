//! Smoothing that keeps the volume and the boundary of the mesh.

use rayon::prelude::*;

use crate::TriangleSurface;

/// Step that shrinks, and the frequency that passes unchanged [Taubin1995, section 3].
const LAMBDA: f64 = 0.5;
const PASS_BAND: f64 = 0.1;

/// Steps of the correction of the volume, which converges quadratically.
const CORRECTIONS: usize = 4;

impl TriangleSurface {
    /// Smooths by `steps` pairs of a shrinking and a swelling step \[Taubin1995\] with equal weights
    /// of the neighbours, then moves the vertices along their normals until the enclosed volume is
    /// `volume`. Vertices on the boundary of the mesh stay where they are; where there are no
    /// others, nothing changes. Vertices next to the boundary may leave the mesh by some percent of
    /// an element.
    pub fn smooth(&mut self, steps: usize, volume: f64) {
        let neighbours = Neighbours::of(self);
        let mu = 1.0 / (PASS_BAND - 1.0 / LAMBDA);
        for _ in 0..steps {
            self.step(&neighbours, LAMBDA);
            self.step(&neighbours, mu);
        }
        self.restore(volume);
    }

    /// Moves the free vertices along their normals until the volume is `volume`.
    pub(crate) fn restore(&mut self, volume: f64) {
        for _ in 0..CORRECTIONS {
            self.correct(volume);
        }
    }

    /// x + `factor` L x for the free vertices, L being the umbrella operator.
    fn step(&mut self, neighbours: &Neighbours, factor: f64) {
        let moved = |vertex: usize| {
            let x = self.vertices[vertex];
            let around = neighbours.of_vertex(vertex);
            if self.on_boundary[vertex] {
                return x;
            }
            let mean = |i: usize| {
                let sum: f64 = around.iter().map(|&n| self.vertices[n as usize][i]).sum();
                sum / around.len() as f64
            };
            std::array::from_fn(|i| x[i] + factor * (mean(i) - x[i]))
        };
        self.vertices = (0..self.vertices.len()).into_par_iter().map(moved).collect();
    }

    /// A Newton step towards `volume` along the normals of the free vertices.
    fn correct(&mut self, volume: f64) {
        let gradient = self.volume_gradient();
        let length = |g: &[f64; 3]| g.iter().map(|x| x * x).sum::<f64>().sqrt();
        let free = |&(vertex, g): &(usize, &[f64; 3])| !self.on_boundary[vertex] && length(g) > 0.0;
        let rate: f64 = gradient.iter().enumerate().filter(free).map(|(_, g)| length(g)).sum();
        if rate == 0.0 {
            return;
        }
        let distance = (volume - self.volume()) / rate;
        for (vertex, g) in gradient.iter().enumerate() {
            if !self.on_boundary[vertex] && length(g) > 0.0 {
                let scale = distance / length(g);
                (0..3).for_each(|i| self.vertices[vertex][i] += scale * g[i]);
            }
        }
    }

    /// Derivative of the volume by the vertices: a third of the area vectors around, outwards.
    pub(crate) fn volume_gradient(&self) -> Vec<[f64; 3]> {
        let mut gradient = vec![[0.0; 3]; self.vertices.len()];
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|vertex| self.vertices[vertex as usize]);
            let [p, q]: [[f64; 3]; 2] = [b, c].map(|end| std::array::from_fn(|i| end[i] - a[i]));
            for i in 0..3 {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let third = (p[j] * q[k] - p[k] * q[j]) / 6.0;
                triangle.iter().for_each(|&vertex| gradient[vertex as usize][i] += third);
            }
        }
        gradient
    }
}

/// The neighbours of every vertex in compressed rows: the heads of its directed edges, each of
/// which a closed surface has once.
struct Neighbours {
    offsets: Vec<usize>,
    heads: Vec<u32>,
}

impl Neighbours {
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
        let (on_boundary, pieces) = (vec![false; 4], vec![0; 4]);
        let surface = TriangleSurface { vertices, triangles, on_boundary, pieces };
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
