//! `Computer`: builds operators, preconditioners and filters on one backend.

mod cpu;
mod elastic;
#[cfg(feature = "cuda")]
mod gpu;
mod heat;
#[cfg(not(feature = "cuda"))]
mod no_gpu;
mod of_part;
mod parts;
mod ranks;
mod solvable;

use topopt_case::config::{self, Config};
use topopt_case::filter_plan::Weights;
use topopt_case::finding::{Finding, InputError};
use topopt_case::subject::Subject;
use topopt_design::NeighborStorage;
use topopt_distance::{Arrival, DistanceError, Speed, Tetrahedra};
use topopt_fem::{Averaging, CornerMaps, Discretization, ElementOperator, Problem};
use topopt_linalg::{Alone, BackendError, Communicator, CycleKind, MovingAsymptotes, SmootherKind};

use crate::failure::Failure;
pub use cpu::OnCpu;
#[cfg(feature = "cuda")]
pub use gpu::{Gpu, Group, problem_on_device};
#[cfg(not(feature = "cuda"))]
pub use no_gpu::{Gpu, Group};
pub use of_part::OfPart;
pub(crate) use of_part::OnEachRank;
pub use parts::{EachOperator, Needs, Solver};
pub use ranks::OnRanks;
pub use solvable::Solvable;

/// How a filter finds the neighbors of an element.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Neighbors {
    /// Mean number of neighbors.
    pub mean: f64,
    /// Whether they are stored, in place of being found again in each application.
    pub stored: bool,
}

impl Neighbors {
    fn new(mean: f64, storage: NeighborStorage) -> Self {
        Self { mean, stored: storage == NeighborStorage::Stored }
    }
}

/// The weighted sum over neighbors that a filter is made of, and what there is to say of it.
pub type BuiltWeights<'a, B> = (Box<dyn Averaging<B> + 'a>, Option<Neighbors>);

/// Makes the parts of a study in one place, on one backend.
pub trait Computer: Sync {
    /// Backend that holds the vectors.
    type Backend: MovingAsymptotes + Sync;
    /// Strategy for `auto` in an analysis: `auto` itself where that measures nothing, as one solve
    /// is not worth it.
    const UNMEASURED: config::Strategy;

    /// Returns the backend that holds the vectors.
    fn backend(&self) -> &Self::Backend;

    /// The ranks of this computation; the first one writes the results.
    fn communicator(&self) -> &dyn Communicator {
        &Alone
    }

    /// Names of the strategies that compute `model` here.
    fn strategies<K: Solvable<N>, const N: usize>(
        &self,
        subject: Subject<K, N>,
    ) -> Vec<&'static str>;

    /// Returns the strategy of a run of `subject` and the memory that each strategy needs.
    ///
    /// # Errors
    /// A strategy that is not here; a processor without the memory.
    fn needs<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
    ) -> Result<Needs, Failure>;

    /// Operator, by the strategy that is `wanted`, and preconditioner of the equation of `subject`
    /// that is solved, for moduli down to `contrast` times the largest.
    ///
    /// # Errors
    /// An input failure, with numbers, if memory is too small or the strategy does not compute the
    /// model here; a device that fails.
    fn solver<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        config: &Config,
        subject: Subject<'a, K, N>,
        wanted: config::Strategy,
        contrast: f64,
    ) -> Result<Solver<'a, Self::Backend>, Failure>;

    /// The operator of `problem`, which is of a model, by the strategy that stores least; `colors`
    /// are the numbers of elements of each color, where elements come by color.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn matrix_free<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        problem: &'a Discretization<K, N>,
        colors: Option<&[usize]>,
    ) -> Result<Box<dyn ElementOperator<Self::Backend> + 'a>, BackendError>;

    /// The filter weights `plan` with the given radius for the problem of `model`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for them.
    fn weights<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        plan: &Weights,
        subject: Subject<'a, K, N>,
        radius: f64,
    ) -> Result<BuiltWeights<'a, Self::Backend>, BackendError>;

    /// Maps between elements and corners of the mesh of `subject`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for them, or does not compute them.
    fn corners<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        subject: Subject<'a, K, N>,
    ) -> Result<Box<dyn CornerMaps<Self::Backend> + 'a>, BackendError>;

    /// Builds the operators of `problem` whose names are `wanted`, one after the other, and shows
    /// each to `visitor`; those that do not fit into the memory or do not compute it are left out.
    /// `colors` are the numbers of elements of each color, where elements come by color.
    ///
    /// # Errors
    /// What `visitor` returns, and a device that fails.
    fn each_operator<K: Solvable<N>, const N: usize>(
        &self,
        problem: &Problem<K, N>,
        colors: Option<&[usize]>,
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Self::Backend>,
    ) -> Result<(), BackendError>;

    /// When a front from `sources`, vertices and their values, arrives at those of `tetrahedra`,
    /// where that is not after `end`.
    ///
    /// # Errors
    /// Tetrahedra, speeds or sources that are refused; a device that fails.
    fn arrival(
        &self,
        tetrahedra: Tetrahedra,
        speed: &Speed,
        sources: &[(u32, f64)],
        end: f64,
    ) -> Result<Arrival, Failure>;

    /// Seconds that `work` takes on the backend.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64, BackendError>;
}

/// Name of a group of ranks with a GPU each, made by the first of them.
pub(crate) type GroupName = [u8; 128];

/// Work that runs on any computer.
pub trait Visitor {
    /// Result of the visit.
    type Output;

    /// Runs the work on `computer`.
    ///
    /// # Errors
    /// Those of the work.
    fn visit<C: Computer>(self, computer: &C) -> Result<Self::Output, Failure>;
}

fn cycle(solver: &config::Solver, are_tetrahedra: bool) -> CycleKind {
    match solver.cycle {
        config::Cycle::Auto if are_tetrahedra => CycleKind::V,
        config::Cycle::Auto => CycleKind::K,
        config::Cycle::V => CycleKind::V,
        config::Cycle::W => CycleKind::W,
        config::Cycle::K => CycleKind::K,
    }
}

/// The smoother of multigrid.
pub(crate) fn smoother(solver: &config::Solver) -> SmootherKind {
    match solver.smoother {
        config::Smoother::Chebyshev => SmootherKind::Chebyshev,
        config::Smoother::Patch => SmootherKind::Patch,
    }
}

/// Converts an input error of a front to a failure.
pub(crate) fn refused(error: DistanceError) -> Failure {
    InputError::from(Finding::new(error.to_string())).into()
}
