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
mod scalar_matrix;
mod transfer;

use std::sync::{Arc, Mutex};

use topopt_fem::{Aggregation, DIM, ElementOperator, ElementPreconditioner, Level, Problem};
use topopt_linalg::{Backend, BackendError, Cycle, CycleKind, Hierarchy, Preconditioner, Space};

pub use block_diagonal::BlockJacobi;
pub use hierarchy::RigidAggregation;
pub use prepared::Prepared;
pub use scalar::ScalarMultigrid;

use crate::Cuda;
use crate::operators::{ProblemOnDevice, Slots};
use crate::replay::Replay;
use crate::vector::{DeviceVector, Real};
use convert::Convert;
use fine_patches::FinePatches;
use prepared::direct;

/// Iterations after whose loss a structure is made again. The host takes as long for it as some 500
/// take on a million elements; designs that need it gain for the rest of a run.
const STRUCTURE_COST: usize = 150;

/// `multigrid`: a cycle over rigid-body aggregation in precision `R`, for conjugate gradients
/// in double precision.
pub struct Multigrid<'a, R: Real> {
    problem: &'a Problem,
    backend: Cuda<R>,
    cycle: Cycle<Cuda<R>, RigidAggregation<R>>,
    levels: Vec<Level>,
    /// An update, once it has been recorded.
    setup: Option<Replay>,
    state: Mutex<State<R>>,
}

/// What an application works on, in precision `R`.
struct State<R> {
    convert: Convert<R>,
    residual: DeviceVector<R>,
    image: DeviceVector<R>,
    /// The cycle from one to the other, once it has been recorded with the present strength.
    recorded: Option<Replay>,
}

impl<R: Real> State<R> {
    fn new(backend: &Cuda<R>, space: Space) -> Result<Self, BackendError> {
        let (residual, image) = (backend.zeros(space)?, backend.zeros(space)?);
        Ok(Self { convert: Convert::load(backend.device())?, residual, image, recorded: None })
    }

    /// z = one `cycle` for r.
    fn apply<H: Hierarchy<Cuda<R>>>(
        &mut self,
        backend: &Cuda<R>,
        cycle: &Cycle<Cuda<R>, H>,
        r: &DeviceVector<f64>,
        z: &mut DeviceVector<f64>,
    ) {
        let Self { convert, residual, image, recorded } = self;
        convert.narrow(&r.values, &mut residual.values);
        backend.repeat(recorded, &mut || cycle.apply(backend, residual, image));
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
        problem: &'a Problem,
        kind: CycleKind,
        prepared: &Prepared,
    ) -> Result<Self, BackendError> {
        let backend = Cuda::<R>::new(&on_device.device)?;
        let hierarchy = RigidAggregation::new(&backend, on_device, problem, prepared)?;
        Ok(Self {
            problem,
            cycle: Cycle::new(&backend, kind, hierarchy)?,
            levels: prepared.structure.levels(),
            setup: None,
            state: Mutex::new(State::new(&backend, on_device.space())?),
            backend,
        })
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &RigidAggregation<R> {
        self.cycle.hierarchy()
    }

    /// Steps and the smoothers' degrees are part of what is recorded, numbers are not.
    fn forget_recorded(&self) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.recorded = None;
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
        let structure = Aggregation::around(problem, void, direct(problem.n_dofs()));
        self.levels = structure.levels();
        self.forget_recorded();
        self.setup = None;
        self.cycle.rebuild(&self.backend, |hierarchy| hierarchy.restructure(problem, &structure))
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
        backend.repeat(setup, &mut || cycle.update(backend, |hierarchy| hierarchy.update(backend)));
        backend.device().synchronize() // failures, and the time, are those of the setup
    }
}
