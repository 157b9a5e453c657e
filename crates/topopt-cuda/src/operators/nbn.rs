//! `nbn`: node by node with stored K_e and the reverse connectivity [Ratnakar2022, Alg. 3].

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Elasticity};
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::NodeToElements;

use super::ProblemOnDevice;
use super::adjacency::ReverseConnectivity;
use super::mf::Mf;
use super::product::Product;
use super::stored::{self, ENTRIES, ROWS};
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::DeviceVector;

/// The product node by node.
pub(crate) struct Nbn {
    kernels: kernels::Nbn,
    reverse: ReverseConnectivity,
    stiffness: CudaSlice<f64>,
}

impl Nbn {
    pub fn new(
        problem: &ProblemOnDevice,
        adjacency: &NodeToElements,
    ) -> Result<Self, BackendError> {
        Ok(Self {
            kernels: kernels::Nbn::load(&problem.device)?,
            reverse: ReverseConnectivity::new(&problem.device, adjacency)?,
            stiffness: stored::rows(problem)?,
        })
    }
}

impl Product<Elasticity, DIM> for Nbn {
    const NAME: &'static str = "nbn";

    fn apply(&self, plain: &Mf<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let ReverseConnectivity { offsets, elements, locals } = &self.reverse;
        let ProblemOnDevice { mesh, constraints, .. } = plain.problem();
        let (grid, held) = (Threads(mesh.n_nodes), &constraints.held);
        let (matrices, moduli) = (&self.stiffness, &plain.coefficients()[0]);
        self.kernels.nbn(grid, mesh, offsets, elements, locals, held, matrices, moduli, x, y);
    }

    fn cost(&self, problem: &ProblemOnDevice) -> Cost {
        let mesh = &problem.mesh;
        let mut cost = stored::element_cost(mesh, ENTRIES, 2 * ENTRIES + 2 * ROWS);
        cost.bytes_read += 40.0 * mesh.n_elements as f64 + 4.0 * mesh.n_nodes as f64;
        cost
    }
}
