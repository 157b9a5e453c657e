//! Laplacian smoothing of a plane mesh.

use rayon::prelude::*;

use super::section::Section;

const SWEEPS: usize = 200;
/// A full step lets alternating displacements survive for ever.
const RELAXATION: f64 = 0.7;

impl Section {
    /// Moves the movable points towards the mean of their neighbors, in simultaneous sweeps.
    ///
    /// An edge counts once for each of its quadrilaterals. So a point that slides along a
    /// straight boundary sees its inner neighbor twice, as if the mesh were mirrored there, and
    /// lines meet the boundary at right angles. Around a fixed circle the limit is conformal:
    /// spacing grows with the distance from the center and stays positive.
    pub fn smooth(&mut self) {
        let (offsets, neighbors) = self.neighbors();
        let mut next = self.points.clone();
        for _ in 0..SWEEPS {
            next.par_iter_mut().enumerate().for_each(|(p, point)| {
                let around = &neighbors[offsets[p]..offsets[p + 1]];
                for d in (0..2).filter(|&d| self.movable[p][d]) {
                    let sum: f64 = around.iter().map(|&q| self.points[q as usize][d]).sum();
                    let old = self.points[p][d];
                    point[d] = old + RELAXATION * (sum / around.len() as f64 - old);
                }
            });
            std::mem::swap(&mut self.points, &mut next);
        }
    }

    /// In compressed rows, the neighbors of every point, once for each quadrilateral of an edge.
    fn neighbors(&self) -> (Vec<usize>, Vec<u32>) {
        let mut offsets = vec![0; self.points.len() + 1];
        for &p in self.quads.as_flattened() {
            offsets[p as usize + 1] += 2;
        }
        for p in 0..self.points.len() {
            offsets[p + 1] += offsets[p];
        }
        let mut next = offsets.clone();
        let mut neighbors = vec![0; 8 * self.quads.len()];
        for quad in &self.quads {
            for (k, &p) in quad.iter().enumerate() {
                let slot = &mut next[p as usize];
                neighbors[*slot] = quad[(k + 1) % 4];
                neighbors[*slot + 1] = quad[(k + 3) % 4];
                *slot += 2;
            }
        }
        (offsets, neighbors)
    }
}
