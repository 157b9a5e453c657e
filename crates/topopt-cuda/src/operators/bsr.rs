//! `bsr`: the assembled matrix in 3x3 block compressed rows, the baseline of the others.

use topopt_fem::{DIM, Discretization, Elasticity};
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::NodeToElements;

use super::ProblemOnDevice;
use super::mesh::{MeshOnDevice, NODES};
use super::mf::Mf;
use super::product::Product;
use crate::assembly::{Assembly, AssemblyStrategy, Pattern, Routine, Rows};
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::DeviceVector;

/// Blocks of the row of a node that has eight elements around it, and how many of them are on or
/// above the diagonal.
const ROW: usize = 27;
const UPPER: usize = 14;

/// Bytes of an element in the lists of its assembly: a target per pair of nodes and, by color, its number.
const TARGETS: usize = (NODES * (NODES + 1) / 2 + 1) * 4;

/// The product by an assembled matrix.
pub(crate) struct Bsr {
    kernels: kernels::Bsr,
    assembly: Assembly<f64>,
}

/// How the matrix is assembled whenever moduli change: the fastest that stores little; in order
/// where the mesh comes by color.
fn assembly(mesh: &MeshOnDevice) -> AssemblyStrategy {
    match mesh.is_one_part() {
        true => AssemblyStrategy::Atomic,
        false => AssemblyStrategy::ElemColor,
    }
}

impl Bsr {
    pub fn new(
        on_device: &ProblemOnDevice,
        problem: &Discretization,
        adjacency: &NodeToElements,
    ) -> Result<Self, BackendError> {
        let pattern = Pattern::new(problem, adjacency)?;
        let mesh = &on_device.mesh;
        Ok(Self {
            kernels: kernels::Bsr::load(&on_device.device)?,
            assembly: Assembly::new(mesh, problem, adjacency, &pattern, assembly(mesh))?,
        })
    }

    /// Bytes that it stores for a mesh of that size with rows as inside a box, 27 blocks long.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        let rows = ROW * (9 * 8 + 4) + 8 + UPPER * 9 + 1;
        rows * n_nodes + TARGETS * n_elements
    }
}

impl Product<Elasticity, DIM> for Bsr {
    const NAME: &'static str = "bsr";

    fn update(&mut self, plain: &Mf<f64>) {
        let moduli = &plain.coefficients()[0];
        self.assembly.assemble(Routine::Computed, [moduli, moduli]);
    }

    fn apply(&self, plain: &Mf<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let n = plain.problem().mesh.n_nodes;
        let (Rows { offsets, columns }, values) = self.assembly.matrix();
        // A warp per row.
        self.kernels.bsr(Threads(32 * n), n, offsets, columns, values, x, y);
    }

    fn cost(&self, problem: &ProblemOnDevice) -> Cost {
        let columns = &self.assembly.matrix().0.columns;
        let (blocks, nodes) = (columns.len() as f64, problem.mesh.n_nodes as f64);
        Cost {
            bytes_read: blocks * 76.0 + nodes * 32.0,
            bytes_written: nodes * 24.0,
            flops: blocks * 18.0,
        }
    }
}
