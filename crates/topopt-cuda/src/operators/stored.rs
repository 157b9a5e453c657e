//! Stored element stiffness, 576 numbers per element at unit modulus, and the strategies that walk
//! over the elements with it: `ebe`, `ebe8`, `ebe24`, `ebe64`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Elasticity};
use topopt_linalg::{BackendError, Cost};

use super::ProblemOnDevice;
use super::mesh::{MeshOnDevice, NODES};
use super::mf::Mf;
use super::product::Product;
use crate::Device;
use crate::kernel::Grid::{self, Threads};
use crate::kernels;
use crate::vector::DeviceVector;

/// Rows of K_e, and its entries.
pub(super) const ROWS: usize = DIM * NODES;
pub(super) const ENTRIES: usize = ROWS * ROWS;

/// K_e of every element, `[n_elements][ROWS][ROWS]`.
pub(crate) fn rows(problem: &ProblemOnDevice) -> Result<CudaSlice<f64>, BackendError> {
    let ProblemOnDevice { device, mesh, .. } = problem;
    let mut stiffness = device.zeros(mesh.n_elements * ENTRIES)?;
    let kernels = kernels::Stiffness::load_for(problem.formulation(), device)?;
    kernels.stiffness_rows(Threads(8 * mesh.n_elements), mesh, problem.material(), &mut stiffness);
    Ok(stiffness)
}

/// Bytes of [`rows`].
pub(crate) fn bytes(n_elements: usize) -> usize {
    8 * ENTRIES * n_elements
}

/// A kernel that walks over the elements with their stored K_e.
pub(crate) trait WalkKernel: Sized + Send + Sync {
    /// Name of the strategy, its file and its kernel.
    const NAME: &'static str;
    /// Threads of an element.
    const THREADS: usize;

    /// Loads the kernel.
    fn load(device: &Arc<Device>) -> Result<Self, BackendError>;

    /// y += K x for free components.
    fn add(
        &self,
        grid: Grid,
        plain: &Mf<f64>,
        stiffness: &CudaSlice<f64>,
        x: &DeviceVector<f64>,
        y: &mut DeviceVector<f64>,
    );
}

/// Kernels that spread an element over a number of threads.
macro_rules! walk_kernels {
    ($($(#[$doc:meta])* $file:ident::$kernel:ident: $threads:literal,)*) => {$(
        $(#[$doc])*
        impl WalkKernel for kernels::$file {
            const NAME: &'static str = stringify!($kernel);
            const THREADS: usize = $threads;

            fn load(device: &Arc<Device>) -> Result<Self, BackendError> {
                Self::load(device)
            }

            fn add(
                &self,
                grid: Grid,
                plain: &Mf<f64>,
                stiffness: &CudaSlice<f64>,
                x: &DeviceVector<f64>,
                y: &mut DeviceVector<f64>,
            ) {
                let ProblemOnDevice { mesh, constraints, .. } = plain.problem();
                let moduli = &plain.coefficients()[0];
                self.$kernel(grid, mesh, &constraints.held, stiffness, moduli, x, y);
            }
        }
    )*};
}

walk_kernels! {
    /// One thread per element [Ratnakar2022, Alg. 2].
    Ebe::ebe: 1,
    /// The rows of a node each [Ratnakar2022, Alg. 4].
    Ebe8::ebe8: 8,
    /// A row each [Ratnakar2022, Alg. 5].
    Ebe24::ebe24: 24,
    /// A 3x3 tile each [Ratnakar2022, Alg. 6].
    Ebe64::ebe64: 64,
}

/// The product element by element.
pub(crate) struct ByElements<W> {
    kernel: W,
    stiffness: CudaSlice<f64>,
}

impl<W: WalkKernel> ByElements<W> {
    pub fn new(problem: &ProblemOnDevice) -> Result<Self, BackendError> {
        Ok(Self { kernel: W::load(&problem.device)?, stiffness: rows(problem)? })
    }
}

impl<W: WalkKernel> Product<Elasticity, DIM> for ByElements<W> {
    const NAME: &'static str = W::NAME;

    fn apply(&self, plain: &Mf<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        plain.held_part(x, y);
        let grid = Threads(W::THREADS * plain.problem().mesh.n_elements);
        self.kernel.add(grid, plain, &self.stiffness, x, y);
    }

    fn cost(&self, problem: &ProblemOnDevice) -> Cost {
        // Of `ebe64`, eight threads scale and add for each row.
        let additions = if W::THREADS == 64 { NODES * ROWS } else { ROWS };
        element_cost(&problem.mesh, ENTRIES, 2 * ENTRIES + 2 * additions)
    }
}

/// Cost of a strategy that reads `entries` numbers per element beside modulus and connectivity.
pub(crate) fn element_cost(mesh: &MeshOnDevice, entries: usize, flops: usize) -> Cost {
    let (elements, nodes) = (mesh.n_elements as f64, mesh.n_nodes as f64);
    Cost {
        bytes_read: elements * (8.0 * entries as f64 + 8.0 + 32.0) + nodes * 25.0,
        bytes_written: nodes * 24.0,
        flops: elements * flops as f64,
    }
}
