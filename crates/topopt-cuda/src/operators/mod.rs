//! K(E) u on the device, by strategy.

pub(crate) mod adjacency;
mod bsr;
pub(crate) mod clusters;
pub(crate) mod constraints;
mod diffusion;
mod diffusion_stored;
mod diffusion_strategy;
mod ebe_sym;
mod films;
mod from_coordinates;
mod mesh;
mod mf;
mod nbn;
mod problem;
mod product;
mod shape_means;
mod slots;
pub(crate) mod sparsity;
mod stored;

use std::sync::Arc;

use topopt_fem::{DIM, Discretization, ElementOperator};
use topopt_linalg::BackendError;
use topopt_mesh::{HexMesh, NodeToElements};

pub use diffusion::MfDiffusion;
pub use diffusion_strategy::DiffusionStrategy;
pub use mesh::MeshOnDevice;
pub use mf::Mf;
pub use problem::ProblemOnDevice;
pub use shape_means::ShapeMeans;

use crate::{Cuda, kernels};
use adjacency::ReverseConnectivity;
use bsr::Bsr;
use ebe_sym::{EbeSym, EbeSymAtomic};
use nbn::Nbn;
use product::{Operator, Product};
pub(crate) use slots::Slots;
use stored::ByElements;

/// How K u is computed on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Matrix-free: nothing stored, geometry from the coordinates, sum-factorized.
    Mf,
    /// Matrix-free, with products in slots that nodes gather in a fixed order \[LoebEarls2019\].
    Dbd,
    /// Node by node with stored K_e and the reverse connectivity [Ratnakar2022, Alg. 3].
    Nbn,
    /// One thread an element with stored K_e [Ratnakar2022, Alg. 2].
    Ebe,
    /// Eight threads an element [Ratnakar2022, Alg. 4].
    Ebe8,
    /// 24 threads an element [Ratnakar2022, Alg. 5].
    Ebe24,
    /// 64 threads an element [Ratnakar2022, Alg. 6].
    Ebe64,
    /// The distinct entries of K_e, one launch a color [Ratnakar2022, Alg. 7].
    EbeSym,
    /// The distinct entries of K_e, in one launch with atomics.
    EbeSymAtomic,
    /// An assembled matrix in 3x3 block compressed rows.
    Bsr,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Strategy; 10] = [
        Strategy::Mf,
        Strategy::Dbd,
        Strategy::Nbn,
        Strategy::Ebe,
        Strategy::Ebe8,
        Strategy::Ebe24,
        Strategy::Ebe64,
        Strategy::EbeSym,
        Strategy::EbeSymAtomic,
        Strategy::Bsr,
    ];

    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Mf => "mf",
            Strategy::Dbd => "dbd",
            Strategy::Nbn => "nbn",
            Strategy::Ebe => "ebe",
            Strategy::Ebe8 => "ebe8",
            Strategy::Ebe24 => "ebe24",
            Strategy::Ebe64 => "ebe64",
            Strategy::EbeSym => "ebeSym",
            Strategy::EbeSymAtomic => "ebeSymAtomic",
            Strategy::Bsr => "bsr",
        }
    }

    /// Bytes of device memory that the operator stores for a mesh of that size, beside the
    /// [`ProblemOnDevice`] and the vectors. Exact except for `bsr`, whose rows are taken to be as long
    /// as inside a box.
    pub fn bytes(self, n_nodes: usize, n_elements: usize) -> usize {
        let moduli = 8 * n_elements;
        moduli
            + match self {
                Strategy::Mf => 0,
                Strategy::Dbd => Slots::<f64>::bytes(n_nodes, n_elements, DIM),
                Strategy::Nbn => {
                    stored::bytes(n_elements) + ReverseConnectivity::bytes(n_nodes, n_elements)
                }
                Strategy::Ebe | Strategy::Ebe8 | Strategy::Ebe24 | Strategy::Ebe64 => {
                    stored::bytes(n_elements)
                }
                Strategy::EbeSym => EbeSym::bytes(n_elements),
                Strategy::EbeSymAtomic => ebe_sym::bytes(n_elements),
                Strategy::Bsr => Bsr::bytes(n_nodes, n_elements),
            }
    }

    /// Whether it computes on `mesh`: `ebeSym` has no wedges and no pyramids, whose threads would
    /// write to one node at the same time.
    pub fn takes(self, mesh: &HexMesh) -> bool {
        self != Strategy::EbeSym || mesh.n_degenerate() == 0
    }

    /// Whether it adds up in a fixed order on a mesh [by color](ProblemOnDevice::by_color); the others
    /// add by atomics, all elements at a time.
    pub fn is_in_order(self) -> bool {
        use Strategy::{Bsr, Dbd, EbeSym, Mf, Nbn};
        matches!(self, Mf | Dbd | Nbn | EbeSym | Bsr)
    }

    /// The operator of `problem` with all moduli zero; `on_device` was made from the same problem.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it, its kernels cannot be loaded, or it does
    /// not [take](Strategy::takes) the mesh.
    pub fn build(
        self,
        on_device: &Arc<ProblemOnDevice>,
        problem: &Discretization,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError> {
        if !self.takes(problem.mesh()) {
            let (degenerate, name) = (problem.mesh().n_degenerate(), self.name());
            return Err(BackendError {
                device: on_device.device().name().into(),
                operation: format!("strategy `{name}`"),
                message: format!(
                    "the mesh has {degenerate} wedges or pyramids, which this strategy does not support; \
                     use `ebeSymAtomic`"
                ),
            });
        }

        let adjacency = || NodeToElements::new(problem.mesh());
        match self {
            Strategy::Mf => Ok(Box::new(Mf::<f64>::new(on_device)?)),
            Strategy::Dbd => Ok(Box::new(Mf::<f64>::with_slots(on_device, &adjacency())?)),
            Strategy::Nbn => operator(on_device, Nbn::new(on_device, &adjacency())?),
            Strategy::Ebe => operator(on_device, ByElements::<kernels::Ebe>::new(on_device)?),
            Strategy::Ebe8 => operator(on_device, ByElements::<kernels::Ebe8>::new(on_device)?),
            Strategy::Ebe24 => operator(on_device, ByElements::<kernels::Ebe24>::new(on_device)?),
            Strategy::Ebe64 => operator(on_device, ByElements::<kernels::Ebe64>::new(on_device)?),
            Strategy::EbeSym => operator(on_device, EbeSym::new(on_device, problem, &adjacency())?),
            Strategy::EbeSymAtomic => operator(on_device, EbeSymAtomic::new(on_device)?),
            Strategy::Bsr => operator(on_device, Bsr::new(on_device, problem, &adjacency())?),
        }
    }
}

fn operator<P: Product + 'static>(
    problem: &Arc<ProblemOnDevice>,
    product: P,
) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError> {
    Ok(Box::new(Operator::new(problem, product)?))
}
