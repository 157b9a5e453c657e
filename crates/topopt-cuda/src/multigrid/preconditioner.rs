//! `multigrid`: a cycle over the hierarchy on the device, which follows the coefficients.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use topopt_fem::{
    DIM, Discretization, Elasticity, ElementOperator, ElementPreconditioner, Level, Sharing,
};
use topopt_linalg::{Backend, BackendError, Cycle, CycleKind, Hierarchy, Preconditioner, Space};

use super::convert::Convert;
use super::fine_patches::FinePatches;
use super::hierarchy::DeviceHierarchy;
use super::level::{Coarsened, LevelKernels};
use super::prepared::{Prepared, direct};
use super::shared_rows::Others;
use crate::Cuda;
use crate::operators::{Mf, ProblemOnDevice, Slots};
use crate::replay::Replay;
use crate::vector::{DeviceVector, Real};

/// Iterations after whose loss a structure is made again. The host takes as long for it as some 500
/// take on a million elements; designs that need it gain for the rest of a run.
const STRUCTURE_COST: usize = 150;

/// `multigrid`: a cycle in precision `R`, for conjugate gradients in double precision.
pub struct Multigrid<'a, R: Real, K: Coarsened<N> = Elasticity, const N: usize = DIM> {
    backend: &'a Cuda<R>,
    cycle: Cycle<Cuda<R>, DeviceHierarchy<'a, R, K, N>>,
    levels: Vec<Level>,
    /// An update.
    setup: Repeated,
    state: Mutex<State<R>>,
}

/// Work that is the same every time; once it has been recorded, if it can be.
struct Repeated {
    is_recorded: bool,
    recorded: Option<Replay>,
}

impl Repeated {
    /// Builds work that will be recorded, unless its exchange with `others` is no work of the device.
    fn new<R: Real>(others: Option<&Others<R>>) -> Self {
        let is_recorded = others.is_none_or(|others| others.is_recorded());
        Self { is_recorded, recorded: None }
    }

    /// Does it once more.
    fn repeat<R: Real>(&mut self, backend: &Cuda<R>, work: &mut dyn FnMut()) {
        match self.is_recorded {
            true => backend.repeat(&mut self.recorded, work),
            false => work(),
        }
    }

    /// Drops the recording, since the work changes.
    fn forget(&mut self) {
        self.recorded = None;
    }
}

/// Vectors and recording of an application, in precision `R`.
struct State<R> {
    convert: Convert<R>,
    residual: DeviceVector<R>,
    image: DeviceVector<R>,
    /// The cycle from one to the other, with the present strength.
    once: Repeated,
}

impl<R: Real> State<R> {
    fn new(
        backend: &Cuda<R>,
        space: Space,
        others: Option<&Others<R>>,
    ) -> Result<Self, BackendError> {
        let (residual, image) = (backend.zeros(space)?, backend.zeros(space)?);
        let (convert, once) = (Convert::load(backend.device())?, Repeated::new(others));
        Ok(Self { convert, residual, image, once })
    }

    /// z = one `cycle` for r.
    fn apply<H: Hierarchy<Cuda<R>>>(
        &mut self,
        backend: &Cuda<R>,
        cycle: &Cycle<Cuda<R>, H>,
        r: &DeviceVector<f64>,
        z: &mut DeviceVector<f64>,
    ) {
        let Self { convert, residual, image, once } = self;
        convert.narrow(&r.values, &mut residual.values);
        once.repeat(backend, &mut || cycle.apply(backend, residual, image));
        convert.widen(&image.values, &mut z.values);
    }
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
        Ok(Self {
            cycle: Cycle::new(backend, kind, hierarchy)?,
            levels: prepared.structure.levels(),
            setup: Repeated::new(others),
            state: Mutex::new(State::new(backend, problem.space(), others)?),
            backend,
        })
    }

    /// Allows the structure to be updated for designs of `problem`, for which it was made.
    #[must_use]
    pub fn following(mut self, problem: &'a Discretization<K, N>) -> Self {
        self.cycle.hierarchy_mut().follow(problem);
        self
    }

    /// Bytes that smoothing by patches takes beside [`Multigrid::bytes`].
    pub fn patch_bytes(n_nodes: usize, n_elements: usize) -> usize {
        FinePatches::<R>::bytes(n_nodes, n_elements, N)
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
        self.cycle.hierarchy()
    }

    /// Steps and the smoothers' degrees are part of what is recorded, numbers are not.
    fn forget_recorded(&self) {
        self.state().once.forget();
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Real, K: Coarsened<N>, const N: usize> Preconditioner<Cuda<f64>>
    for Multigrid<'_, R, K, N>
{
    fn name(&self) -> &'static str {
        self.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.cycle.is_linear()
    }

    fn check_interval(&self, _: &Cuda<f64>) -> usize {
        self.cycle.check_interval(self.backend)
    }

    fn apply(&self, _: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
        self.state().apply(self.backend, &self.cycle, r, z);
    }

    fn strengthen(&self) -> bool {
        let stronger = self.cycle.strengthen();
        if stronger {
            self.forget_recorded();
        }
        stronger
    }

    fn give_way(&self) -> bool {
        let gives_way = self.cycle.give_way();
        if gives_way {
            self.forget_recorded();
        }
        gives_way
    }
}

impl<R: Real, K: Coarsened<N>, const N: usize> ElementPreconditioner<Cuda<f64>>
    for Multigrid<'_, R, K, N>
{
    fn cycle(&self) -> Option<CycleKind> {
        Some(self.cycle.kind())
    }

    fn levels(&self) -> Vec<Level> {
        self.levels.clone()
    }

    fn structure_cost(&self) -> Option<usize> {
        self.hierarchy().follows().then_some(STRUCTURE_COST)
    }

    fn restructure(&mut self, _: &Cuda<f64>, void: &[u32]) -> Result<(), BackendError> {
        if !self.hierarchy().follows() {
            return Ok(());
        }
        self.forget_recorded();
        self.setup.forget();
        let Self { backend, cycle, levels, .. } = self;
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
        if self.cycle.reset_strength() {
            self.forget_recorded();
        }
        let Self { backend, cycle, setup, .. } = self;
        cycle.hierarchy_mut().set_coefficients(coefficients);
        setup.repeat(backend, &mut || cycle.update(backend, |hierarchy| hierarchy.update(backend)));
        backend.device().synchronize() // failures, and the time, are those of the setup
    }
}
