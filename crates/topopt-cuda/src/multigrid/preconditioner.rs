//! `multigrid`: a cycle over the hierarchy on the device, which follows the coefficients.

use std::sync::Arc;

use topopt_fem::{
    DIM, Discretization, Elasticity, ElementOperator, ElementPreconditioner, Level, Sharing,
};
use topopt_linalg::{BackendError, CycleKind, Preconditioner};

use super::fine_patches::FinePatches;
use super::hierarchy::DeviceHierarchy;
use super::level::{Coarsened, LevelKernels};
use super::prepared::{Prepared, direct};
use super::recorded::{RecordedCycle, by_recorded};
use super::repeated::Repeated;
use super::shared_rows::Others;
use super::steps::Steps;
use crate::Cuda;
use crate::operators::{Mf, ProblemOnDevice, Slots};
use crate::vector::{DeviceVector, Real};

/// Iterations after whose loss a structure is made again. The host takes as long for it as some 500
/// take on a million elements; designs that need it gain for the rest of a run.
const STRUCTURE_COST: usize = 150;

/// `multigrid`: a cycle in precision `R`, for conjugate gradients in double precision.
pub struct Multigrid<'a, R: Real, K: Coarsened<N> = Elasticity, const N: usize = DIM> {
    recorded: RecordedCycle<'a, R, DeviceHierarchy<'a, R, K, N>>,
    levels: Vec<Level>,
    /// An update.
    setup: Repeated,
}

impl<'a, R: Real, K: Coarsened<N>, const N: usize> Multigrid<'a, R, K, N> {
    /// Builds cycles of that kind over the structure `prepared` for `problem`, which is `on_device`
    /// too; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
        kind: CycleKind,
        prepared: &Prepared,
    ) -> Result<Self, BackendError> {
        Self::among(backend, on_device, problem, kind, prepared, None)
    }

    /// Builds cycles for `problem` on a part, with the other ranks: each of them has the levels
    /// below the finest. Vectors hold the values of ghosts, see [`Sharing`](topopt_fem::Sharing).
    ///
    /// # Errors
    /// As [`Multigrid::new`], and if another rank has failed.
    pub fn on_part(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
        kind: CycleKind,
        prepared: &Prepared,
        others: Arc<dyn Sharing<'a, Cuda<R>> + 'a>,
    ) -> Result<Self, BackendError> {
        Self::among(backend, on_device, problem, kind, prepared, Some(&others))
    }

    fn among(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
        kind: CycleKind,
        prepared: &Prepared,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let hierarchy = DeviceHierarchy::new(backend, on_device, problem, prepared, others)?;
        // Unless the exchange with others is no work of the device.
        let is_recorded = others.is_none_or(|others| others.is_recorded());
        Ok(Self {
            recorded: RecordedCycle::new(backend, kind, hierarchy, is_recorded)?,
            levels: prepared.structure.levels(),
            setup: Repeated::new(is_recorded),
        })
    }

    /// Allows the structure to be updated for designs of `problem`, for which it was made.
    #[must_use]
    pub fn following(mut self, problem: &'a Discretization<K, N>) -> Self {
        self.recorded.cycle.hierarchy_mut().follow(problem);
        self
    }

    /// Bytes that smoothing by patches takes beside [`Multigrid::bytes`].
    pub fn patch_bytes(n_nodes: usize, n_elements: usize) -> usize {
        FinePatches::<R>::bytes(n_nodes, n_elements, N)
    }

    /// Bytes for the steps of solves of that many unknowns in the precision of the cycle.
    pub fn step_bytes(unknowns: usize) -> usize {
        Steps::<R>::bytes(unknowns)
    }

    /// Bytes on the device, for a mesh of that size without springs whose aggregates have some 27
    /// nodes and as many neighbors; elements by color have slots. Without [`Mf::further_bytes`].
    pub fn bytes(n_nodes: usize, n_elements: usize, by_color: bool) -> usize {
        let slots = if by_color { Slots::<R>::bytes(n_nodes, n_elements, N) } else { 0 };
        // The levels below and their vectors are a tenth. An element: its bound and raised coefficients, and
        // 2.8 joints. The last inverse is a square.
        K::Levels::<R>::bytes_of_node() * n_nodes * 11 / 10
            + Mf::<R, K, N>::bytes(n_elements)
            + ((1 + K::TERMS) * size_of::<R>() + 12) * n_elements
            + 8 * direct(N * n_nodes).pow(2)
            + slots
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &DeviceHierarchy<'a, R, K, N> {
        self.recorded.cycle.hierarchy()
    }
}

impl<R: Real, K: Coarsened<N>, const N: usize> Preconditioner<Cuda<f64>>
    for Multigrid<'_, R, K, N>
{
    by_recorded!();
}

impl<R: Real, K: Coarsened<N>, const N: usize> ElementPreconditioner<Cuda<f64>>
    for Multigrid<'_, R, K, N>
{
    fn cycle(&self) -> Option<CycleKind> {
        Some(self.recorded.cycle.kind())
    }

    fn levels(&self) -> Vec<Level> {
        self.levels.clone()
    }

    fn take_steps(&mut self) -> Result<bool, BackendError> {
        self.recorded.take_steps()
    }

    fn structure_cost(&self) -> Option<usize> {
        self.hierarchy().follows().then_some(STRUCTURE_COST)
    }

    fn restructure(&mut self, _: &Cuda<f64>, void: &[u32]) -> Result<(), BackendError> {
        if !self.hierarchy().follows() {
            return Ok(());
        }
        self.recorded.forget();
        self.setup.forget();
        let Self { recorded: RecordedCycle { backend, cycle, .. }, levels, .. } = self;
        cycle.rebuild(backend, |hierarchy| {
            *levels = hierarchy.restructure(backend, void)?;
            Ok(())
        })
    }

    fn update(
        &mut self,
        _: &Cuda<f64>,
        _: &dyn ElementOperator<Cuda<f64>>,
        coefficients: &[&DeviceVector<f64>],
    ) -> Result<(), BackendError> {
        self.recorded.reset_strength();
        let Self { recorded: RecordedCycle { backend, cycle, .. }, setup, .. } = self;
        cycle.hierarchy_mut().set_coefficients(coefficients);
        setup.repeat(backend, &mut || cycle.update(backend, |hierarchy| hierarchy.update(backend)));
        backend.device().synchronize() // failures, and the time, are those of the setup
    }
}
