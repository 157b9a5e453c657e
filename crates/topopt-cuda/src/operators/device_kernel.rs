//! `DeviceKernel`: the kernels that serve a physics, by its number of unknowns per node.

use std::sync::Arc;

use topopt_fem::{Discretization, ElementOperator};
use topopt_linalg::{BackendError, Cost};

use super::mf::{Mf, To};
use super::{ProblemOnDevice, Strategy};
use crate::Cuda;
use crate::assembly::Assembled;
use crate::kernel::Shared;
use crate::kernels::Part;
use crate::multigrid::LevelKernels;
use crate::vector::{DeviceVector, Real};

/// Integrals with kernels on the device.
pub trait DeviceKernel<const N: usize>: Assembled<N> {
    /// Strategies that compute them.
    const STRATEGIES: &'static [Strategy];

    /// Whether `mf` computes elements in clusters where that is faster.
    const HAS_CLUSTERS: bool;

    /// Kernels over the elements.
    type Elements<R: Real>: ElementKernels<Self, R, N>;

    /// Kernels of multigrid.
    type Levels<R: Real>: LevelKernels<Self, R, N>;

    /// Whether `strategy` adds up in a fixed order on a mesh by color.
    fn adds_in_order(strategy: Strategy) -> bool;

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

/// Kernels over the elements of a problem, in the precision `R`, with what they alone read.
pub trait ElementKernels<K: DeviceKernel<N>, R: Real, const N: usize>: Sized + Send + Sync {
    /// Loads the kernels for `problem`, which is on the device.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room or the kernels cannot be loaded.
    fn new(
        on_device: &ProblemOnDevice<K, N>,
        problem: &Discretization<K, N>,
    ) -> Result<Self, BackendError>;

    /// Threads of a block of the product that also sums up x . y.
    fn dot_block() -> u32;

    /// Bytes of what depends on more than the sizes of a mesh.
    fn further_bytes(_problem: &Discretization<K, N>) -> usize {
        0
    }

    /// Returns the blocks of a launch over `count` elements; each block writes its part of x . y.
    fn blocks(&self, count: usize, to_slots: bool) -> usize;

    /// Adds the products of a part of the elements to nodes, or writes them to slots.
    fn products(
        &self,
        mf: &Mf<R, K, N>,
        part: Part,
        x: &DeviceVector<R>,
        to: To<'_, R>,
        partial: Option<Shared<f64>>,
    );

    /// Adds the diagonal of a part for `coefficients`, `[n_elements]` per term; 1 at held unknowns.
    fn diagonal(
        &self,
        mf: &Mf<R, K, N>,
        part: Part,
        coefficients: &[DeviceVector<R>],
        out: &mut DeviceVector<R>,
    );

    /// Writes v_e^T K_e u_e of a term at unit coefficient, `[n_elements]`.
    fn work(
        &self,
        mf: &Mf<R, K, N>,
        term: usize,
        fields: [&DeviceVector<R>; 2],
        out: &mut DeviceVector<R>,
    );

    /// Operations per element of a product, and numbers read beside the coefficients.
    fn product_cost(&self) -> [f64; 2];

    /// Adds to a product what no strategy has of the elements.
    fn complete(&self, _mf: &Mf<R, K, N>, _x: &DeviceVector<R>, _y: &mut DeviceVector<R>) {}

    /// Counted cost of what [`complete`](Self::complete) adds, if it adds anything.
    fn completion(&self, _mf: &Mf<R, K, N>) -> Option<Cost> {
        None
    }
}
