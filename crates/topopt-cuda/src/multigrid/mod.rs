//! Preconditioners by blocks: `multigrid`, and `block-jacobi`, which smooths its finest level.
//!
//! The structure is that of `topopt-fem`, made on the host once; all numbers are made on the device
//! whenever the moduli change, in double precision, and rounded to the precision of the cycle.

mod block_diagonal;
mod coarse_matrix;
mod convert;
mod dense_inverse;
mod fine_patches;
mod galerkin;
mod hierarchy;
mod prepared;
mod scalar;
mod scalar_hierarchy;
mod scalar_matrix;
mod shared_rows;
mod transfer;

use std::sync::{Arc, Mutex};

use topopt_fem::{DIM, Discretization, ElementOperator, ElementPreconditioner, Level, Sharing};
use topopt_linalg::{Backend, BackendError, Cycle, CycleKind, Hierarchy, Preconditioner, Space};

pub use block_diagonal::BlockJacobi;
pub use hierarchy::RigidAggregation;
pub use prepared::{Prepared, structure_of_part};
pub use scalar::ScalarMultigrid;

use crate::Cuda;
use crate::operators::{ProblemOnDevice, Slots};
use crate::replay::Replay;
use crate::vector::{DeviceVector, Real};
use convert::Convert;
use fine_patches::FinePatches;
use prepared::{direct, structure};
use shared_rows::Others;

/// Iterations after whose loss a structure is made again. The host takes as long for it as some 500
/// take on a million elements; designs that need it gain for the rest of a run.
const STRUCTURE_COST: usize = 150;

/// `multigrid`: a cycle over rigid-body aggregation in precision `R`, for conjugate gradients
/// in double precision.
pub struct Multigrid<'a, R: Real> {
    problem: &'a Discretization,
    backend: Cuda<R>,
    cycle: Cycle<Cuda<R>, RigidAggregation<'a, R>>,
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
    /// What crosses to `others` may be no work of the device.
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

    /// It is not the same from now on.
    fn forget(&mut self) {
        self.recorded = None;
    }
}

/// What an application works on, in precision `R`.
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

impl<'a, R: Real> Multigrid<'a, R> {
    /// Of what was `prepared` for `problem`, of which `on_device` was made, with cycles of that kind; needs
    /// an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
        kind: CycleKind,
        prepared: &Prepared,
    ) -> Result<Self, BackendError> {
        Self::among(on_device, problem, kind, prepared, None)
    }

    /// As [`Multigrid::new`], for `problem` on a part: with the other ranks, all of which have the levels
    /// below the finest. Its vectors hold the values of ghosts, see [`Sharing`](topopt_fem::Sharing).
    ///
    /// # Errors
    /// As [`Multigrid::new`].
    pub fn on_part(
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
        kind: CycleKind,
        prepared: &Prepared,
        others: Arc<dyn Sharing<Cuda<R>> + 'a>,
    ) -> Result<Self, BackendError> {
        Self::among(on_device, problem, kind, prepared, Some(&others))
    }

    fn among(
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
        kind: CycleKind,
        prepared: &Prepared,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let backend = Cuda::<R>::new(&on_device.device)?;
        let hierarchy = RigidAggregation::new(&backend, on_device, problem, prepared, others)?;
        Ok(Self {
            problem,
            cycle: Cycle::new(&backend, kind, hierarchy)?,
            levels: prepared.structure.levels(),
            setup: Repeated::new(others),
            state: Mutex::new(State::new(&backend, on_device.space(), others)?),
            backend,
        })
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &RigidAggregation<'a, R> {
        self.cycle.hierarchy()
    }

    /// Steps and the smoothers' degrees are part of what is recorded, numbers are not.
    fn forget_recorded(&self) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.once.forget();
    }

    /// Bytes that smoothing by patches takes beside [`Multigrid::bytes`].
    pub fn patch_bytes(n_nodes: usize, n_elements: usize) -> usize {
        FinePatches::<R>::bytes(n_nodes, n_elements, DIM)
    }

    /// Bytes on the device, for a mesh of that size whose aggregates have some 27 nodes and as many
    /// neighbors; elements by color have slots.
    pub fn bytes(n_nodes: usize, n_elements: usize, by_color: bool) -> usize {
        let slots = if by_color { Slots::<R>::bytes(n_nodes, n_elements, DIM) } else { 0 };
        let real = size_of::<R>();
        // A node: seven work vectors, six numbers of its diagonal block, its aggregate; a block of
        // the first coarse matrix with its column, row, joint and half a pair; and its share of the
        // ground, the diagonal and its inverse. The levels below and their vectors are a tenth.
        let node = 27 * real + 8 + 40 * real + 8 + 6 + 36 * (2 * real + 8) / 27;
        // An element: its modulus, bound and their product, and 2.8 joints. The dense inverse is a square.
        node * n_nodes * 11 / 10
            + (3 * real + 12) * n_elements
            + 8 * direct(3 * n_nodes).pow(2)
            + slots
    }
}

impl<R: Real> Preconditioner<Cuda<f64>> for Multigrid<'_, R> {
    fn name(&self) -> &'static str {
        self.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.cycle.is_linear()
    }

    fn check_interval(&self, _: &Cuda<f64>) -> usize {
        self.cycle.check_interval(&self.backend)
    }

    fn apply(&self, _: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.apply(&self.backend, &self.cycle, r, z);
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

impl<R: Real> ElementPreconditioner<Cuda<f64>> for Multigrid<'_, R> {
    fn cycle(&self) -> Option<CycleKind> {
        Some(self.cycle.kind())
    }

    fn levels(&self) -> Vec<Level> {
        self.levels.clone()
    }

    fn structure_cost(&self) -> Option<usize> {
        Some(STRUCTURE_COST)
    }

    fn restructure(&mut self, _: &Cuda<f64>, void: &[u32]) -> Result<(), BackendError> {
        let problem = self.problem;
        let structure = structure(problem, void, self.hierarchy().others().map(AsRef::as_ref))?;
        self.levels = structure.levels();
        self.forget_recorded();
        self.setup.forget();
        let backend = &self.backend;
        self.cycle.rebuild(backend, |hierarchy| hierarchy.restructure(backend, problem, &structure))
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
        cycle.hierarchy_mut().set_moduli(coefficients[0]);
        setup.repeat(backend, &mut || cycle.update(backend, |hierarchy| hierarchy.update(backend)));
        backend.device().synchronize() // failures, and the time, are those of the setup
    }
}
