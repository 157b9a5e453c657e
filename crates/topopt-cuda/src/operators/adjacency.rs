//! The reverse connectivity C_rev on the device [Ratnakar2022, 3.1.2.1].

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;
use topopt_mesh::NodeToElements;

use crate::Device;

/// For every node its elements and its local number in each, in compressed rows.
pub(crate) struct ReverseConnectivity {
    /// \[n_nodes + 1\].
    pub offsets: CudaSlice<u32>,
    /// \[8 n_elements\].
    pub elements: CudaSlice<u32>,
    /// \[8 n_elements\].
    pub locals: CudaSlice<u8>,
}

impl ReverseConnectivity {
    pub fn new(device: &Device, adjacency: &NodeToElements) -> Result<Self, BackendError> {
        let n_nodes = adjacency.n_nodes();
        let all = (0..n_nodes).flat_map(|node| adjacency.of(node));
        let (elements, locals): (Vec<u32>, Vec<u8>) = all.unzip();
        Ok(Self {
            offsets: device.upload(&offsets(adjacency))?,
            elements: device.upload(&elements)?,
            locals: device.upload(&locals)?,
        })
    }

    /// Bytes on the device for a mesh of that size.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        4 * (n_nodes + 1) + 8 * 5 * n_elements
    }
}

/// Where the elements of each node begin, and the end of the last, `[n_nodes + 1]`.
pub(super) fn offsets(adjacency: &NodeToElements) -> Vec<u32> {
    let mut offsets = vec![0];
    let mut end = 0;
    offsets.extend((0..adjacency.n_nodes()).map(|node| {
        end += adjacency.valence(node) as u32;
        end
    }));
    offsets
}
