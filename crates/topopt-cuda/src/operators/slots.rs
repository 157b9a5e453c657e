//! Slots for the products of elements, one per element and local node, and the second pass of `dbd`, which
//! gathers them at the nodes: `cuda/dbd.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;
use topopt_mesh::NodeToElements;

use super::adjacency::offsets;
use super::constraints::Constraints;
use super::mesh::NODES;
use crate::Device;
use crate::assembly::launch;
use crate::kernel::Grid::Threads;
use crate::kernel::Shared;
use crate::kernels;
use crate::vector::{DeviceVector, Real};

/// Slots for the products of elements, with the list of slots that every node gathers.
pub struct Slots<R> {
    kernels: kernels::Dbd<R>,
    /// Number of slots per unknown.
    n_slots: usize,
    /// `[n_nodes + 1]`.
    offsets: CudaSlice<u32>,
    /// Slots of every node, by increasing element, `[n_slots]`.
    places: CudaSlice<u32>,
    /// `[unknowns][NODES][n_elements]`.
    values: CudaSlice<R>,
}

impl<R: Real> Slots<R> {
    /// Slots for the nodes of `adjacency`, with a number of unknowns per node.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or the kernels cannot be loaded.
    pub(crate) fn new(
        device: &Arc<Device>,
        adjacency: &NodeToElements,
        unknowns: usize,
    ) -> Result<Self, BackendError> {
        let (n_nodes, offsets) = (adjacency.n_nodes(), offsets(adjacency));
        let n_slots = offsets[n_nodes] as usize;

        // Slots are by position, in which the bits of the local coordinates count up.
        let position = |local: u8| u32::from(local ^ (local >> 1 & 1));
        let slot = |(e, local): (&u32, &u8)| position(*local) * (n_slots / NODES) as u32 + e;
        let elements = adjacency.elements().par_iter();
        let places: Vec<u32> = elements.zip(adjacency.locals()).map(slot).collect();
        Ok(Self {
            kernels: kernels::Dbd::load(device)?,
            n_slots,
            offsets: device.upload(&offsets)?,
            places: device.upload(&places)?,
            values: device.zeros(unknowns * n_slots)?,
        })
    }

    /// Bytes on the device for a mesh of that size.
    pub(crate) fn bytes(n_nodes: usize, n_elements: usize, unknowns: usize) -> usize {
        4 * (n_nodes + 1) + NODES * (4 + unknowns * size_of::<R>()) * n_elements
    }

    /// Bytes that an application moves by the slots, for every node and for every element.
    pub(crate) fn traffic(unknowns: usize) -> [f64; 2] {
        [4.0, (NODES * (4 + 2 * unknowns * size_of::<R>())) as f64]
    }

    /// The slots, to be written.
    pub(crate) fn values(&self) -> Shared<R> {
        Shared::from_entry(&self.values, 0)
    }

    /// y = what the slots have for each node, and x where it is held.
    pub(crate) fn gather(
        &self,
        constraints: &Constraints,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        let Self { kernels, n_slots, offsets, places, values } = self;
        let (n, held) = (offsets.len() - 1, &constraints.held);
        let grid = Threads(n);
        launch!(
            kernels,
            constraints.unknowns,
            gather1 | gather3(grid, n, *n_slots, offsets, places, held, values, x, y)
        );
    }
}
