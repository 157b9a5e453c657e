//! Fairing: waves shorter than a wavelength are taken out of a surface, members keep their width.

use std::ops::ControlFlow;

use rayon::prelude::*;
use topopt_linalg::{
    BackendError, Cost, Cpu, Diagonal, LinearOperator, Pcg, PcgOptions, Space, System,
};
use topopt_mesh::vector::{difference, dot, length};

use crate::TriangleSurface;

/// Relative residual of a displacement: a hundredth of what is moved is not seen.
const TOLERANCE: f64 = 1e-2;
const MOST_ITERATIONS: usize = 300;

/// The low pass (D + tau L^T D L)^-1 D on the vertices of a surface, L being the umbrella
/// (mean of the neighbors less oneself) and D the numbers of neighbors: bilaplacian, since a
/// Laplacian rounds more of what is long to take as much of what is short.
struct LowPass {
    offsets: Vec<usize>,
    neighbors: Vec<u32>,
    tau: f64,
}

/// The surface without waves much shorter than `wavelength`.
///
/// The low pass also takes from what is bent: it would thin a bar of two elements by a third. So
/// the mean of the distance that vertices move along the normal, as the same low pass finds it, is
/// taken back. That mean is all of it around a bar, and nothing on a wave.
pub(crate) fn faired(
    surface: &TriangleSurface,
    wavelength: f64,
) -> Result<TriangleSurface, BackendError> {
    let low_pass = LowPass::of(surface, wavelength);
    let mut moved = surface.clone();
    let shift = |axis: usize| {
        let values: Vec<f64> = surface.vertices.iter().map(|x| x[axis]).collect();
        low_pass.change(&values)
    };
    // Each is a row of short steps, in which most threads wait.
    let shifts = (0..3).into_par_iter().map(shift).collect::<Result<Vec<_>, _>>()?;
    for (axis, shift) in shifts.into_iter().enumerate() {
        moved.vertices.iter_mut().zip(shift).for_each(|(x, shift)| x[axis] += shift);
    }

    let normals = moved.normals();
    let along = surface.vertices.iter().zip(&moved.vertices).zip(&normals);
    let along: Vec<f64> = along.map(|((from, to), n)| dot(difference(*to, *from), *n)).collect();
    let removed = low_pass.change(&along)?;
    let mean = along.iter().zip(removed).map(|(along, removed)| along + removed);
    for ((x, n), mean) in moved.vertices.iter_mut().zip(&normals).zip(mean) {
        *x = [0, 1, 2].map(|i| x[i] - mean * n[i]);
    }
    Ok(moved)
}

impl LowPass {
    fn of(surface: &TriangleSurface, wavelength: f64) -> Self {
        let around = surface.triangles_around();
        let from = |vertex: u32| {
            let others = surface.beside(vertex, around.of(vertex as usize));
            others.into_iter().map(move |other| [vertex, other])
        };
        let vertices = (0..surface.vertices.len() as u32).into_par_iter();
        let edges: Vec<[u32; 2]> = vertices.flat_map_iter(from).collect();

        let mut offsets = vec![0; surface.vertices.len() + 1];
        edges.iter().for_each(|edge| offsets[edge[0] as usize + 1] += 1);
        (1..offsets.len()).for_each(|i| offsets[i] += offsets[i - 1]);
        let span = |&[a, b]: &[u32; 2]| {
            length(difference(surface.vertices[a as usize], surface.vertices[b as usize]))
        };
        let spans: Vec<f64> = edges.par_iter().map(span).collect();
        let mean = spans.iter().sum::<f64>() / edges.len().max(1) as f64;
        // On a regular mesh of edges l the umbrella of a wave of length w is (pi l / w)^2: half of
        // the waves of a wavelength is left.
        let tau = (wavelength / (std::f64::consts::PI * mean)).powi(4);
        Self { offsets, neighbors: edges.iter().map(|edge| edge[1]).collect(), tau }
    }

    fn around(&self, vertex: usize) -> &[u32] {
        &self.neighbors[self.offsets[vertex]..self.offsets[vertex + 1]]
    }

    fn degree(&self, vertex: usize) -> f64 {
        self.around(vertex).len() as f64
    }

    fn diagonal(&self, vertex: usize) -> f64 {
        let share = |&other: &u32| 1.0 / self.degree(other as usize).max(1.0);
        let shares: f64 = self.around(vertex).iter().map(share).sum();
        // A vertex without neighbors stays.
        self.degree(vertex).max(1.0) + self.tau * (self.degree(vertex) + shares)
    }

    /// L `x`.
    fn umbrella(&self, x: &[f64]) -> Vec<f64> {
        let mean = |vertex: usize| {
            let sum: f64 = self.around(vertex).iter().map(|&other| x[other as usize]).sum();
            sum / self.degree(vertex).max(1.0) - x[vertex]
        };
        (0..x.len()).into_par_iter().with_min_len(1024).map(mean).collect()
    }

    /// tau L^T D L `x`.
    fn bending(&self, x: &[f64], y: &mut [f64]) {
        let umbrella = self.umbrella(x);
        y.par_iter_mut().enumerate().with_min_len(1024).for_each(|(vertex, y)| {
            let sum: f64 = self.around(vertex).iter().map(|&other| umbrella[other as usize]).sum();
            *y = self.tau * (sum - self.degree(vertex) * umbrella[vertex]);
        });
    }

    /// Change of `values` by the low pass: small numbers beside large coordinates.
    fn change(&self, values: &[f64]) -> Result<Vec<f64>, BackendError> {
        let mut right = vec![0.0; values.len()];
        self.bending(values, &mut right);
        right.par_iter_mut().for_each(|r| *r = -*r);

        let diagonal = (0..values.len()).into_par_iter().map(|v| self.diagonal(v)).collect();
        let m = Diagonal::new(&Cpu, &diagonal, self.space())?;
        let system = System { backend: &Cpu, a: self, m: &m, f: &right };
        let options = PcgOptions { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS };
        let (mut pcg, mut change) = (Pcg::new(&Cpu, self.space())?, vec![0.0; values.len()]);
        pcg.solve(&system, &mut change, options, &mut |_| ControlFlow::Continue(()))?;
        Ok(change)
    }
}

impl TriangleSurface {
    /// The other vertices of the triangles `around` a vertex, in rising order.
    fn beside(&self, vertex: u32, around: &[u32]) -> Vec<u32> {
        let corners = around.iter().flat_map(|&triangle| self.triangles[triangle as usize]);
        let mut others: Vec<u32> = corners.filter(|&other| other != vertex).collect();
        others.sort_unstable();
        others.dedup();
        others
    }
}

impl LinearOperator<Cpu> for LowPass {
    fn space(&self) -> Space {
        Space::level(self.offsets.len() - 1, 1)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.bending(x, y);
        let own = y.par_iter_mut().zip(x).enumerate().with_min_len(1024);
        own.for_each(|(vertex, (y, x))| *y += self.degree(vertex).max(1.0) * x);
    }

    fn cost(&self) -> Cost {
        let (edges, vertices) = (self.neighbors.len() as f64, self.offsets.len() as f64);
        Cost {
            bytes_read: 24.0 * edges + 32.0 * vertices,
            bytes_written: 16.0 * vertices,
            flops: 2.0 * edges + 6.0 * vertices,
        }
    }
}
