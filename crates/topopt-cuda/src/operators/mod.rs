//! K(E) u on the device, by strategy.

pub(crate) mod adjacency;
mod bsr;
pub(crate) mod clusters;
pub(crate) mod constraints;
mod corner_maps;
mod curved;
mod diffusion;
mod diffusion_stored;
mod ebe_sym;
mod elasticity;
mod element_list;
mod films;
mod hexahedra;
mod laws;
mod mesh;
mod mf;
mod nbn;
mod problem;
mod product;
mod shape_means;
mod slots;
pub(crate) mod sparsity;
mod stored;
mod tetrahedra;
mod tetrahedra_clusters;

use std::sync::Arc;

use topopt_fem::{DIM, Discretization, ElementOperator};
use topopt_linalg::BackendError;
use topopt_mesh::cells::Shape;

pub use corner_maps::DeviceCorners;
pub use mesh::MeshOnDevice;
pub use mf::{MatrixFree, Mf};
pub use problem::ProblemOnDevice;
pub use shape_means::ShapeMeans;

use crate::Cuda;
use crate::multigrid::Coarsened;
pub(crate) use constraints::Constraints;
pub(crate) use slots::Slots;

/// How K u is computed on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Matrix-free: nothing stored, geometry from the coordinates, sum-factorized.
    Mf,
    /// Matrix-free, with products in slots that nodes gather in a fixed order \[LoebEarls2019\].
    Dbd,
    /// Node by node with stored K_e and the reverse connectivity [Ratnakar2022, Alg. 3].
    Nbn,
    /// One thread per element with stored K_e [Ratnakar2022, Alg. 2].
    Ebe,
    /// Eight threads per element [Ratnakar2022, Alg. 4].
    Ebe8,
    /// 24 threads per element [Ratnakar2022, Alg. 5].
    Ebe24,
    /// 64 threads per element [Ratnakar2022, Alg. 6].
    Ebe64,
    /// The distinct entries of K_e, one launch per color [Ratnakar2022, Alg. 7].
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

    /// Bytes of device memory that the operator of `problem` stores, beside the [`ProblemOnDevice`]
    /// and the vectors. Exact except for `bsr`, whose rows are taken to be as long as inside a box.
    pub fn bytes<K: DeviceKernel<N>, const N: usize>(
        self,
        problem: &Discretization<K, N>,
    ) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        let of_strategy = match self {
            Strategy::Mf => 0,
            Strategy::Dbd => Slots::<f64>::bytes(n_nodes, n_elements, N),
            stored => K::stored_bytes(stored, n_nodes, n_elements),
        };
        let of_laws = problem.elements().laws().map_or(0, |_| laws::bytes(problem.mesh()));
        let of_mf = Mf::<f64, K, N>::bytes(n_elements) + Mf::<f64, K, N>::further_bytes(problem);
        of_mf + of_strategy + of_laws
    }

    /// Whether it computes `problem`: tetrahedra and laws of single elements have `mf` alone, and
    /// `ebeSym` has no wedges and no pyramids, whose threads would write to one node at the same
    /// time.
    pub fn takes<K: DeviceKernel<N>, const N: usize>(self, problem: &Discretization<K, N>) -> bool {
        let mesh = problem.mesh();
        if mesh.shape() == Shape::Tetrahedron || problem.elements().laws().is_some() {
            return N == DIM && self == Strategy::Mf;
        }
        K::STRATEGIES.contains(&self) && (self != Strategy::EbeSym || mesh.n_degenerate() == 0)
    }

    /// Whether it adds up in a fixed order on a mesh [by color](ProblemOnDevice::by_color); the
    /// others add by atomics, all elements at a time.
    pub fn is_in_order<K: DeviceKernel<N>, const N: usize>(self) -> bool {
        K::adds_in_order(self)
    }

    /// The operator of `problem` with all coefficients zero; `on_device` was made from the same problem.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it, its kernels cannot be loaded, or it does
    /// not [take](Strategy::takes) the mesh.
    pub fn build<K: DeviceKernel<N>, const N: usize>(
        self,
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError> {
        if !self.takes(problem) {
            return Err(self.refused(on_device.device().name(), problem));
        }
        if let Some(by_laws) = K::by_laws(on_device, problem) {
            return by_laws;
        }
        Ok(match self {
            Strategy::Mf => Box::new(Mf::<f64, K, N>::new(on_device, problem)?),
            Strategy::Dbd => Box::new(Mf::<f64, K, N>::with_slots(on_device, problem)?),
            stored => K::stored(stored, on_device, problem)?,
        })
    }

    /// Why it does not compute `problem`.
    fn refused<K: DeviceKernel<N>, const N: usize>(
        self,
        device: &str,
        problem: &Discretization<K, N>,
    ) -> BackendError {
        let (degenerate, name) = (problem.mesh().n_degenerate(), self.name());
        let message = match K::STRATEGIES.contains(&self) {
            _ if problem.elements().laws().is_some() => {
                "materials are not isotropic with one Poisson's ratio, which this strategy does not \
                 compute; use `mf`"
                    .into()
            }
            _ if problem.elements().are_tetrahedra() => {
                "the mesh is of tetrahedra, which this strategy does not compute; use `mf`".into()
            }
            true => format!(
                "the mesh has {degenerate} wedges or pyramids, which this strategy does not support; \
                 use `ebeSymAtomic`"
            ),
            false => format!("it has no kernels for {N} unknowns per node"),
        };
        BackendError { device: device.into(), operation: format!("strategy `{name}`"), message }
    }
}

/// An operator, or why it could not be built.
pub type Built = Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError>;

/// Integrals with kernels on the device.
pub trait DeviceKernel<const N: usize>: Coarsened<N> {
    /// Strategies that compute them.
    const STRATEGIES: &'static [Strategy];

    /// Whether `strategy` adds up in a fixed order on a mesh by color.
    fn adds_in_order(strategy: Strategy) -> bool;

    /// Builds `mf` where elements have laws of their own.
    fn by_laws(
        _on_device: &Arc<ProblemOnDevice<Self, N>>,
        _problem: &Discretization<Self, N>,
    ) -> Option<Built> {
        None
    }

    /// Builds `strategy`, one of those that store numbers.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    fn stored(
        strategy: Strategy,
        on_device: &Arc<ProblemOnDevice<Self, N>>,
        problem: &Discretization<Self, N>,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError>;

    /// Bytes that such a strategy stores beside its coefficients.
    fn stored_bytes(strategy: Strategy, n_nodes: usize, n_elements: usize) -> usize;
}
