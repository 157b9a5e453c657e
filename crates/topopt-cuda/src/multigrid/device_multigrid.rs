//! A cycle over any hierarchy on the device, as a preconditioner that follows the coefficients.

use std::sync::{Mutex, MutexGuard, PoisonError};

use topopt_fem::{ElementOperator, ElementPreconditioner, Level};
use topopt_linalg::{Backend, BackendError, Cycle, CycleKind, Hierarchy, Preconditioner, Space};

use super::convert::Convert;
use super::shared_rows::Others;
use crate::Cuda;
use crate::replay::Replay;
use crate::vector::{DeviceVector, Real};

/// Iterations after whose loss a structure is made again. The host takes as long for it as some 500
/// take on a million elements; designs that need it gain for the rest of a run.
const STRUCTURE_COST: usize = 150;

/// A hierarchy on the device, as [`DeviceMultigrid`] needs it.
pub trait DeviceHierarchy<R: Real>: Hierarchy<Cuda<R>> {
    /// Takes coefficients of the elements, \[n_elements\] for each term, for the next update.
    fn set_coefficients(&mut self, coefficients: &[&DeviceVector<f64>]);

    /// Recomputes all numbers. Neither allocates nor waits, so that it can be recorded.
    fn update(&mut self, backend: &Cuda<R>);

    /// Whether its structure can follow designs.
    fn follows(&self) -> bool;

    /// Takes the structure around the elements `void`, and returns its levels; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it, or another rank has failed.
    fn restructure(&mut self, backend: &Cuda<R>, void: &[u32]) -> Result<Vec<Level>, BackendError>;
}

/// `multigrid`: a cycle over the hierarchy `H` in precision `R`, for conjugate gradients in double precision.
pub struct DeviceMultigrid<'a, R: Real, H: Hierarchy<Cuda<R>>> {
    backend: &'a Cuda<R>,
    cycle: Cycle<Cuda<R>, H>,
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

impl<'a, R: Real, H: DeviceHierarchy<R>> DeviceMultigrid<'a, R, H> {
    /// Over `hierarchy`, which has vectors of `space` on its finest level; needs an update before use.
    pub(super) fn over(
        backend: &'a Cuda<R>,
        kind: CycleKind,
        (hierarchy, levels): (H, Vec<Level>),
        space: Space,
        others: Option<&Others<R>>,
    ) -> Result<Self, BackendError> {
        Ok(Self {
            cycle: Cycle::new(backend, kind, hierarchy)?,
            levels,
            setup: Repeated::new(others),
            state: Mutex::new(State::new(backend, space, others)?),
            backend,
        })
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &H {
        self.cycle.hierarchy()
    }

    /// Hierarchy, mutable; call `update` afterwards.
    pub(super) fn hierarchy_mut(&mut self) -> &mut H {
        self.cycle.hierarchy_mut()
    }

    /// Steps and the smoothers' degrees are part of what is recorded, numbers are not.
    fn forget_recorded(&self) {
        self.state().once.forget();
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Real, H: DeviceHierarchy<R>> Preconditioner<Cuda<f64>> for DeviceMultigrid<'_, R, H> {
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

impl<R: Real, H: DeviceHierarchy<R>> ElementPreconditioner<Cuda<f64>>
    for DeviceMultigrid<'_, R, H>
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
