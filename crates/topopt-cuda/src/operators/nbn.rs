//! `nbn`: node by node with stored K_e and the reverse connectivity [Ratnakar2022, Alg. 3].

use cudarc::driver::CudaSlice;
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::NodeToElements;

use super::MeshOnDevice;
use super::adjacency::ReverseConnectivity;
use super::product::Product;
use super::stored;
use crate::kernel::{Kernel, Module};
use crate::vector::DeviceVector;

/// Threads of a block, one a node.
const BLOCK: usize = 512;

/// The product node by node.
pub(crate) struct Nbn {
    kernel: Kernel,
    reverse: ReverseConnectivity,
    stiffness: CudaSlice<f64>,
}

impl Nbn {
    pub fn new(mesh: &MeshOnDevice, adjacency: &NodeToElements) -> Result<Self, BackendError> {
        let ptx = include_str!("../../../../cuda/ptx/nbn.f64.ptx");
        Ok(Self {
            kernel: Module::load(&mesh.device, "nbn", ptx)?.kernel("nbn", BLOCK as u32)?,
            reverse: ReverseConnectivity::new(&mesh.device, adjacency)?,
            stiffness: stored::rows(mesh)?,
        })
    }
}

impl Product for Nbn {
    fn strategy(&self) -> &'static str {
        "nbn"
    }

    fn apply(
        &self,
        mesh: &MeshOnDevice,
        moduli: &DeviceVector<f64>,
        x: &DeviceVector<f64>,
        y: &mut DeviceVector<f64>,
    ) {
        let ReverseConnectivity { offsets, elements, locals, .. } = &self.reverse;
        launch!(self.kernel, mesh.n_nodes.div_ceil(BLOCK);
            &(mesh.n_nodes as u32), &(mesh.n_elements as u32), offsets, elements, locals,
            &mesh.connectivity, &mesh.held, &self.stiffness, &moduli.values, &x.values,
            &mut y.values);
    }

    fn cost(&self, mesh: &MeshOnDevice) -> Cost {
        let mut cost = stored::element_cost(mesh, 24 * 24, 2 * 24 * 24 + 48);
        cost.bytes_read += 40.0 * mesh.n_elements as f64 + 4.0 * mesh.n_nodes as f64;
        cost
    }
}
