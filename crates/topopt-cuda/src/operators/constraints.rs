//! Supports and springs on the device, for any number of unknowns per node.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;
use topopt_mesh::HexMesh;

use crate::Device;
use crate::vector::to_planes;

/// Held unknowns and springs of the nodes, on the device.
pub struct Constraints {
    /// Unknowns per node, at most 8: one bit of a byte each.
    pub(crate) unknowns: usize,
    /// Bit i is set where unknown i is held, `[n_nodes]`.
    pub(crate) held: CudaSlice<u8>,
    /// Bit e % 32 of word e / 32 is set where a node of element e is held, in any unknown.
    pub(crate) at_supports: CudaSlice<u32>,
    /// Springs to the ground, `[unknowns][n_nodes]`, if there are any.
    pub(crate) springs: Option<CudaSlice<f64>>,
}

impl Constraints {
    /// Uploads the constraints of the nodes of `mesh`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it.
    pub(crate) fn new<const N: usize>(
        device: &Arc<Device>,
        mesh: &HexMesh,
        constraints: &topopt_fem::Constraints<N>,
    ) -> Result<Self, BackendError> {
        let held = held(constraints);
        let upload = |springs: &[f64]| device.upload(&to_planes::<f64>(springs, N));
        let springs = constraints.springs().map(upload);
        Ok(Self {
            unknowns: N,
            held: device.upload(&held)?,
            at_supports: device.upload(&at_supports(mesh, &held))?,
            springs: springs.transpose()?,
        })
    }

    /// Bytes on the device for a mesh of that size without springs.
    pub(crate) fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        n_nodes + n_elements / 8
    }
}

/// Returns the held unknowns of every node, one bit each, `[n_nodes]`.
pub(crate) fn held<const N: usize>(constraints: &topopt_fem::Constraints<N>) -> Vec<u8> {
    let mask = |node| (0..N).map(|i| u8::from(constraints.is_fixed(node, i)) << i).sum();
    (0..constraints.n_nodes()).into_par_iter().map(mask).collect()
}

/// A bit per element: whether one of its nodes is held.
fn at_supports(mesh: &HexMesh, held: &[u8]) -> Vec<u32> {
    let n = mesh.nodes_per_element();
    let is_held = |nodes: &[u32]| nodes.iter().any(|&node| held[node as usize] != 0);
    let bit = |(bit, nodes)| u32::from(is_held(nodes)) << bit;
    let words = mesh.connectivity().par_chunks(32 * n);
    words.map(|nodes| nodes.chunks(n).enumerate().map(bit).sum()).collect()
}
