//! The Helmholtz filter \[LazarovSigmund2011\].

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use topopt_linalg::{
    BackendError, BlockCsr, BlockPattern, Cost, Cpu, Cycle, CycleKind, Hierarchy, LinearOperator,
    Pcg, PcgOptions, PcgOutcome, Space, StopReason, System,
};
use topopt_mesh::{HexMesh, NodeToElements, hexahedron};

use crate::Diffusion;
use crate::diffusion::shape_integrals;
use crate::multigrid::ScalarAggregation;

/// Tight, so that what is computed is linear and symmetric for all who use it.
const SOLVE: PcgOptions = PcgOptions { tolerance: 1e-11, max_iterations: 500 };

/// y = V^-1 T A^-1 T^T V^-1 x, the means over the elements of the solution n of
/// -r^2 lap n + n = x / v without flux through the surface, for x that are integrals over the
/// elements. v is the volume of an element, T_ea the integral of the shape function of node a over
/// element e, and A = r^2 L + M with the Laplacian L and the lumped mass M.
///
/// A cone of radius R blurs along a line as much as r = R / (2 sqrt 3), squared R^2 / 12. Of that
/// squared length T and its transpose blur h^2 / 4 by themselves, where h^3 is the volume of the element;
/// L takes the rest.
///
/// As A 1 = T^T 1, a uniform x / v stays as it is, and the integral of n is the sum of x. As the
/// mass is lumped, A is an M-matrix on cubes, and n between the bounds of x / v.
pub struct Helmholtz<'a> {
    mesh: &'a HexMesh,
    adjacency: NodeToElements,
    /// T_ea / v_e.
    means: Vec<[f64; 8]>,
    /// A and its preconditioner.
    multigrid: Cycle<Cpu, ScalarAggregation>,
    work: Mutex<Work>,
}

struct Work {
    pcg: Pcg<Cpu>,
    /// T^T V^-1 x and n, \[n_nodes\].
    source: Vec<f64>,
    field: Vec<f64>,
}

impl<'a> Helmholtz<'a> {
    /// For the radius R of a cone that blurs as much.
    ///
    /// # Errors
    /// [`BackendError`] never on the CPU.
    pub fn new(mesh: &'a HexMesh, radius: f64) -> Result<Self, BackendError> {
        let adjacency = NodeToElements::new(mesh);
        let n = mesh.n_nodes();
        let pattern = (0..n).into_par_iter().map(|node| {
            let elements = adjacency.elements_of(node).iter();
            elements.flat_map(|&e| mesh.hexes()[e as usize]).collect()
        });
        let hierarchy =
            ScalarAggregation::new(mesh.coordinates(), BlockPattern::new(pattern.collect()));
        let mut multigrid = Cycle::new(&Cpu, CycleKind::K, hierarchy)?;
        multigrid.update(&Cpu, |hierarchy| {
            hierarchy.update(|matrix| assemble(mesh, &adjacency, radius, matrix));
        });
        let mean = |e: usize| {
            let integrals = shape_integrals(&mesh.element_coordinates(e));
            integrals.map(|integral| integral / integrals.iter().sum::<f64>())
        };
        let means = (0..mesh.n_elements()).into_par_iter().map(mean).collect();
        let work = Work {
            pcg: Pcg::new(&Cpu, Space::nodes(n, 1))?,
            source: vec![0.0; n],
            field: vec![0.0; n],
        };
        Ok(Self { mesh, adjacency, means, multigrid, work: Mutex::new(work) })
    }

    /// Bytes that the filter of a mesh of that size takes.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        // A node: 27 entries (12 each), 8 elements (5 each), 13 vectors, its place in an aggregate
        // and the levels above (70), and in the setup a list of its neighbors (132). An element: its means.
        672 * n_nodes + 64 * n_elements
    }

    /// y as above, and how the solve went.
    fn solve(&self, x: &[f64], y: &mut [f64]) -> Result<PcgOutcome, BackendError> {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let Work { pcg, source, field } = &mut *work;
        let gather = |(node, source): (usize, &mut f64)| {
            let elements = self.adjacency.of(node).map(|(e, a)| (e as usize, a as usize));
            *source = elements.map(|(e, a)| self.means[e][a] * x[e]).sum();
        };
        source.par_iter_mut().with_min_len(1024).enumerate().for_each(gather); // T^T V^-1 x
        field.fill(0.0);
        let a = self.multigrid.hierarchy().operator(0);
        let system = System { backend: &Cpu, a, m: &self.multigrid, f: source };
        let outcome = pcg.solve(&system, field, SOLVE, &mut |_| ControlFlow::Continue(()))?;
        let mean = |(e, y): (usize, &mut f64)| {
            let nodes = self.mesh.hexes()[e].iter().zip(&self.means[e]);
            *y = nodes.map(|(&node, mean)| mean * field[node as usize]).sum();
        };
        y.par_iter_mut().with_min_len(1024).enumerate().for_each(mean); // V^-1 T n
        Ok(outcome)
    }
}

impl LinearOperator<Cpu> for Helmholtz<'_> {
    fn space(&self) -> Space {
        Space::elements(self.means.len())
    }

    /// What cannot be solved is not a number, which whoever uses it finds.
    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let outcome = self.solve(x, y);
        if !outcome.is_ok_and(|outcome| outcome.reason == StopReason::Converged) {
            y.fill(f64::NAN);
        }
    }

    /// Of an application but for the iterations of its solve.
    fn cost(&self) -> Cost {
        let (nodes, elements) = (self.mesh.n_nodes() as f64, self.means.len() as f64);
        Cost {
            bytes_read: 16.0 * nodes + (8.0 + 2.0 * (64.0 + 32.0)) * elements,
            bytes_written: 8.0 * (nodes + elements),
            flops: 32.0 * elements,
        }
    }
}

/// A = r^2 L + M, a row a node.
fn assemble(mesh: &HexMesh, adjacency: &NodeToElements, radius: f64, matrix: &mut BlockCsr<1>) {
    matrix.fill_rows(|node, columns, entries| {
        let mut add = |column: u32, value: f64| {
            let place = columns.binary_search(&column).unwrap_or_default();
            entries[place][0][0] += value;
        };
        for (e, a) in adjacency.of(node) {
            let (e, a) = (e as usize, a as usize);
            let x = mesh.element_coordinates(e);
            let width = hexahedron::volume(&x).cbrt();
            let square = (radius * radius / 12.0 - 0.25 * width * width).max(0.0);
            Diffusion::row(a, &x, [square, 1.0], |b, value| add(mesh.hexes()[e][b], value));
        }
    });
}

#[cfg(test)]
mod tests;
