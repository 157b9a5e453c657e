//! The reverse connectivity C_rev on the device [Ratnakar2022, 3.1.2.1].

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;
use topopt_mesh::NodeToElements;

use super::mesh::NODES;
use crate::Device;

/// Elements around each node, with its local number in each, in compressed rows.
pub(crate) struct ReverseConnectivity {
    /// `[n_nodes + 1]`.
    pub offsets: CudaSlice<u32>,
    /// `[NODES n_elements]`.
    pub elements: CudaSlice<u32>,
    /// `[NODES n_elements]`.
    pub locals: CudaSlice<u8>,
}

impl ReverseConnectivity {
    pub fn new(device: &Device, adjacency: &NodeToElements) -> Result<Self, BackendError> {
        Ok(Self {
            offsets: device.upload(&offsets(adjacency))?,
            elements: device.upload(adjacency.elements())?,
            locals: device.upload(adjacency.locals())?,
        })
    }

    /// Bytes on the device for a mesh of that size.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        4 * (n_nodes + 1) + NODES * 5 * n_elements
    }
}

/// Returns the offset of each node in the list of its elements, `[n_nodes + 1]`.
pub(super) fn offsets(adjacency: &NodeToElements) -> Vec<u32> {
    adjacency.offsets().par_iter().map(|&offset| offset as u32).collect()
}
