//! Stored element stiffness, 576 numbers an element at unit modulus, and the strategies that walk
//! over the elements with it: `ebe`, `ebe8`, `ebe24`, `ebe64`.

use cudarc::driver::CudaSlice;
use topopt_linalg::{BackendError, Cost};

use super::MeshOnDevice;
use super::mesh::HeldPart;
use super::product::Product;
use crate::kernel::{Kernel, Module};
use crate::vector::DeviceVector;

/// Numbers of an element.
const ENTRIES: usize = 24 * 24;
/// Threads of a block of the kernels in `stiffness.cu`, eight an element.
const SETUP_BLOCK: usize = 128;

/// K_e of every element, \[n_elements\]\[24\]\[24\].
pub(crate) fn rows(mesh: &MeshOnDevice) -> Result<CudaSlice<f64>, BackendError> {
    let mut stiffness = mesh.device.zeros(mesh.n_elements * ENTRIES)?;
    let (kernel, (lambda, mu)) = (setup(mesh, "stiffness_rows")?, mesh.unit_lame);
    launch!(kernel, setup_blocks(mesh);
        &(mesh.n_elements as u32), &(mesh.n_nodes as u32), &mesh.connectivity, &mesh.coordinates,
        &lambda, &mu, &mut stiffness);
    Ok(stiffness)
}

/// Bytes of [`rows`].
pub(crate) fn bytes(n_elements: usize) -> usize {
    8 * ENTRIES * n_elements
}

/// A kernel of `stiffness.cu`.
pub(crate) fn setup(mesh: &MeshOnDevice, name: &str) -> Result<Kernel, BackendError> {
    let ptx = include_str!("../../../../cuda/ptx/stiffness.f64.ptx");
    Module::load(&mesh.device, "stiffness", ptx)?.kernel(name, SETUP_BLOCK as u32)
}

/// Blocks of a kernel of `stiffness.cu`.
pub(crate) fn setup_blocks(mesh: &MeshOnDevice) -> usize {
    mesh.n_elements.div_ceil(SETUP_BLOCK / 8)
}

/// How a strategy spreads elements over threads.
pub(crate) struct Mapping {
    /// Name of the strategy, its file and its kernel.
    pub name: &'static str,
    pub ptx: &'static str,
    /// Threads of an element.
    pub threads: usize,
    /// Threads of a block.
    pub block: usize,
}

/// The product element by element.
pub(crate) struct ByElements {
    mapping: &'static Mapping,
    kernel: Kernel,
    held_part: HeldPart,
    stiffness: CudaSlice<f64>,
}

impl ByElements {
    pub fn new(mesh: &MeshOnDevice, mapping: &'static Mapping) -> Result<Self, BackendError> {
        let module = Module::load(&mesh.device, mapping.name, mapping.ptx)?;
        Ok(Self {
            mapping,
            kernel: module.kernel(mapping.name, mapping.block as u32)?,
            held_part: HeldPart::load::<f64>(&mesh.device)?,
            stiffness: rows(mesh)?,
        })
    }
}

impl Product for ByElements {
    fn strategy(&self) -> &'static str {
        self.mapping.name
    }

    fn apply(
        &self,
        mesh: &MeshOnDevice,
        moduli: &DeviceVector<f64>,
        x: &DeviceVector<f64>,
        y: &mut DeviceVector<f64>,
    ) {
        self.held_part.write(mesh, x, y);
        launch!(self.kernel, mesh.n_elements.div_ceil(self.mapping.block / self.mapping.threads);
            &(mesh.n_elements as u32), &(mesh.n_nodes as u32), &mesh.connectivity, &mesh.held,
            &self.stiffness, &moduli.values, &x.values, &mut y.values);
    }

    fn cost(&self, mesh: &MeshOnDevice) -> Cost {
        // Of `ebe64`, eight threads scale and add for each row.
        let additions = if self.mapping.threads == 64 { 8 * 24 } else { 24 };
        element_cost(mesh, ENTRIES, 2 * ENTRIES + 2 * additions)
    }
}

/// Cost of a strategy that reads `entries` numbers an element beside modulus and connectivity.
pub(crate) fn element_cost(mesh: &MeshOnDevice, entries: usize, flops: usize) -> Cost {
    let (elements, nodes) = (mesh.n_elements as f64, mesh.n_nodes as f64);
    Cost {
        bytes_read: elements * (8.0 * entries as f64 + 8.0 + 32.0) + nodes * 25.0,
        bytes_written: nodes * 24.0,
        flops: elements * flops as f64,
    }
}
